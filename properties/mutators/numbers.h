// properties/mutators/numbers.h: the numbers at which readers and writers differ. Add one to the lists in
// numbers.cc. Proved by tests/properties/mutators_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "properties/mutators/dice.h"

namespace packcheck {

/// Bits of a double: packed integers (subnormal), zeros of both signs, neighbours of powers of two, infinities, NaNs.
[[nodiscard]] std::uint64_t interesting_double(Dice& dice);
/// A number as JSON text, or what only looks like one: -0, 1e400, 2^53+1, NaN, 3.0.
[[nodiscard]] std::string interesting_number(Dice& dice);
/// An integer as text: small ones, the ends of the integer types.
[[nodiscard]] std::string interesting_integer(Dice& dice);
/// A field of `size` bytes: 0, 1, all ones, powers of two, or `before` and a little.
[[nodiscard]] std::uint64_t interesting_field(std::uint64_t before, std::size_t size, Dice& dice);

/// A number's text with one thing changed: a digit, the point, the exponent, the sign, the spelling of an integer.
[[nodiscard]] std::string changed_number(std::string_view text, Dice& dice);

}  // namespace packcheck
