// core/format/integer.h: conversions of which one side is a two's complement integer.
//
// Every number of every format is a double, so both directions go by way of f64 without a second
// rounding: an integer is written as a double and narrowed, a number is widened to a double and rounded
// to a whole one by the rounding of convert.h. What no integer holds is decided by IntegerRule. Called by
// convert() and convert_array(), which are the doors to this file. Proved by
// tests/core/integer_format_test.cc and format.narrowing_is_correctly_rounded.
#pragma once

#include <cstdint>
#include <span>

#include "core/format/convert.h"

namespace packcheck {

/// The code of `to` for `bits` of `from`, at least one of them an integer format.
[[nodiscard]] std::uint64_t convert_integer(Format from, Format to, std::uint64_t bits, const ConvertRules& rules);

/// Whether the integer format `to` holds the number once it is rounded; false for NaN.
[[nodiscard]] bool integer_holds(Format from, Format to, std::uint64_t bits, const ConvertRules& rules);

/// Refuses an array with a number that the integer format `to` does not hold, where IntegerRule::refuse
/// says so. Names the first such element.
[[nodiscard]] Result<void> check_integers(Format from, Format to, std::span<const std::uint8_t> in,
                                          const ConvertRules& rules);

}  // namespace packcheck
