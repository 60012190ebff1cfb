// packcheck laws | subjects | encodings: what there is.
#include <cstdio>

#include "cli/commands.h"
#include "cli/open_subject.h"
#include "core/encoding/encoding.h"
#include "properties/law.h"
#include "properties/strict_json.h"
#include "subjects/reference/twins.h"
#include "subjects/third_party/names.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

json laws_json() {
  json list = json::array();
  for (const Law& law : all_laws()) {
    json needs = json::array();
    for (const Operation operation : law.needs) needs.push_back(operation_name(operation));
    list.push_back(
        {{"id", law.id}, {"sentence", law.sentence}, {"needs", needs}, {"case_type", law.case_type->name()}});
  }
  return list;
}

json subject_json(const std::string& spec, std::string_view summary) {
  const Result<std::unique_ptr<Subject>> subject = open_subject(spec, {});
  json row{{"subject", spec},
           {"summary", summary},
           {"version", nullptr},
           {"absent", nullptr},
           {"declarations", json::array()}};
  if (!subject) {
    row["absent"] = subject.error().text();
    return row;
  }
  row["version"] = (*subject)->info().version;
  for (const Declaration& d : (*subject)->info().declarations) row["declarations"].push_back(d.text());
  return row;
}

json subjects_json() {
  json list = json::array({subject_json("reference", "the reference core")});
  for (const Twin& twin : all_twins()) list.push_back(subject_json("twin:" + std::string(twin.name), twin.bug));
  for (const ThirdPartySubject& s : kThirdPartySubjects) list.push_back(subject_json(std::string(s.name), s.summary));
  return list;
}

json scales_json(const Encoding& e) {
  json scales = json::array();
  for (const ScaleField& field : e.scales)
    scales.push_back({{"format", scale_format_name(field.format)}, {"offset", field.offset}, {"bytes", field.bytes}});
  return scales;
}

/// "f16 at 0, packed 6-bit at 4 (12 bytes)"
std::string scales_text(const json& scales) {
  std::string text;
  for (const json& scale : scales) {
    text += (text.empty() ? "" : ", ") + scale["format"].get<std::string>() + " at " + scale["offset"].dump();
    if (scale["bytes"].get<int>() > 4 || scale["format"] == "ue4m3") text += " (" + scale["bytes"].dump() + " bytes)";
  }
  return text;
}

json encodings_json() {
  json list = json::array();
  for (const Encoding& e : all_encodings())
    list.push_back({{"encoding", e.id()},
                    {"block_size", e.block_size},
                    {"block_bytes", e.block_bytes},
                    {"bits_per_number", 8.0 * static_cast<double>(e.block_bytes) / static_cast<double>(e.block_size)},
                    {"scales", scales_json(e)},
                    {"quantizes", e.quantizes}});
  return list;
}

void print_rows(const ListOptions& options, const json& list) {
  for (const json& row : list) {
    if (options.what == "laws")
      std::printf("%s\n    %s\n", row["id"].get<std::string>().c_str(), row["sentence"].get<std::string>().c_str());
    if (options.what == "subjects")
      std::printf("%-30s %s%s\n", row["subject"].get<std::string>().c_str(), row["summary"].get<std::string>().c_str(),
                  row["absent"].is_null() ? "" : " (absent)");
    if (options.what == "encodings")
      std::printf("%-14s %3d numbers in %3d bytes, %.4g bits each; scales: %s%s\n",
                  row["encoding"].get<std::string>().c_str(), row["block_size"].get<int>(),
                  row["block_bytes"].get<int>(), row["bits_per_number"].get<double>(),
                  scales_text(row["scales"]).c_str(), row["quantizes"].get<bool>() ? "" : "; dequantize only");
  }
}

}  // namespace

int run_list(const ListOptions& options) {
  const json list = options.what == "laws"       ? laws_json()
                    : options.what == "subjects" ? subjects_json()
                                                 : encodings_json();
  if (options.json)
    std::printf("%s\n", list.dump(2).c_str());
  else
    print_rows(options, list);
  return kHolds;
}

}  // namespace packcheck
