// cli/report_merge.h: what a shard of verify leaves for `packcheck report merge`.
#pragma once

#include <cstdint>
#include <string>

#include "cli/results.h"

namespace packcheck {

/// The text of a shard's results.json; `most_findings` of a subject, as --max-findings says.
[[nodiscard]] std::string shard_results_text(const VerifyResult& result, std::uint64_t index, std::uint64_t of,
                                             std::size_t most_findings);

}  // namespace packcheck
