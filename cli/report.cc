#include "cli/report.h"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <system_error>

#include "cli/open_subject.h"
#include "cli/packed_losses.h"
#include "cli/report_conversions.h"
#include "properties/corpus_store.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

std::string padded(std::string_view text, std::size_t width) {
  std::string wide(std::max(width, text.size()), ' ');
  std::copy(text.begin(), text.end(), wide.begin());
  return wide;
}

/// "holds", "BROKEN 2", "-" in a cell of the table.
std::string cell(const LawResult& law) {
  if (!law.bad_test.empty() && law.ruling == Ruling::holds) return "BAD TEST";
  switch (law.ruling) {
    case Ruling::holds: return "holds";
    case Ruling::broken: return "BROKEN " + std::to_string(law.findings.size());
    case Ruling::not_applicable: return "n/a";
    case Ruling::skipped: return "-";
  }
  return "?";
}

std::vector<std::string> law_order(const VerifyResult& result) {
  std::vector<std::string> ids;
  for (const SubjectResult& subject : result.subjects)
    for (const LawResult& law : subject.laws)
      if (std::find(ids.begin(), ids.end(), law.law) == ids.end()) ids.push_back(law.law);
  return ids;
}

const LawResult* law_of(const SubjectResult& subject, const std::string& id) {
  for (const LawResult& law : subject.laws)
    if (law.law == id) return &law;
  return nullptr;
}

std::string finding_text(const SubjectResult& subject, const Finding& f) {
  std::ostringstream out;
  out << subject.spec << " breaks " << f.signature() << "\n    input    " << f.breach.input << "\n    expected "
      << f.breach.expected << "\n    actual   " << f.breach.actual << "\n    " << f.breach.why << "\n    "
      << reproduce_command(subject.spec, f) << "\n";
  return out.str();
}

/// What the subject has searched, for the totals.
Tally total_of(const SubjectResult& subject) {
  Tally sum;
  for (const LawResult& law : subject.laws)
    for (const Tally& tally : law.tallies) {
      sum.cases += tally.cases;
      sum.checked += tally.checked;
      sum.digest = derived_seed(sum.digest ^ tally.digest, law.law);
    }
  return sum;
}

void write_twins(std::ostringstream& out, const VerifyResult& result) {
  std::size_t twins = 0;
  std::size_t caught = 0;
  for (const SubjectResult& subject : result.subjects) {
    if (!is_twin(subject.spec)) continue;
    if (twins++ == 0) out << "\nFaulty twins, and the laws (first engine) that catch them:\n";
    const std::string by = caught_by(subject);
    caught += by == "NOT CAUGHT" ? 0 : 1;
    out << "  " << padded(subject.name, 30) << " " << by << "\n";
  }
  if (twins > 0) out << "  " << caught << " of " << twins << " caught\n";
}

/// A cell of a Markdown table.
std::string markdown_cell(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

void write_packed_losses(std::ostringstream& out, const VerifyResult& result) {
  const auto rows = packed_losses(result);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    out << (r == 0 ? "\n## Packed values lost in text\n\n|" : "|");
    for (const std::string& text : rows[r]) out << " " << markdown_cell(text) << " |";
    out << (r == 0 ? "\n|---|---|---|---|---|\n" : "\n");
  }
}

}  // namespace

std::string digest_of(const VerifyResult& result) {
  std::uint64_t digest = 0;
  for (const SubjectResult& subject : result.subjects)
    digest = derived_seed(digest ^ total_of(subject).digest, subject.name);
  return hex_of(digest, 64);
}

std::string case_file_of(const std::string& spec, const Finding& f) {
  const Result<Case> c = case_type_named(f.case_type)->from_json(f.case_json);
  return case_file_text(f.law, spec, f.breach, *c);
}

std::vector<std::vector<std::string>> table_of(const VerifyResult& result) {
  std::vector<std::vector<std::string>> rows{{"law"}};
  for (const std::string& id : law_order(result)) rows.push_back({id});
  for (const SubjectResult& subject : result.subjects) {
    if (is_twin(subject.spec)) continue;
    rows[0].push_back(subject.name);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const LawResult* law = law_of(subject, rows[i][0]);
      rows[i].push_back(!subject.absent.empty() ? "absent" : law == nullptr ? "" : cell(*law));
    }
  }
  return rows;
}

std::string caught_by(const SubjectResult& twin) {
  std::string text;
  for (const LawResult& law : twin.laws) {
    if (law.ruling != Ruling::broken) continue;
    if (!text.empty()) text.append(", ");
    text.append(law.law);
    if (!law.findings.empty()) text.append(" (").append(engine_name(law.findings[0].engine)).append(")");
  }
  return text.empty() ? "NOT CAUGHT" : text;
}

bool is_expected(const VerifyResult& result, const SubjectResult& subject, const Finding& finding) {
  const std::string line = "new finding: " + finding.signature();
  return result.compared_with_expected &&
         std::find(subject.unexpected.begin(), subject.unexpected.end(), line) == subject.unexpected.end();
}

std::string summary_text(const VerifyResult& result) {
  std::ostringstream out;
  std::size_t shown = 0;
  for (const SubjectResult& subject : result.subjects)
    for (const LawResult& law : subject.laws)
      for (const Finding& f : law.findings) {
        if (is_twin(subject.spec) && &f != &law.findings.front()) continue;  // one shrunk case a law is enough
        out << (shown++ == 0 ? "Findings:\n" : "") << "  " << finding_text(subject, f);
      }
  const std::vector<std::vector<std::string>> rows = table_of(result);
  if (rows[0].size() > 1) {
    out << "\nLaws x subjects:\n";
    for (const std::vector<std::string>& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i)
        out << (i == 0 ? "  " + padded(row[i], 58) : " " + padded(row[i], std::max<std::size_t>(rows[0][i].size(), 9)));
      out << "\n";
    }
  }
  write_twins(out, result);
  for (const SubjectResult& subject : result.subjects)
    if (!subject.absent.empty()) out << "\n" << subject.spec << " is absent: " << subject.absent << "\n";
  for (const std::string& line : result.bad_tests()) out << "\nBAD TEST " << line << "\n";
  std::uint64_t cases = 0;
  std::uint64_t checked = 0;
  for (const SubjectResult& subject : result.subjects) {
    cases += total_of(subject).cases;
    checked += total_of(subject).checked;
  }
  out << "\n"
      << counted(result.subjects.size(), "subject") << ", " << counted(rows.size() - 1, "law") << ", " << cases
      << " cases, " << checked << " comparisons; profile " << result.profile << ", seed " << result.seed << ", digest "
      << digest_of(result) << "\n";
  if (result.compared_with_expected) {
    for (const SubjectResult& subject : result.subjects)
      for (const std::string& line : subject.unexpected) out << "UNEXPECTED " << subject.name << ": " << line << "\n";
    out << (result.good()
                ? "Every subject is as expected: the reference holds, twins are caught, listed findings are there.\n"
                : "Some subjects are not as expected.\n");
  } else {
    out << (checked == 0                  ? "Nothing was judged.\n"
            : result.good()               ? "All laws hold.\n"
            : result.finding_count() == 0 ? "A law proves nothing.\n"
                                          : counted(result.finding_count(), "finding") + ".\n");
  }
  return out.str();
}

std::string report_markdown(const VerifyResult& result) {
  std::ostringstream out;
  out << "# packcheck report\n\nVersion " << result.version << ", profile " << result.profile << ", seed "
      << result.seed << ", digest `" << digest_of(result) << "`.\n\n";
  const auto rows = table_of(result);
  for (std::size_t r = 0; r < rows.size() && rows[0].size() > 1; ++r) {
    for (const std::string& text : rows[r]) out << "| " << text << " ";
    out << "|\n";
    if (r == 0) {
      for (std::size_t i = 0; i < rows[r].size(); ++i) out << "|---";
      out << "|\n";
    }
  }
  for (const std::string& line : result.bad_tests()) out << "\n**Bad test**: " << line << "\n";
  write_packed_losses(out, result);
  bool first = true;
  for (const SubjectResult& subject : result.subjects) {
    if (!is_twin(subject.spec)) continue;
    if (first) out << "\n| faulty twin | caught by |\n|---|---|\n";
    first = false;
    out << "| " << subject.name << " | " << caught_by(subject) << " |\n";
  }
  if (has_storage_laws(result)) out << conversions_markdown(result);
  for (const SubjectResult& subject : result.subjects) {
    for (const LawResult& law : subject.laws)
      for (const Finding& f : law.findings)
        out << "\n## " << subject.spec << ": " << f.signature() << "\n\n- input: `" << f.breach.input
            << "`\n- expected: `" << f.breach.expected << "`\n- actual: `" << f.breach.actual << "`\n- " << f.breach.why
            << "\n\n```sh\n"
            << reproduce_command(subject.spec, f) << "\n```\n";
    for (const std::string& line : subject.unexpected) out << "\nUnexpected: " << subject.name << ": " << line << "\n";
  }
  return out.str();
}

std::string report_junit(const VerifyResult& result) {
  pugi::xml_document document;
  pugi::xml_node suites = document.append_child("testsuites");
  const auto property = [](pugi::xml_node properties, const std::string& name, std::uint64_t value) {
    pugi::xml_node node = properties.append_child("property");
    node.append_attribute("name") = name.c_str();
    node.append_attribute("value") = std::to_string(value).c_str();
  };
  for (const SubjectResult& subject : result.subjects) {
    pugi::xml_node suite = suites.append_child("testsuite");
    suite.append_attribute("name") = subject.name.c_str();
    int failures = 0;
    for (const LawResult& law : subject.laws) {
      pugi::xml_node test = suite.append_child("testcase");
      test.append_attribute("classname") = subject.name.c_str();
      test.append_attribute("name") = law.law.c_str();
      const Tally& drawn = law.tallies[static_cast<std::size_t>(Engine::property)];
      if (drawn.cases > 0) {
        pugi::xml_node properties = test.append_child("properties");
        property(properties, "drawn cases", drawn.cases);
        property(properties, "drawn cases that do not apply", drawn.not_applicable);
        for (const CaseClass& c : law.classes) property(properties, "drawn cases with " + c.name, c.occurred);
      }
      if (law.ruling == Ruling::skipped || law.ruling == Ruling::not_applicable)
        test.append_child("skipped").append_attribute("message") = law.reason.c_str();
      if (!law.bad_test.empty()) {
        ++failures;
        test.append_child("failure").append_attribute("message") = ("bad test: " + law.bad_test).c_str();
      }
      for (const Finding& f : law.findings) {
        if (is_expected(result, subject, f)) continue;
        ++failures;
        pugi::xml_node failure = test.append_child("failure");
        failure.append_attribute("message") = f.signature().c_str();
        failure.append_child(pugi::node_pcdata).set_value(finding_text(subject, f).c_str());
      }
    }
    suite.append_attribute("tests") = static_cast<unsigned>(subject.laws.size());
    suite.append_attribute("failures") = failures;
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

namespace {

/// Whether a file in findings/ is one of ours: it ends in a SHA-1 and .json.
bool is_finding_file(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  return path.extension() == ".json" && stem.size() > 41 && stem[stem.size() - 41] == '-' &&
         stem.find_first_not_of("0123456789abcdef", stem.size() - 40) == std::string::npos;
}

/// The findings of an earlier run go; whatever else somebody keeps there stays.
void remove_old_findings(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> old;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored) && is_finding_file(entry.path())) old.push_back(entry.path());
  for (const std::filesystem::path& path : old) std::filesystem::remove(path, ignored);
}

}  // namespace

Result<void> write_report(const VerifyResult& result, const std::filesystem::path& folder) {
  remove_old_findings(folder / "findings");
  for (const SubjectResult& subject : result.subjects)
    for (const LawResult& law : subject.laws)
      for (const Finding& f : law.findings) {
        const std::string text = case_file_of(subject.spec, f);
        if (auto ok = write_file_atomically(folder / "findings" / file_name_of(f.signature(), text), text); !ok)
          return ok;
      }
  for (const auto& [name, text] :
       {std::pair{"report.json", report_json(result)}, std::pair{"report.md", report_markdown(result)},
        std::pair{"report.html", report_html(result)}, std::pair{"report.sarif", report_sarif(result)},
        std::pair{"junit.xml", report_junit(result)}})
    if (auto ok = write_file_atomically(folder / name, text); !ok) return ok;
  return {};
}

}  // namespace packcheck
