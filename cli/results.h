// cli/results.h: what a run of verify found, and its JSON form: for the report, and for a job
// process that hands its part to the one that started it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/engines/engines.h"

namespace packcheck {

/// A subject of a run.
struct SubjectResult {
  std::string spec;  ///< as given after --subject
  std::string name;  ///< as it calls itself
  std::string version;
  std::string absent;    ///< why it could not be opened, for third-party subjects; empty if it was
  bool cut_off = false;  ///< --max-findings was reached: there may be more
  std::vector<LawResult> laws;
  std::vector<std::string> unexpected;  ///< differences from what is expected of it, one line each
};

struct VerifyResult {
  std::string version;
  std::string profile;
  std::uint64_t seed = 1;
  bool compared_with_expected = false;
  std::vector<SubjectResult> subjects;

  /// Laws that prove nothing because their cases never go where they should: "LAW, SUBJECT: why".
  [[nodiscard]] std::vector<std::string> bad_tests() const;
  /// No bad test and no finding; or, where findings are compared with expected ones, no difference.
  [[nodiscard]] bool good() const;
  [[nodiscard]] std::size_t finding_count() const;
};

/// The line that reproduces a finding on a clean clone; it carries the case, or repeats the search where the case alone
/// does not show it.
[[nodiscard]] std::string reproduce_command(const std::string& spec, const Finding& finding);
[[nodiscard]] std::string counted(std::size_t count, const std::string& thing);  ///< "1 law", "2 laws"
[[nodiscard]] std::string shell_quoted(std::string_view text);
[[nodiscard]] std::string shell_word(const std::string& spec);  ///< quoted only if it must be

[[nodiscard]] std::string law_result_to_json(const LawResult& result);
[[nodiscard]] Result<LawResult> law_result_from_json(std::string_view text);

}  // namespace packcheck
