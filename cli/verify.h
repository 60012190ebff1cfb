// cli/verify.h: the run behind `packcheck verify`.
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
  std::string corpus_option;             ///< as it was given, for the lines that repeat the run
  std::filesystem::path running_folder;  ///< for the case that each job is judging; empty: none is kept
  bool progress = true;
};

/// Runs the plan. An error is a subject that cannot be opened (third-party ones are absent instead).
[[nodiscard]] Result<VerifyResult> verify(const VerifyPlan& plan);

/// Keeps at most `most` findings of a subject; a law that broke keeps its ruling.
void cap_findings(SubjectResult& subject, std::size_t most);

/// "none" or a folder; empty for the default one. A corpus with a broken file is an error.
[[nodiscard]] Result<CorpusStore> open_corpus(const std::string& option);

}  // namespace packcheck
