// The twins and what caught them.
#include <algorithm>
#include <sstream>

#include "cli/verify.h"
#include "properties/strict_json.h"
#include "subjects/reference/twins.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

std::vector<std::string> engines_of(const LawResult& law) {
  std::vector<std::string> engines;
  for (std::size_t i = 0; i < kEngineCount; ++i)
    if (law.tallies[i].broken > 0) engines.emplace_back(engine_name(static_cast<Engine>(i)));
  return engines;
}

std::string_view bug_of(const SubjectResult& subject) {
  for (const Twin& twin : all_twins())
    if (subject.spec == "twin:" + std::string(twin.name)) return twin.bug;
  return {};
}

double score_of(const VerifyResult& result) {
  const auto caught = std::count_if(result.subjects.begin(), result.subjects.end(), is_caught);
  return result.subjects.empty() ? 0.0 : static_cast<double>(caught) / static_cast<double>(result.subjects.size());
}

}  // namespace

bool is_caught(const SubjectResult& twin) {
  return std::any_of(twin.laws.begin(), twin.laws.end(),
                     [](const LawResult& law) { return law.ruling == Ruling::broken; });
}

std::string twins_text(const VerifyResult& result) {
  std::ostringstream out;
  for (const SubjectResult& subject : result.subjects) {
    out << subject.name << "\n  " << bug_of(subject) << "\n";
    for (const LawResult& law : subject.laws) {
      if (law.ruling != Ruling::broken) continue;
      out << "  caught by " << law.law << " (";
      const std::vector<std::string> engines = engines_of(law);
      for (std::size_t i = 0; i < engines.size(); ++i) out << (i == 0 ? "" : ", ") << engines[i];
      out << ")\n";
    }
    if (!is_caught(subject)) out << "  NOT CAUGHT\n";
  }
  out << "mutation score " << score_of(result) * 100.0 << " % of " << result.subjects.size() << " twins, seed "
      << result.seed << "\n";
  return out.str();
}

std::string twins_json(const VerifyResult& result) {
  json twins = json::array();
  for (const SubjectResult& subject : result.subjects) {
    json caught = json::array();
    for (const LawResult& law : subject.laws)
      if (law.ruling == Ruling::broken) caught.push_back({{"law", law.law}, {"engines", engines_of(law)}});
    twins.push_back(
        {{"name", subject.spec.substr(subject.spec.find(':') + 1)}, {"bug", bug_of(subject)}, {"caught_by", caught}});
  }
  return json{{"score", score_of(result)}, {"seed", result.seed}, {"twins", twins}}.dump(2) + "\n";
}

}  // namespace packcheck
