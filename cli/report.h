// cli/report.h: a verify result in the forms people and machines read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/results.h"

namespace packcheck {

/// Laws × subjects, the twins and what caught them, every finding with its bits, the totals.
[[nodiscard]] std::string summary_text(const VerifyResult& result);
[[nodiscard]] std::string report_json(const VerifyResult& result);
[[nodiscard]] std::string report_markdown(const VerifyResult& result);
/// One test case per law and subject; a subject's expected findings are not failures.
[[nodiscard]] std::string report_junit(const VerifyResult& result);

[[nodiscard]] std::string report_sarif(const VerifyResult& result);
[[nodiscard]] std::string report_html(const VerifyResult& result);

// What the forms share.
/// Rows of cells, laws × subjects without the twins; the first row is the heading.
[[nodiscard]] std::vector<std::vector<std::string>> table_of(const VerifyResult& result);
/// "law (engine), …" or "NOT CAUGHT".
[[nodiscard]] std::string caught_by(const SubjectResult& twin);
/// Whether a finding is one that was expected of its subject (a twin's are).
[[nodiscard]] bool is_expected(const VerifyResult& result, const SubjectResult& subject, const Finding& finding);
/// Of all cases that were judged and their verdicts, but of those that a time limit added: "0x…".
[[nodiscard]] std::string digest_of(const VerifyResult& result);
/// The text of a finding's case file.
[[nodiscard]] std::string case_file_of(const std::string& spec, const Finding& finding);

/// Writes report.{json,md,html,sarif}, junit.xml and findings/<signature>-<sha1>.json into `folder`.
[[nodiscard]] Result<void> write_report(const VerifyResult& result, const std::filesystem::path& folder);

}  // namespace packcheck
