// core/params: small integers packed into the bits of doubles, as graph exporters do.
//
// A layout is data: for each field its word, lowest bit and width. The packed double is a
// bit pattern, never a number: nothing here does floating-point arithmetic. Add a layout by adding
// a table in layout.cc. Source: facts seed-systems 5.3 (yishape-math). Proved by the params.* laws,
// whose oracle multiplies and divides where this room shifts and masks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace packcheck {

/// One packed integer: bits [shift, shift + width) of word `word` (0 scalar, 1 param2).
struct Field {
  std::string_view name;
  std::size_t word;
  unsigned shift;
  unsigned width;

  [[nodiscard]] constexpr std::int64_t largest() const { return (std::int64_t{1} << width) - 1; }
};

/// The fields of one operator in one dialect.
struct Layout {
  std::string_view op;       ///< "conv2d"
  std::string_view dialect;  ///< "gen2"
  std::span<const Field> fields;

  [[nodiscard]] std::string id() const { return std::string(op) + ":" + std::string(dialect); }
};

inline constexpr std::size_t kPackedWords = 2;  ///< scalar and param2
using PackedWords = std::array<std::uint64_t, kPackedWords>;

[[nodiscard]] std::span<const Layout> all_layouts();
/// "conv2d:gen2", or "conv2d" where only one dialect exists. The error lists the known ones.
[[nodiscard]] Result<const Layout*> layout_named(std::string_view id);

enum class RangeRule : std::uint8_t {
  refuse,      ///< the reference: a field outside its range is an error
  or_overflow  ///< yishape-math's packers: shift and OR without a mask, so fields run into each other
};

/// Packs one value per field. Refuses the first value that is negative or larger than its field.
[[nodiscard]] Result<PackedWords> pack(const Layout& layout, std::span<const std::int64_t> values,
                                       RangeRule range = RangeRule::refuse);

enum class WordReading : std::uint8_t {
  reinterpret,  ///< the bits of the double
  numeric_cast  ///< the seed's bug: the double's value truncated to an integer, 0 for every subnormal
};

struct Unpacked {
  std::vector<std::int64_t> values;  ///< one per field
  PackedWords ignored;               ///< bits that belong to no field
};

/// Takes each field out of its word. Total: every pair of words has fields.
[[nodiscard]] Unpacked unpack(const Layout& layout, const PackedWords& words,
                              WordReading reading = WordReading::reinterpret);

/// Why packable values cannot be run ("stride is 0"); empty when they can. Packable is not executable.
[[nodiscard]] std::string not_executable_because(const Layout& layout, std::span<const std::int64_t> values);

}  // namespace packcheck
