// A verify result as report.json: what programs read, and what `report merge` puts together.
#include "cli/open_subject.h"
#include "cli/packed_losses.h"
#include "cli/report.h"
#include "cli/report_conversions.h"
#include "properties/corpus_store.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

json tallies_json(const LawResult& law) {
  json engines = json::object();
  for (std::size_t i = 0; i < kEngineCount; ++i)
    engines[std::string(engine_name(static_cast<Engine>(i)))] = {{"cases", law.tallies[i].cases},
                                                                 {"checked", law.tallies[i].checked},
                                                                 {"not_applicable", law.tallies[i].not_applicable}};
  return engines;
}

/// How many of the property engine's cases had what they should have now and then.
json classes_json(const LawResult& law) {
  json classes = json::object();
  for (const CaseClass& c : law.classes) classes[c.name] = {{"cases", c.drawn}, {"with", c.occurred}};
  return classes;
}

json losses_json(const VerifyResult& result) {
  json losses = json::array();
  const auto rows = packed_losses(result);
  for (std::size_t r = 1; r < rows.size(); ++r)
    losses.push_back({{"subject", rows[r][0]},
                      {"value", rows[r][1]},
                      {"text", rows[r][2]},
                      {"read_as", rows[r][3]},
                      {"law", rows[r][4]}});
  return losses;
}

/// A letter a cell, in the order of `encodings`.
json conversions_json(const VerifyResult& result) {
  constexpr std::string_view kLetters = "=e~.";
  const ConversionTable& table = conversion_table();
  json object;
  for (const StorageEncoding& encoding : table.encodings) object["encodings"].push_back(encoding.id());
  for (const auto& row : table.cells) {
    std::string letters;
    for (const ConversionCell& cell : row) letters += kLetters[static_cast<std::size_t>(cell.conversion)];
    object["targets_of"].push_back(letters);
  }
  for (const Conversion c :
       {Conversion::lossless, Conversion::lossless_if_kept, Conversion::lossy, Conversion::refused})
    object["letters"][std::string(1, kLetters[static_cast<std::size_t>(c)])] = conversion_name(c);
  for (const ProvingLaw& law : proving_laws(result)) object["laws"][law.law] = law.said;
  return object;
}

json verdicts_json(const SubjectResult& subject, const LawResult& law, std::uint64_t seed) {
  json rows = json::array();
  json row{{"law", law.law},
           {"subject", subject.name},
           {"verdict", ruling_name(law.ruling)},
           {"cases", 0},
           {"seed", seed},
           {"variants", law.variants},
           {"reason", law.reason},
           {"bad_test", law.bad_test},
           {"drawn", classes_json(law)},
           {"engines", tallies_json(law)}};
  std::uint64_t cases = 0;
  for (const Tally& tally : law.tallies) cases += tally.cases;
  row["cases"] = cases;
  if (law.findings.empty()) rows.push_back(row);
  for (const Finding& f : law.findings) {
    json with = row;
    with["engine"] = engine_name(f.engine);
    with["place"] = f.breach.place;
    with["signature"] = f.signature();
    with["input"] = f.breach.input;
    with["expected"] = f.breach.expected;
    with["actual"] = f.breach.actual;
    with["why"] = f.breach.why;
    with["case_file"] = "findings/" + file_name_of(f.signature(), case_file_of(subject.spec, f));
    with["reproduce"] = reproduce_command(subject.spec, f);
    with["depends_on_earlier_calls"] = !f.search.empty();
    rows.push_back(with);
  }
  return rows;
}

}  // namespace

std::string report_json(const VerifyResult& result) {
  json subjects = json::array();
  json verdicts = json::array();
  for (const SubjectResult& subject : result.subjects) {
    subjects.push_back({{"spec", subject.spec},
                        {"name", subject.name},
                        {"version", subject.version},
                        {"absent", subject.absent},
                        {"unexpected", subject.unexpected}});
    for (const LawResult& law : subject.laws)
      for (json& row : verdicts_json(subject, law, result.seed)) verdicts.push_back(std::move(row));
  }
  json report{{"packcheck_report", 1},
              {"version", result.version},
              {"profile", result.profile},
              {"seed", result.seed},
              {"digest", digest_of(result)},
              {"good", result.good()},
              {"findings", result.finding_count()},
              {"subjects", subjects},
              {"packed_losses", losses_json(result)},
              {"verdicts", verdicts}};
  if (has_storage_laws(result)) report["conversions"] = conversions_json(result);
  return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace packcheck
