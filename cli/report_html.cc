// The report as one self-contained HTML page: no script, nothing fetched.
#include <sstream>

#include "cli/open_subject.h"
#include "cli/packed_losses.h"
#include "cli/report.h"
#include "cli/report_conversions.h"

namespace packcheck {
namespace {

constexpr const char* kStyle = R"css(
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:92rem;padding:0 1rem;color:#1c1e21;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse;margin:.5rem 0}th,td{padding:.25rem .6rem;border:1px solid #d7dae0;text-align:left;vertical-align:top}
th{background:#f3f4f6;font-weight:600}td.law{font-family:ui-monospace,monospace;font-size:13px}td.law:first-child{white-space:nowrap}
.holds{background:#e3f4e6}.broken{background:#fbdfdd;font-weight:600}.skipped,.not_applicable,.absent,.refused{color:#8a9099}.exact{background:#eef5d8}.lossy{background:#fdeccf}
.pairs td{padding:0 .2rem;text-align:center;font-size:11px}.pairs th{font-size:11px;padding:0 .3rem;white-space:nowrap}
.pairs th div{writing-mode:vertical-rl}.pairs tr:first-child th{vertical-align:bottom}summary{cursor:pointer;margin:.5rem 0}
.scroll{overflow-x:auto}.scroll td{white-space:nowrap}article{border:1px solid #d7dae0;border-radius:6px;padding:.6rem 1rem;margin:.8rem 0}
article h3{font-size:1rem;margin:.2rem 0 .5rem}pre{background:#f3f4f6;padding:.5rem .7rem;overflow-x:auto;font-size:13px;margin:.4rem 0}
dl{display:grid;grid-template-columns:6rem 1fr;margin:0;gap:.1rem .5rem}dd{margin:0;font-family:ui-monospace,monospace;font-size:13px;overflow-wrap:anywhere}
dt{color:#5d646e}.note{color:#5d646e}
)css";

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else if (c == '"')
      html += "&quot;";
    else
      html += c;
  }
  return html;
}

void write_table(std::ostringstream& out, const VerifyResult& result) {
  out << "<h2>Laws and subjects</h2>\n<div class=scroll><table><tr><th>law</th>";
  const auto rows = table_of(result);
  for (std::size_t i = 1; i < rows[0].size(); ++i) out << "<th>" << escaped(rows[0][i]) << "</th>";
  out << "</tr>\n";
  for (std::size_t r = 1; r < rows.size(); ++r) {
    out << "<tr><td class=law>" << escaped(rows[r][0]) << "</td>";
    for (std::size_t i = 1; i < rows[r].size(); ++i) {
      const std::string& text = rows[r][i];
      const char* kind = text == "holds" ? "holds" : text.rfind("BROKEN", 0) == 0 ? "broken" : "skipped";
      out << "<td class=" << kind << ">" << escaped(text) << "</td>";
    }
    out << "</tr>\n";
  }
  out << "</table></div>\n";
}

void write_packed_losses(std::ostringstream& out, const VerifyResult& result) {
  const auto rows = packed_losses(result);
  if (rows.empty()) return;
  out << "<h2>Packed values lost in text</h2>\n<div class=scroll><table>";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const char* cell = r == 0 ? "th" : "td";
    out << "<tr>";
    for (const std::string& text : rows[r]) out << "<" << cell << ">" << escaped(text) << "</" << cell << ">";
    out << "</tr>\n";
  }
  out << "</table></div>\n";
}

void write_twins(std::ostringstream& out, const VerifyResult& result) {
  bool any = false;
  for (const SubjectResult& subject : result.subjects) {
    if (!is_twin(subject.spec)) continue;
    if (!any) out << "<h2>Faulty twins</h2>\n<table><tr><th>twin</th><th>caught by (first engine)</th></tr>\n";
    any = true;
    const std::string by = caught_by(subject);
    out << "<tr><td class=law>" << escaped(subject.name) << "</td><td class=" << (by == "NOT CAUGHT" ? "broken" : "law")
        << ">" << escaped(by) << "</td></tr>\n";
  }
  if (any) out << "</table>\n";
}

void write_finding(std::ostringstream& out, const SubjectResult& subject, const Finding& f) {
  out << "<article><h3>" << escaped(subject.spec) << " breaks " << escaped(f.signature()) << "</h3><dl>";
  for (const auto& [name, text] : {std::pair{"input", &f.breach.input}, std::pair{"expected", &f.breach.expected},
                                   std::pair{"actual", &f.breach.actual}})
    out << "<dt>" << name << "</dt><dd>" << escaped(*text) << "</dd>";
  out << "</dl><p>" << escaped(f.breach.why) << "</p><pre>" << escaped(reproduce_command(subject.spec, f))
      << "</pre></article>\n";
}

}  // namespace

std::string report_html(const VerifyResult& result) {
  std::ostringstream out;
  out << "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\n"
      << "<title>packcheck report</title><style>" << kStyle << "</style>\n<h1>packcheck: "
      << (result.good() ? (result.compared_with_expected ? "every subject is as expected" : "all laws hold")
                        : (result.compared_with_expected ? "not every subject is as expected"
                                                         : counted(result.finding_count(), "finding")))
      << "</h1>\n<p class=note>version " << result.version << ", profile " << escaped(result.profile) << ", seed "
      << result.seed << "</p>\n";
  for (const SubjectResult& subject : result.subjects) {
    for (const std::string& line : subject.unexpected)
      out << "<p class=broken>" << escaped(subject.name) << ": " << escaped(line) << "</p>\n";
    if (!subject.absent.empty())
      out << "<p class=note>" << escaped(subject.spec) << " is absent: " << escaped(subject.absent) << "</p>\n";
  }
  write_table(out, result);
  write_packed_losses(out, result);
  write_twins(out, result);
  if (has_storage_laws(result)) out << conversions_html(result);
  if (result.finding_count() > 0) out << "<h2>Findings</h2>\n";
  for (const SubjectResult& subject : result.subjects)
    for (const LawResult& law : subject.laws)
      for (const Finding& f : law.findings) write_finding(out, subject, f);
  out << "</html>\n";
  return out.str();
}

}  // namespace packcheck
