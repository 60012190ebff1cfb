// properties/cases/number_patterns.h: numbers at which a conversion changes its mind, for sources too wide to
// be visited whole.
//
// Two designs. Berkeley TestFloat's (TestFloat-3, genCases): interesting exponents times interesting
// significands, both signs. And ties: for every exponent, the numbers at, just below and just above the point
// half way between two numbers of the target, with an even, an odd and an all-ones last place below it, so
// that a converter that is wrong in a single binade cannot hide. Change the lists freely; proved by
// tests/properties/number_patterns_test.cc, where a subject that is wrong in one binade must be found.
#pragma once

#include <cstdint>
#include <vector>

#include "core/format/format.h"

namespace packcheck {

/// The designed inputs for one pair, f64, f32 or i32 to any; some thousands. None for other sources.
[[nodiscard]] std::vector<std::uint64_t> number_patterns(Format from, Format to);

/// Every exponent of f64 × every last kept place × even or odd × below, at and above the tie × both signs.
inline constexpr std::uint64_t kDoubleTies = std::uint64_t{2048} * 52 * 2 * 3 * 2;
/// One of them; `index` below kDoubleTies.
[[nodiscard]] std::uint64_t double_tie(std::uint64_t index);

}  // namespace packcheck
