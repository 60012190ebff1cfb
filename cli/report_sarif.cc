// The report as SARIF 2.1.0, which code hosts show beside a change.
#include <algorithm>

#include "cli/report.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

json rules_json() {
  json rules = json::array();
  for (const Law& law : all_laws()) rules.push_back({{"id", law.id}, {"shortDescription", {{"text", law.sentence}}}});
  return rules;
}

json result_json(const SubjectResult& subject, const Finding& f, bool expected) {
  const std::string text = subject.spec + " breaks " + f.signature() + ": for " + f.breach.input + " expected " +
                           f.breach.expected + ", got " + f.breach.actual + ". " + f.breach.why +
                           " Reproduce: " + reproduce_command(subject.spec, f);
  // A finding has no source line: the subject stands for the place.
  const json location{
      {"logicalLocations", json::array({json{{"fullyQualifiedName", subject.spec + "/" + f.breach.place}}})}};
  return {{"ruleId", f.law},
          {"level", expected ? "note" : "error"},
          {"message", {{"text", text}}},
          {"locations", json::array({location})},
          {"partialFingerprints", {{"signature/v1", subject.name + " " + f.signature()}}}};
}

}  // namespace

std::string report_sarif(const VerifyResult& result) {
  json results = json::array();
  for (const SubjectResult& subject : result.subjects)
    for (const LawResult& law : subject.laws)
      for (const Finding& f : law.findings) results.push_back(result_json(subject, f, is_expected(result, subject, f)));
  const json driver{{"name", "packcheck"}, {"version", result.version}, {"rules", rules_json()}};
  const json report{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", json::array({json{{"tool", {{"driver", driver}}}, {"results", results}}})}};
  return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace packcheck
