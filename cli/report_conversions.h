// cli/report_conversions.h: the report's table of what becomes of every source encoding in every target.
//
// The cells come from core/storage/conversion_table.h; here they are grouped, so that people can read a table of more
// than ten thousand, and joined with what the laws that prove them said in this run.
#pragma once

#include <string>
#include <vector>

#include "cli/results.h"
#include "core/storage/conversion_table.h"

namespace packcheck {

struct ConversionTable {
  std::vector<StorageEncoding> encodings;
  std::vector<std::vector<ConversionCell>> cells;  ///< [source][target], in the order of `encodings`
  /// Encodings with the same row (column) but for the diagonal: indices, in the order of their first.
  std::vector<std::vector<std::size_t>> source_groups;
  std::vector<std::vector<std::size_t>> target_groups;
};
/// Made once.
[[nodiscard]] const ConversionTable& conversion_table();

/// The laws that prove cells, each with what it said of the reference in this run: "holds", "BROKEN", "not run".
struct ProvingLaw {
  std::string law;
  std::string said;
};
/// Whether this run put a law of storage to somebody; else a report leaves the table out.
[[nodiscard]] bool has_storage_laws(const VerifyResult& result);
[[nodiscard]] std::vector<ProvingLaw> proving_laws(const VerifyResult& result);

/// "lossless", "when exact", "lossy", "refused": a cell of the tables for people.
[[nodiscard]] std::string_view short_name(Conversion conversion);

[[nodiscard]] std::string conversions_markdown(const VerifyResult& result);
[[nodiscard]] std::string conversions_html(const VerifyResult& result);

}  // namespace packcheck
