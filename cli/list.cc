// packcheck laws | subjects | formats | encodings | layouts: what there is.
#include <cstdio>

#include "cli/commands.h"
#include "cli/open_subject.h"
#include "core/encoding/encoding.h"
#include "core/format/convert.h"
#include "core/params/analysis.h"
#include "core/text/number_text.h"
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
  return text.empty() ? "none" : text;
}

json planes_json(const Encoding& e) {
  json planes = json::array();
  for (const std::size_t plane : e.planes)
    if (plane != 0) planes.push_back(plane);
  return planes;
}

/// "; planes of 16, 2 bytes a block; blocks within a row": what a flat run of blocks does not have.
std::string arrangement_text(const json& row) {
  std::string text;
  for (const json& plane : row["planes"]) text += (text.empty() ? "; planes of " : ", ") + plane.dump();
  if (!text.empty()) text += " bytes a block";
  if (row["blocking"] == "row") text += "; blocks within a row";
  if (row["blocking"] == "tensor") text += "; one block is a whole tensor";
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
                    {"blocking", blocking_name(e.blocking)},
                    {"planes", planes_json(e)},
                    {"quantizes", e.quantizes}});
  return list;
}

std::string_view overflow_name(Overflow overflow) {
  if (overflow == Overflow::infinity) return "infinity";
  return overflow == Overflow::nan ? "nan" : "largest";
}

/// All codes that are NaN, as "0x7f, 0xff" or "0x7c01 to 0x7fff, 0xfc01 to 0xffff".
std::string nan_codes(const FormatSpec& s) {
  const auto hex = [&s](std::uint64_t bits) { return hex_of(bits, s.width()); };
  const std::string comma = ", ";
  if (s.nan_codes == NanCodes::none) return "none";
  if (s.nan_codes == NanCodes::negative_zero) return hex(s.sign_bit());
  if (s.nan_codes == NanCodes::all_ones)
    return hex(s.magnitude_mask()) + (s.is_signed ? comma + hex(s.all_bits()) : "");
  return hex(s.infinity() + 1) + " to " + hex(s.magnitude_mask()) + comma + hex(s.sign_bit() | (s.infinity() + 1)) +
         " to " + hex(s.all_bits());
}

/// What the limits of an integer say; it has no fields.
json integer_json(const FormatSpec& s) {
  const auto largest = static_cast<std::int64_t>(s.largest_finite());
  return {{"format", s.name},
          {"kind", "integer"},
          {"width", s.width()},
          {"element_bytes", s.bytes()},
          {"largest", {{"bits", hex_of(s.largest_finite(), s.width())}, {"number", std::to_string(largest)}}},
          {"smallest", {{"bits", hex_of(s.sign_bit(), s.width())}, {"number", std::to_string(-largest - 1)}}}};
}

json formats_json() {
  json list = json::array();
  for (const FormatSpec& s : all_formats()) {
    const auto number = [&s](std::uint64_t bits) {
      return json{{"bits", hex_of(bits, s.width())},
                  {"number", print_number(convert(s.format, Format::f64, bits)).value_or("")}};
    };
    if (s.is_integer()) {
      list.push_back(integer_json(s));
      continue;
    }
    list.push_back({{"format", s.name},
                    {"kind", "floating"},
                    {"width", s.width()},
                    {"element_bytes", s.bytes()},
                    {"sign_bits", s.is_signed ? 1 : 0},
                    {"exponent_bits", s.exponent_bits},
                    {"significand_bits", s.significand_bits},
                    {"bias", s.bias()},
                    {"largest", number(s.largest_finite())},
                    {"smallest_normal", number(s.has_zero() ? s.significand_mask() + 1 : 0)},
                    {"smallest_subnormal", s.has_zero() ? number(1) : json()},
                    {"negative_zero", s.has_negative_zero()},
                    {"infinities", s.infinities},
                    {"nan_codes", nan_codes(s)},
                    {"overflow", overflow_name(s.overflow)}});
  }
  return list;
}

std::string format_row(const json& row) {
  const auto text = [](const json& number) {
    return number.is_null() ? std::string("none") : number["number"].get<std::string>();
  };
  std::string line = row["format"].get<std::string>();
  line.resize(12, ' ');
  if (row["kind"] == "integer")
    return line + std::to_string(row["width"].get<int>()) + " bits: two's complement, " + text(row["smallest"]) +
           " to " + text(row["largest"]) + "\n    past them and NaN: integer=saturate, wrap, refuse or indefinite";
  line += std::to_string(row["width"].get<int>()) + " bits: " + (row["sign_bits"] == 1 ? "sign, " : "no sign, ") +
          std::to_string(row["exponent_bits"].get<int>()) + " exponent, " +
          std::to_string(row["significand_bits"].get<int>()) + " significand; bias " +
          std::to_string(row["bias"].get<int>()) + (row["negative_zero"] == true ? "" : "; no -0") + "\n    largest " +
          text(row["largest"]) + ", smallest normal " + text(row["smallest_normal"]) + ", smallest subnormal " +
          text(row["smallest_subnormal"]) + "\n    infinities: " + (row["infinities"] == true ? "yes" : "no") +
          "; NaN: " + row["nan_codes"].get<std::string>() + "; overflow gives ";
  return line + (row["overflow"] == "nan" ? "NaN" : row["overflow"] == "infinity" ? "infinity" : "the largest");
}

json word_json(const WordSpan& span) {
  json classes = json::object();
  for (std::size_t c = 0; c < kDoubleClasses; ++c)
    if (span.smallest[c])
      classes[std::string(double_class_name(static_cast<DoubleClass>(c)))] = hex_of(*span.smallest[c], 64);
  return {{"plain", span.plain},
          {"gaps", hex_of(span.gaps, 64)},
          {"overlapping", hex_of(span.overlapping, 64)},
          {"can_be_negative", span.can_be_negative},
          {"smallest", classes}};
}

json layouts_json() {
  json list = json::array();
  for (const Layout& layout : all_layouts()) {
    const std::array<WordSpan, kPackedWords> spans = analyse(layout);
    json fields = json::array();
    for (const Field& f : layout.fields)
      fields.push_back({{"field", f.name},
                        {"word", f.word == 0 ? "scalar" : "param2"},
                        {"plain", f.plain()},
                        {"shift", f.shift},
                        {"width", f.width},
                        {"range", f.range()},
                        {"runs_at_zero", f.runs_at_zero}});
    list.push_back({{"layout", layout.id()},
                    {"fields", fields},
                    {"scalar", word_json(spans[0])},
                    {"param2", word_json(spans[1])}});
  }
  return list;
}

/// "scalar: zero, subnormal, normal from 0x0010000000000000; infinity and NaN are refused"
std::string word_text(const std::string& name, const json& word) {
  std::string text = "\n    " + name + " can be ";
  bool first = true;
  for (const auto& [c, bits] : word["smallest"].items()) {
    const bool refused = (c == "infinity" || c == "NaN") && !word["plain"].get<bool>();
    text += (first ? "" : ", ") + c +
            (refused         ? " (refused)"
             : c == "normal" ? " from " + bits.get<std::string>()
                             : "");
    first = false;
  }
  if (word["can_be_negative"].get<bool>()) text += ", of either sign";
  if (!word["plain"].get<bool>()) text += "; in no field: " + word["gaps"].get<std::string>();
  return text;
}

std::string layout_row(const json& row) {
  std::string line = row["layout"].get<std::string>();
  for (const json& f : row["fields"]) {
    line += "\n    " + f["field"].get<std::string>() + ": " + f["word"].get<std::string>();
    if (!f["plain"].get<bool>())
      line += " bits " + f["shift"].dump() + ".." + std::to_string(f["shift"].get<int>() + f["width"].get<int>() - 1);
    line += ", " + f["range"].get<std::string>();
  }
  return line + word_text("scalar", row["scalar"]) + word_text("param2", row["param2"]);
}

void print_rows(const ListOptions& options, const json& list) {
  for (const json& row : list) {
    if (options.what == "laws")
      std::printf("%s\n    %s\n", row["id"].get<std::string>().c_str(), row["sentence"].get<std::string>().c_str());
    if (options.what == "subjects")
      std::printf("%-30s %s%s\n", row["subject"].get<std::string>().c_str(), row["summary"].get<std::string>().c_str(),
                  row["absent"].is_null() ? "" : " (absent)");
    if (options.what == "formats") std::printf("%s\n", format_row(row).c_str());
    if (options.what == "layouts") std::printf("%s\n", layout_row(row).c_str());
    if (options.what == "encodings")
      std::printf("%-28s %3d numbers in %3d bytes, %.4g bits each; scales: %s%s%s\n",
                  row["encoding"].get<std::string>().c_str(), row["block_size"].get<int>(),
                  row["block_bytes"].get<int>(), row["bits_per_number"].get<double>(),
                  scales_text(row["scales"]).c_str(), arrangement_text(row).c_str(),
                  row["quantizes"].get<bool>() ? "" : "; dequantize only");
  }
}

}  // namespace

int run_list(const ListOptions& options) {
  const json list = options.what == "laws"       ? laws_json()
                    : options.what == "subjects" ? subjects_json()
                    : options.what == "formats"  ? formats_json()
                    : options.what == "layouts"  ? layouts_json()
                                                 : encodings_json();
  if (options.json)
    std::printf("%s\n", list.dump(2).c_str());
  else
    print_rows(options, list);
  return kHolds;
}

}  // namespace packcheck
