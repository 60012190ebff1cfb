// core/text/number_form: a double in JSON without losing a bit: a number, and beside it the 64 bits where needed.
//
// What JSON has no number for (NaN with its payload, infinities) and what many readers read inexactly (packed
// parameters, which are subnormal, and -0.0) goes into a sibling member that is called as the number and "_bits", a
// string of 16 hexadecimal digits: {"scalar": 9.7517e-319, "scalar_bits": "0x0000000000030301"}. The plain number is
// there wherever JSON has one, so that existing readers find it; where both are there they must agree. To change when
// bits are written, change needs_bits(). Proved by tests/core/number_form_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace packcheck {

inline constexpr std::string_view kBitsSuffix = "_bits";  ///< "scalar" has "scalar_bits" beside it

/// "0x0000000000030301": always 16 digits.
[[nodiscard]] std::string print_bits(std::uint64_t bits);
/// The inverse: "0x" and exactly 16 digits, of either case. Refuses all else, so that a cut string is no other number.
[[nodiscard]] Result<std::uint64_t> parse_bits(std::string_view text);

enum class BitsRule : std::uint8_t { where_needed, always };

/// Whether a number in text may come to other bits, or cannot be written: NaN, infinities, subnormals, -0.0.
[[nodiscard]] bool needs_bits(std::uint64_t bits);

/// What is written of one double.
struct NumberForm {
  std::optional<std::string> number;  ///< a JSON number; none for NaN and infinities
  std::optional<std::string> bits;    ///< of the sibling, without quotes
};
/// At least one of the two is there.
[[nodiscard]] NumberForm number_form(std::uint64_t bits, BitsRule rule = BitsRule::where_needed);

/// The double that a number token and a sibling of bits stand for; either may be missing. Refuses both missing, and a
/// number that does not round to the bits beside it.
[[nodiscard]] Result<std::uint64_t> read_number_form(std::optional<std::string_view> number,
                                                     std::optional<std::string_view> bits);

}  // namespace packcheck
