// cli/packed_losses.h: who loses which packed values in text, out of what a run found.
#pragma once

#include <string>
#include <vector>

#include "cli/results.h"

namespace packcheck {

/// Rows of cells, the first is the heading: for each subject that a law of text judged (twins are left out), the
/// smallest packed value that it was found to lose, its text, and what became of it; "none found" where every
/// such law holds. A packed value is a double below 2^47 units of the smallest subnormal and is shown as the
/// integer in its bits. Of the laws, what a subject prints and reads itself comes first, then what it reads, then
/// what it prints. Empty where no law of text was run.
[[nodiscard]] std::vector<std::vector<std::string>> packed_losses(const VerifyResult& result);

}  // namespace packcheck
