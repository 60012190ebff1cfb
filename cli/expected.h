// cli/expected.h: what is expected of each subject, and how a run differs from it.
//
// The reference holds every law; a faulty twin is caught; a third-party or user's subject breaks
// exactly what its checked-in list names. subjects/expected/NAME holds the line
// "packcheck-expected 1", then one signature a line: law, place; "#" starts a comment. A line that
// starts with "?" may be found or not: undefined behaviour, or a library chosen by the processor.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "cli/results.h"

namespace packcheck {

/// Signatures that must be found (true) and that may be (false).
using ExpectedFindings = std::map<std::string, bool>;

/// The signatures in a list; none where the file is absent. Refuses another version, an unknown law
/// and a signature twice.
[[nodiscard]] Result<ExpectedFindings> read_expected(const std::filesystem::path& path);

/// Fills in `unexpected` of every subject, with lists from `folder`.
[[nodiscard]] Result<void> compare_with_expected(VerifyResult& result, const std::filesystem::path& folder);

}  // namespace packcheck
