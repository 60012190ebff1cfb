// cli/report.h: a verify result in the forms people and machines read.
#pragma once

#include <filesystem>
#include <string>

#include "cli/results.h"

namespace packcheck {

/// Laws × subjects, the twins and what caught them, every finding with its bits, the totals.
[[nodiscard]] std::string summary_text(const VerifyResult& result);
[[nodiscard]] std::string report_json(const VerifyResult& result);
[[nodiscard]] std::string report_markdown(const VerifyResult& result);
/// One test case per law and subject; a subject's expected findings are not failures.
[[nodiscard]] std::string report_junit(const VerifyResult& result);

/// Writes report.json, report.md, junit.xml and findings/<signature>-<sha1>.json into `folder`.
[[nodiscard]] Result<void> write_report(const VerifyResult& result, const std::filesystem::path& folder);

}  // namespace packcheck
