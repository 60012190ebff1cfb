// core/params/analysis: what the doubles of a layout can be, computed from its table.
//
// Every field of bits takes each value of its width, whatever the others are, so a word takes exactly the
// patterns whose ones lie under its fields: which classes of double are among them, and the smallest of each, follows
// from that set of bits alone. Nothing here is a list that someone wrote down. Proved by
// tests/core/layout_analysis_test.cc, which packs every value of small layouts and looks.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/params/layout.h"

namespace packcheck {

enum class DoubleClass : std::uint8_t { zero, subnormal, normal, infinity, nan };
inline constexpr std::size_t kDoubleClasses = 5;
[[nodiscard]] std::string_view double_class_name(DoubleClass c);
[[nodiscard]] DoubleClass double_class(std::uint64_t bits);

/// What one word of a layout can be.
struct WordSpan {
  bool plain = false;                      ///< a number, not bits
  std::uint64_t covered = 0;               ///< bits that some field has
  std::uint64_t overlapping = 0;           ///< bits that two fields have
  std::uint64_t gaps = ~std::uint64_t{0};  ///< bits that no field has: ignored when it is read
  bool can_be_negative = false;            ///< the sign bit is among them
  /// For each class the smallest pattern of it, where there is one. Infinity and NaN of a word of bits are those that
  /// pack() refuses.
  std::array<std::optional<std::uint64_t>, kDoubleClasses> smallest{};

  [[nodiscard]] bool can_be(DoubleClass c) const { return smallest[static_cast<std::size_t>(c)].has_value(); }
};

[[nodiscard]] std::array<WordSpan, kPackedWords> analyse(const Layout& layout);

/// What is wrong with a table: fields outside their word, overlaps, a plain word that is shared, names that appear
/// twice. Empty for a sound one.
[[nodiscard]] std::vector<Error> faults_of(const Layout& layout);

}  // namespace packcheck
