// cli/verify.h: the run behind `packcheck verify` and `packcheck twins`.
#pragma once

#include <string>
#include <vector>

#include "cli/results.h"
#include "properties/engines/engines.h"

namespace packcheck {

struct VerifyPlan {
  std::vector<std::string> subjects;  ///< specs, groups expanded
  std::vector<const Law*> laws;
  std::string profile;
  RunOptions run;
  CallLimits limits;
  Shard shard;
  unsigned jobs = 0;                    ///< 0: one per core
  std::uint64_t time_milliseconds = 0;  ///< 0: as much as the profile says, once
  CorpusStore corpus;
  bool progress = true;
};

/// Runs the plan. An error is a subject that cannot be opened (third-party ones are absent instead).
[[nodiscard]] Result<VerifyResult> verify(const VerifyPlan& plan);

/// Keeps at most `most` findings of a subject; a law that broke keeps its ruling.
void cap_findings(SubjectResult& subject, std::size_t most);

/// "none" or a folder; empty for the default one. A corpus with a broken file is an error.
[[nodiscard]] Result<CorpusStore> open_corpus(const std::string& option);

/// Whether any law broke; the twins and what caught them as text and JSON (score, twins[]).
[[nodiscard]] bool is_caught(const SubjectResult& twin);
[[nodiscard]] std::string twins_text(const VerifyResult& result);
[[nodiscard]] std::string twins_json(const VerifyResult& result);

}  // namespace packcheck
