#include "cli/results.h"

#include <algorithm>

#include "properties/strict_json.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

json tally_json(const Tally& t) {
  return {{"cases", t.cases},   {"checked", t.checked},           {"not_applicable", t.not_applicable},
          {"broken", t.broken}, {"first_broken", t.first_broken}, {"digest", t.digest}};
}

json finding_json(const Finding& f) {
  return {{"law", f.law},
          {"subject", f.subject},
          {"place", f.breach.place},
          {"input", f.breach.input},
          {"expected", f.breach.expected},
          {"actual", f.breach.actual},
          {"why", f.breach.why},
          {"case", f.case_json},
          {"type", f.case_type},
          {"engine", static_cast<int>(f.engine)},
          {"seed", f.seed},
          {"shrinks", f.shrinks},
          {"search", f.search}};
}

Finding finding_from(const json& j) {
  Finding f;
  f.law = j.at("law");
  f.subject = j.at("subject");
  f.breach = {j.at("place"), j.at("input"), j.at("expected"), j.at("actual"), j.at("why")};
  f.case_json = j.at("case");
  f.case_type = j.at("type");
  f.engine = static_cast<Engine>(j.at("engine").get<int>());
  f.seed = j.at("seed");
  f.shrinks = j.at("shrinks");
  f.search = j.at("search");
  return f;
}

}  // namespace

bool VerifyResult::good() const {
  if (!bad_tests().empty()) return false;
  if (!compared_with_expected) return finding_count() == 0;
  return std::all_of(subjects.begin(), subjects.end(), [](const SubjectResult& s) { return s.unexpected.empty(); });
}

std::vector<std::string> VerifyResult::bad_tests() const {
  std::vector<std::string> lines;
  for (const SubjectResult& subject : subjects)
    for (const LawResult& law : subject.laws) {
      if (law.bad_test.empty()) continue;
      std::string line = law.law;
      lines.push_back(line.append(", ").append(subject.name).append(": ").append(law.bad_test));
    }
  return lines;
}

std::size_t VerifyResult::finding_count() const {
  std::size_t count = 0;
  for (const SubjectResult& subject : subjects)
    for (const LawResult& law : subject.laws) count += law.findings.size();
  return count;
}

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_word(const std::string& spec) {
  const bool plain = spec.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._/-") ==
                     std::string::npos;
  return plain ? spec : shell_quoted(spec);
}

std::string reproduce_command(const std::string& spec, const Finding& finding) {
  if (!finding.search.empty()) return finding.search;
  return "packcheck repro --law " + finding.law + " --subject " + shell_word(spec) + " --case " +
         shell_quoted(finding.case_json);
}

std::string law_result_to_json(const LawResult& r) {
  json findings = json::array();
  for (const Finding& f : r.findings) findings.push_back(finding_json(f));
  json tallies = json::array();
  for (const Tally& t : r.tallies) tallies.push_back(tally_json(t));
  json classes = json::array();
  for (const CaseClass& c : r.classes) classes.push_back({c.name, c.drawn, c.occurred});
  const json result{{"law", r.law},         {"subject", r.subject},   {"ruling", static_cast<int>(r.ruling)},
                    {"reason", r.reason},   {"variants", r.variants}, {"tallies", tallies},
                    {"findings", findings}, {"classes", classes},     {"bad_test", r.bad_test}};
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<LawResult> law_result_from_json(std::string_view text) {
  try {
    const json j = json::parse(text);
    LawResult r;
    r.law = j.at("law");
    r.subject = j.at("subject");
    r.ruling = static_cast<Ruling>(j.at("ruling").get<int>());
    r.reason = j.at("reason");
    r.variants = j.at("variants").get<std::vector<std::string>>();
    for (std::size_t i = 0; i < kEngineCount; ++i) {
      const json& t = j.at("tallies").at(i);
      r.tallies[i] = {t.at("cases"),  t.at("checked"),      t.at("not_applicable"),
                      t.at("broken"), t.at("first_broken"), t.at("digest")};
    }
    for (const json& f : j.at("findings")) r.findings.push_back(finding_from(f));
    for (const json& c : j.at("classes")) r.classes.push_back({c.at(0), c.at(1), c.at(2)});
    r.bad_test = j.at("bad_test");
    return r;
  } catch (const json::exception& problem) {
    return refuse(problem.what(), "result of a job", "a complete law result");
  }
}

}  // namespace packcheck
