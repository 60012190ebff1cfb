// core/format: what a scalar number format is, and the exact conversion between any two.
//
// One table describes each format; one algorithm (integers only, so independent of the
// floating-point environment) converts directly from any to any, never through a narrower step.
// Add a format by adding a row to the table below. Proved by
// tests/core/format_test.cc (MPFR) and by `packcheck sweep format.narrowing_is_correctly_rounded`,
// whose oracle (properties/oracles/) shares no code with this room.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "core/result.h"

namespace packcheck {

enum class Format : std::uint8_t { f64, f32, f16, bf16 };

/// Binary interchange format with IEEE-style infinities and NaNs.
struct FormatSpec {
  Format format;
  std::string_view name;
  int exponent_bits;
  int significand_bits;  ///< stored bits, without the leading one

  [[nodiscard]] constexpr int width() const { return 1 + exponent_bits + significand_bits; }
  [[nodiscard]] constexpr std::size_t bytes() const { return static_cast<std::size_t>(width()) / 8; }
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int exponent_mask() const { return (1 << exponent_bits) - 1; }
  [[nodiscard]] constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (width() - 1); }
  [[nodiscard]] constexpr std::uint64_t significand_mask() const { return (std::uint64_t{1} << significand_bits) - 1; }
  [[nodiscard]] constexpr std::uint64_t infinity() const {
    return static_cast<std::uint64_t>(exponent_mask()) << significand_bits;
  }
  [[nodiscard]] constexpr std::uint64_t quiet_bit() const { return std::uint64_t{1} << (significand_bits - 1); }
  [[nodiscard]] constexpr std::uint64_t all_bits() const { return (sign_bit() - 1) | sign_bit(); }
};

/// The table: one row per format, in the order of the enumeration.
inline constexpr std::array<FormatSpec, 4> kFormatTable{{
    {Format::f64, "f64", 11, 52},
    {Format::f32, "f32", 8, 23},
    {Format::f16, "f16", 5, 10},
    {Format::bf16, "bf16", 8, 7},
}};

[[nodiscard]] constexpr std::span<const FormatSpec> all_formats() { return kFormatTable; }
[[nodiscard]] constexpr const FormatSpec& spec(Format format) { return kFormatTable[static_cast<std::size_t>(format)]; }
[[nodiscard]] std::optional<Format> format_named(std::string_view name);
/// "f64, f32, f16, bf16": for messages.
[[nodiscard]] std::string_view format_names();

[[nodiscard]] constexpr bool is_nan(const FormatSpec& s, std::uint64_t bits) {
  return (bits & ~s.sign_bit() & s.all_bits()) > s.infinity();
}
[[nodiscard]] constexpr bool is_infinite(const FormatSpec& s, std::uint64_t bits) {
  return (bits & ~s.sign_bit() & s.all_bits()) == s.infinity();
}
[[nodiscard]] constexpr bool is_subnormal(const FormatSpec& s, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & ~s.sign_bit() & s.all_bits();
  return magnitude != 0 && magnitude <= s.significand_mask();
}

/// The integer whose little-endian bytes are at `at`.
template <class Unsigned>
[[nodiscard]] inline Unsigned load_little_endian(const std::uint8_t* at) {
  Unsigned bits = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&bits, at, sizeof bits);
  } else {
    for (std::size_t i = sizeof bits; i-- > 0;) bits = static_cast<Unsigned>(bits << 8 | at[i]);
  }
  return bits;
}
template <class Unsigned>
inline void store_little_endian(std::uint8_t* at, Unsigned bits) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(at, &bits, sizeof bits);
  } else {
    for (std::size_t i = 0; i < sizeof bits; ++i) at[i] = static_cast<std::uint8_t>(bits >> (8 * i));
  }
}

/// Element `index` of a little-endian array of `s`.
[[nodiscard]] inline std::uint64_t load_element(const FormatSpec& s, std::span<const std::uint8_t> bytes,
                                                std::size_t index) {
  const std::uint8_t* const at = bytes.data() + index * s.bytes();
  if (s.bytes() == 2) return load_little_endian<std::uint16_t>(at);
  return s.bytes() == 4 ? load_little_endian<std::uint32_t>(at) : load_little_endian<std::uint64_t>(at);
}
inline void store_element(const FormatSpec& s, std::span<std::uint8_t> bytes, std::size_t index, std::uint64_t bits) {
  std::uint8_t* const at = bytes.data() + index * s.bytes();
  if (s.bytes() == 2)
    store_little_endian(at, static_cast<std::uint16_t>(bits));
  else if (s.bytes() == 4)
    store_little_endian(at, static_cast<std::uint32_t>(bits));
  else
    store_little_endian(at, bits);
}

}  // namespace packcheck
