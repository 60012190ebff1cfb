#include "cli/history.h"

#include <algorithm>
#include <memory>

#include "cli/open_subject.h"

namespace packcheck {
namespace {

bool hung(const Finding& finding) {
  const std::string_view place = finding.breach.place;
  const std::string_view end = outcome_name(Outcome::hung);
  return place.size() >= end.size() && place.substr(place.size() - end.size()) == end;
}

/// A subject that cannot be opened again, or a case that cannot be read again, shows nothing: true.
bool breaks_alone(const Finding& finding, const Law& law, const std::string& spec, const CallLimits& limits) {
  const Result<std::unique_ptr<Subject>> subject = open_subject(spec, limits);
  const Result<Case> c = law.case_type->from_json(finding.case_json);
  if (!subject || !c) return true;
  const Verdict verdict = law.check(**subject, *c);
  return std::any_of(verdict.breaches.begin(), verdict.breaches.end(),
                     [&finding](const Breach& breach) { return breach.place == finding.breach.place; });
}

}  // namespace

void mark_history(LawResult& result, const Law& law, const std::string& spec, const CallLimits& limits,
                  const std::string& search) {
  for (Finding& finding : result.findings) {
    if (hung(finding) || breaks_alone(finding, law, spec, limits)) continue;
    finding.search = search;
    finding.breach.why
        .append(" A subject that is asked this case alone answers it as the law says: the answer depends ")
        .append("on earlier calls, so the line repeats the search that found it.");
  }
}

}  // namespace packcheck
