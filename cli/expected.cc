#include "cli/expected.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <system_error>

#include "cli/open_subject.h"
#include "properties/corpus_store.h"
#include "subjects/reference/twins.h"

namespace packcheck {
namespace {

constexpr std::string_view kFirstLine = "packcheck-expected 1";

std::string without_comment(std::string line) {
  line.erase(std::min(line.find('#'), line.size()));
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  return line;
}

void compare_twin(SubjectResult& subject) {
  for (const Twin& twin : all_twins()) {
    if (subject.spec != "twin:" + std::string(twin.name)) continue;
    for (const LawResult& law : subject.laws)
      if (law.law == twin.law && law.ruling != Ruling::broken) subject.unexpected.push_back("not caught by " + law.law);
  }
}

/// Laws that this run put to the subject: a listed finding of another law says nothing here.
bool was_run(const SubjectResult& subject, const std::string& signature) {
  for (const LawResult& law : subject.laws)
    if (signature.substr(0, signature.find(' ')) == law.law) return true;
  return false;
}

void compare_list(SubjectResult& subject, const ExpectedFindings& expected) {
  std::set<std::string> found;
  for (const LawResult& law : subject.laws)
    for (const Finding& finding : law.findings) found.insert(finding.signature());
  for (const std::string& signature : found)
    if (expected.find(signature) == expected.end()) subject.unexpected.push_back("new finding: " + signature);
  for (const auto& [signature, must] : expected)
    if (must && !subject.cut_off && found.find(signature) == found.end() && was_run(subject, signature))
      subject.unexpected.push_back("listed, but not found: " + signature);
}

}  // namespace

Result<ExpectedFindings> read_expected(const std::filesystem::path& path) {
  ExpectedFindings signatures;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return signatures;
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  std::istringstream lines(*text);
  std::string line;
  if (!std::getline(lines, line) || without_comment(line) != kFirstLine)
    return refuse("first line is '" + line + "'", path.string(), std::string(kFirstLine));
  for (int number = 2; std::getline(lines, line); ++number) {
    std::string signature = without_comment(line);
    if (signature.empty()) continue;
    const bool must = signature[0] != '?';
    if (!must) signature.erase(0, std::min(signature.find_first_not_of("? "), signature.size()));
    const std::string where = path.string() + ":" + std::to_string(number);
    if (const auto law = law_named(signature.substr(0, signature.find(' '))); !law)
      return refuse(law.error().what, where, law.error().right);
    if (!signatures.emplace(signature, must).second) return refuse("'" + signature + "' stands twice", where, "once");
  }
  return signatures;
}

Result<void> compare_with_expected(VerifyResult& result, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    return refuse("no such folder", folder.string(), "a folder of expected lists");
  result.compared_with_expected = true;
  for (SubjectResult& subject : result.subjects) {
    if (!subject.absent.empty()) continue;
    if (is_twin(subject.spec)) {
      compare_twin(subject);
      continue;
    }
    const Result<ExpectedFindings> expected = read_expected(folder / subject.name);
    if (!expected) return tl::unexpected(expected.error());
    compare_list(subject, *expected);
  }
  return {};
}

}  // namespace packcheck
