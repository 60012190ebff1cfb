// core/format/dialect.h: the conversions of real systems by name, as rules of convert.h.
//
// A dialect is a table: for each pair of formats that the system converts, the rules it follows. A subject
// declares one ("convert f32->f16 dialect=skainet-q4_0") instead of spelling the rules out, and `packcheck
// ask convert --dialect` answers in it. Add a system by a row in dialect.cc, with its source. Proved by
// tests/core/dialect_test.cc against codecs written by value, and by the laws of format.*.
#pragma once

#include <span>
#include <string_view>

#include "core/format/convert.h"

namespace packcheck {

struct DialectRow {
  Format from;
  Format to;
  ConvertRules rules;
};

struct ConvertDialect {
  std::string_view name;
  std::string_view codec;  ///< what it is, and of which system
  std::span<const DialectRow> rows;
};

[[nodiscard]] std::span<const ConvertDialect> all_convert_dialects();

/// The rules of a dialect for a pair. Refuses an unknown dialect, and a pair that the system does not
/// convert, and lists what there is.
[[nodiscard]] Result<ConvertRules> dialect_rules(std::string_view dialect, Format from, Format to);

/// The half that SKaiNET's Q4_0Quantizer writes for its scales: ties away from zero, results below 2^-14 cut
/// off, everything from 65520 up and NaN to infinity.
inline constexpr ConvertRules kSkainetPrivateHalf{
    .rounding = Rounding::nearest_away, .nan = NanRule::infinity, .subnormal = SubnormalRule::truncated};

}  // namespace packcheck
