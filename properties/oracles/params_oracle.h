// properties/oracles/params_oracle.h: integers packed in the bits of doubles, a second time.
//
// Oracle for core/params in every layout. A field is a digit with a place value: words come from multiplication
// and addition, fields from division and remainder, where the core shifts and masks; plain numbers are tested as
// doubles, where the core looks at their bits. The table of place values is its own. Proved by
// tests/core/params_test.cc with words worked out by hand.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace packcheck::oracle {

using Words = std::array<std::uint64_t, 2>;  ///< scalar and param2, as the bits of the doubles

/// The words for one value per field, in the order of the layout; the value of a plain field is the bits of its double.
/// Nothing for an unknown layout, another count, a value that its field does not hold, and fields of bits
/// that together make their word an infinity or a NaN.
[[nodiscard]] std::optional<Words> packed(std::string_view layout, std::span<const std::int64_t> values);

/// The fields in any two words, in the same order. Nothing for an unknown layout.
[[nodiscard]] std::optional<std::vector<std::int64_t>> unpacked(std::string_view layout, const Words& words);

/// How many values each field can take, in the same order: 256 for a kernel height, 0 for a plain number.
[[nodiscard]] std::optional<std::vector<std::uint64_t>> field_sizes(std::string_view layout);

}  // namespace packcheck::oracle
