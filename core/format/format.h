// core/format: what a scalar number format is, and the exact conversion between any two.
//
// One table describes each format; one algorithm (integers only, so independent of the
// floating-point environment) converts directly from any to any, never through a narrower step.
// Add a format by adding a row to the table below, and one to the oracle's own table in
// properties/oracles/format_oracle.cc. Proved by tests/core/format_test.cc (MPFR),
// tests/core/narrow_format_test.cc (known answers, every code, every midpoint),
// tests/core/integer_format_test.cc (the C casts of the machine) and by
// `packcheck sweep format.narrowing_is_correctly_rounded`, whose oracle shares no code with this room.
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

enum class Format : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  e5m2,
  e4m3,
  e3m4,
  e4m3fn,
  e4m3fnuz,
  e5m2fnuz,
  e4m3b11fnuz,
  e8m0,
  e3m2,
  e2m3,
  e2m1,
  ue4m3,
  e5m3,
  i8,
  i32
};

/// What the fields of a code mean.
enum class FormatKind : std::uint8_t {
  floating,      ///< zero and subnormals where the exponent field is 0
  power_of_two,  ///< an exponent alone: no zero and no subnormals
  integer        ///< two's complement; the significand field holds all bits but the sign
};

/// Which codes are no number.
enum class NanCodes : std::uint8_t {
  ieee,           ///< above infinity: the largest exponent with a significand that is not 0
  all_ones,       ///< every bit but the sign set; for an unsigned format every bit
  negative_zero,  ///< only the code that would be -0
  none            ///< every code is a number; a NaN becomes -0, as in ml_dtypes
};

/// What a number past the largest becomes where the rounding mode does not say "the largest".
enum class Overflow : std::uint8_t { infinity, nan, largest };

/// One row of the table: a sign (or none), an exponent field and a significand field, high to low.
/// The members about infinities, NaN and overflow play no part in an integer, whose conversions have
/// rules of their own (convert.h, IntegerRule).
struct FormatSpec {
  Format format;
  std::string_view name;
  int exponent_bits;
  int significand_bits;  ///< stored bits, without the leading one
  int exponent_bias;
  bool infinities;
  NanCodes nan_codes;
  Overflow overflow;
  bool is_signed;
  FormatKind kind = FormatKind::floating;

  [[nodiscard]] constexpr int width() const { return (is_signed ? 1 : 0) + exponent_bits + significand_bits; }
  /// Of an array element. A format narrower than a byte takes the low bits of one.
  [[nodiscard]] constexpr std::size_t bytes() const { return static_cast<std::size_t>(width() + 7) / 8; }
  [[nodiscard]] constexpr int bias() const { return exponent_bias; }
  [[nodiscard]] constexpr int exponent_mask() const { return (1 << exponent_bits) - 1; }
  /// 0 where there is no sign.
  [[nodiscard]] constexpr std::uint64_t sign_bit() const {
    return is_signed ? std::uint64_t{1} << (exponent_bits + significand_bits) : 0;
  }
  [[nodiscard]] constexpr std::uint64_t magnitude_mask() const {
    return (std::uint64_t{1} << (exponent_bits + significand_bits)) - 1;
  }
  [[nodiscard]] constexpr std::uint64_t significand_mask() const { return (std::uint64_t{1} << significand_bits) - 1; }
  /// The largest exponent with significand 0: infinity where `infinities`, a finite number elsewhere.
  [[nodiscard]] constexpr std::uint64_t infinity() const {
    return static_cast<std::uint64_t>(exponent_mask()) << significand_bits;
  }
  /// Magnitudes 0 .. largest_finite() are the finite numbers, in increasing order.
  [[nodiscard]] constexpr std::uint64_t largest_finite() const {
    if (nan_codes == NanCodes::ieee) return infinity() - 1;
    return nan_codes == NanCodes::all_ones ? magnitude_mask() - 1 : magnitude_mask();
  }
  /// The leading significand bit. Means "quiet" where the NaN codes are those of IEEE 754.
  [[nodiscard]] constexpr std::uint64_t quiet_bit() const { return (std::uint64_t{1} << significand_bits) >> 1; }
  [[nodiscard]] constexpr std::uint64_t all_bits() const { return magnitude_mask() | sign_bit(); }
  [[nodiscard]] constexpr bool is_integer() const { return kind == FormatKind::integer; }
  /// Significant bits of a number, the leading one included.
  [[nodiscard]] constexpr int precision() const { return significand_bits + (is_integer() ? 0 : 1); }
  [[nodiscard]] constexpr bool has_zero() const { return kind != FormatKind::power_of_two; }
  [[nodiscard]] constexpr bool has_negative_zero() const {
    return kind == FormatKind::floating && is_signed && nan_codes != NanCodes::negative_zero;
  }
  [[nodiscard]] constexpr bool has_nan() const { return nan_codes != NanCodes::none; }
};

/// The table: one row per format, in the order of the enumeration. Sources: IEEE 754-2019 table 3.5
/// (f64, f32, f16); OCP FP8 1.0 (e5m2, e4m3fn) and OCP MX 1.0 (e8m0, e3m2, e2m3, e2m1); ml_dtypes
/// (e4m3 and e3m4, in the manner of IEEE 754; the fnuz formats). An overflow of e4m3fn, fnuz and e8m0
/// is NaN unless saturating; e3m2, e2m3 and e2m1 always saturate. Scales of blocks: ue4m3, which is e4m3fn
/// whose sign bit is no part of the number (NVFP4 of PTX and ggml), and e5m3, eight bits without sign, all
/// ones NaN (largest 114688; AMD's FP4 blocks, Transformer Engine). The integers are two's complement.
inline constexpr std::array<FormatSpec, 19> kFormatTable{{
    {Format::f64, "f64", 11, 52, 1023, true, NanCodes::ieee, Overflow::infinity, true},
    {Format::f32, "f32", 8, 23, 127, true, NanCodes::ieee, Overflow::infinity, true},
    {Format::f16, "f16", 5, 10, 15, true, NanCodes::ieee, Overflow::infinity, true},
    {Format::bf16, "bf16", 8, 7, 127, true, NanCodes::ieee, Overflow::infinity, true},
    {Format::e5m2, "e5m2", 5, 2, 15, true, NanCodes::ieee, Overflow::infinity, true},
    {Format::e4m3, "e4m3", 4, 3, 7, true, NanCodes::ieee, Overflow::infinity, true},
    {Format::e3m4, "e3m4", 3, 4, 3, true, NanCodes::ieee, Overflow::infinity, true},
    {Format::e4m3fn, "e4m3fn", 4, 3, 7, false, NanCodes::all_ones, Overflow::nan, true},
    {Format::e4m3fnuz, "e4m3fnuz", 4, 3, 8, false, NanCodes::negative_zero, Overflow::nan, true},
    {Format::e5m2fnuz, "e5m2fnuz", 5, 2, 16, false, NanCodes::negative_zero, Overflow::nan, true},
    {Format::e4m3b11fnuz, "e4m3b11fnuz", 4, 3, 11, false, NanCodes::negative_zero, Overflow::nan, true},
    {Format::e8m0, "e8m0", 8, 0, 127, false, NanCodes::all_ones, Overflow::nan, false, FormatKind::power_of_two},
    {Format::e3m2, "e3m2", 3, 2, 3, false, NanCodes::none, Overflow::largest, true},
    {Format::e2m3, "e2m3", 2, 3, 1, false, NanCodes::none, Overflow::largest, true},
    {Format::e2m1, "e2m1", 2, 1, 1, false, NanCodes::none, Overflow::largest, true},
    {Format::ue4m3, "ue4m3", 4, 3, 7, false, NanCodes::all_ones, Overflow::nan, false},
    {Format::e5m3, "e5m3", 5, 3, 15, false, NanCodes::all_ones, Overflow::nan, false},
    {Format::i8, "i8", 0, 7, 0, false, NanCodes::none, Overflow::largest, true, FormatKind::integer},
    {Format::i32, "i32", 0, 31, 0, false, NanCodes::none, Overflow::largest, true, FormatKind::integer},
}};
/// The floating formats of 16 bits and more come first; conversions among them are compiled pair by pair.
inline constexpr std::size_t kWideFormats = 4;

[[nodiscard]] constexpr std::span<const FormatSpec> all_formats() { return kFormatTable; }
[[nodiscard]] constexpr const FormatSpec& spec(Format format) { return kFormatTable[static_cast<std::size_t>(format)]; }
/// By the name in the table; `ue8m0` and `ue5m3` also name e8m0 and e5m3.
[[nodiscard]] std::optional<Format> format_named(std::string_view name);
/// "f64, f32, f16, …": for messages.
[[nodiscard]] std::string_view format_names();

// Bits above the format's width are no part of a number: every function of this room ignores them.

[[nodiscard]] constexpr bool is_nan(const FormatSpec& s, std::uint64_t bits) {
  switch (s.nan_codes) {
    case NanCodes::ieee: return (bits & s.magnitude_mask()) > s.infinity();
    case NanCodes::all_ones: return (bits & s.magnitude_mask()) == s.magnitude_mask();
    case NanCodes::negative_zero: return (bits & s.all_bits()) == s.sign_bit();
    case NanCodes::none: return false;
  }
  return false;
}
[[nodiscard]] constexpr bool is_infinite(const FormatSpec& s, std::uint64_t bits) {
  return s.infinities && (bits & s.magnitude_mask()) == s.infinity();
}
[[nodiscard]] constexpr bool is_zero(const FormatSpec& s, std::uint64_t bits) {
  if (s.is_integer()) return (bits & s.all_bits()) == 0;
  return s.has_zero() && (bits & s.magnitude_mask()) == 0 && !is_nan(s, bits);
}
[[nodiscard]] constexpr bool is_subnormal(const FormatSpec& s, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & s.magnitude_mask();
  return s.kind == FormatKind::floating && magnitude != 0 && magnitude <= s.significand_mask();
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
  if (s.bytes() == 1) return *at;
  if (s.bytes() == 2) return load_little_endian<std::uint16_t>(at);
  return s.bytes() == 4 ? load_little_endian<std::uint32_t>(at) : load_little_endian<std::uint64_t>(at);
}
inline void store_element(const FormatSpec& s, std::span<std::uint8_t> bytes, std::size_t index, std::uint64_t bits) {
  std::uint8_t* const at = bytes.data() + index * s.bytes();
  if (s.bytes() == 1)
    *at = static_cast<std::uint8_t>(bits);
  else if (s.bytes() == 2)
    store_little_endian(at, static_cast<std::uint16_t>(bits));
  else if (s.bytes() == 4)
    store_little_endian(at, static_cast<std::uint32_t>(bits));
  else
    store_little_endian(at, bits);
}

}  // namespace packcheck
