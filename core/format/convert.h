// core/format/convert.h: exact conversion between formats, and the rules in which real systems differ.
#pragma once

#include "core/format/format.h"

namespace packcheck {

/// `stochastic`: away from zero if random_bits / 2^64 is below the discarded part, in units of the last
/// kept bit, so that with uniform random bits the expected result is the number itself. A codec that adds noise
/// below the last kept bit and cuts the sum is this one with the noise inverted: random_bits = ~noise.
/// `nearest_up`: ties toward positive infinity, floor(x + 1/2) (Math.round of Java and JavaScript).
/// Ties of e8m0, whose one-bit significand is always odd, go up in nearest_even (IEEE 754 §4.3.1).
enum class Rounding : std::uint8_t {
  nearest_even,
  nearest_away,
  toward_zero,
  upward,
  downward,
  stochastic,
  nearest_up
};

/// What becomes of a NaN. `quieted`: sign and top payload bits kept, quiet bit set (IEEE 754 §6.2.3,
/// F16C). `same_payload`: top payload bits kept as they are; a payload that would vanish sets the
/// quiet bit, since the result would be an infinity. `truncated`: top payload bits kept as they are, and
/// a payload that vanishes leaves an infinity (SKaiNET's Bf16Codec, which drops the low 16 bits of an f32).
/// These three differ only between formats with the NaN codes of IEEE 754. Elsewhere a NaN becomes the
/// target's NaN, with its sign if both formats give a NaN one, and -0 in a format without NaN.
/// `infinity`: what an infinity of its sign becomes (e8m0 of MLX and ggml, SKaiNET's private half).
/// `zero`: +0, and the NaN of a format without zero (ue4m3 of ggml).
enum class NanRule : std::uint8_t { quieted, same_payload, truncated, infinity, zero };

/// What becomes of a subnormal result or operand. `flushed`: a zero of its sign. `truncated`: operands are
/// kept; results below the smallest normal number are cut off, whatever the rounding (SKaiNET's private half).
enum class SubnormalRule : std::uint8_t { kept, flushed, truncated };

/// What becomes of a number that its integer format does not hold once it is rounded, and of NaN.
enum class IntegerRule : std::uint8_t {
  saturate,  ///< the nearest limit, NaN gives 0 (Kotlin, Java, Rust's `as`, WebAssembly's trunc_sat)
  wrap,      ///< saturates to 32 bits, NaN gives 0; then the low bits (Kotlin's toInt().toByte())
  refuse,    ///< convert_array() refuses the array; convert() saturates
  /// Past 32 bits, and for NaN, 0x80000000; then the low bits (x86's cvttss2si, the "integer indefinite")
  indefinite
};

/// How an integer becomes a floating-point number. `truncated`: cut off, whatever the rounding. Wrong; for a
/// faulty twin.
enum class FromInteger : std::uint8_t { rounded, truncated };

/// `through_f16`: wide to narrow by way of f16, which rounds twice. Wrong; for a faulty twin.
enum class ConvertPath : std::uint8_t { direct, through_f16 };

/// The choices of one converter; the defaults are the reference.
struct ConvertRules {
  Rounding rounding = Rounding::nearest_even;
  NanRule nan = NanRule::quieted;
  SubnormalRule subnormal = SubnormalRule::kept;
  /// Numbers past the largest, infinity included, become the largest (OCP FP8 1.0, saturating mode).
  /// A NaN stays what it is without.
  bool saturating = false;
  std::uint64_t random_bits = 0;  ///< of stochastic rounding
  ConvertPath path = ConvertPath::direct;
  IntegerRule integer = IntegerRule::saturate;
  FromInteger from_integer = FromInteger::rounded;
};

/// The number nearest to `bits` under `rules`. Where the rounding mode leads past the largest number
/// (IEEE 754 §7.4), and for an infinity, the overflow rule of the format decides; elsewhere the largest
/// finite number is the answer. A format without sign (e8m0) has no zero: zeros and negative numbers
/// become NaN, positive numbers below the smallest become the smallest; in other formats without sign
/// negative numbers become NaN and -0 becomes 0. To an integer: rounded to a whole number, then
/// rules.integer. Total: every bit pattern has an answer, and bits above the width of `from` are ignored.
[[nodiscard]] std::uint64_t convert(Format from, Format to, std::uint64_t bits, const ConvertRules& rules = {});
/// The same between any two floating formats, also ones that are in no table.
[[nodiscard]] std::uint64_t convert(const FormatSpec& from, const FormatSpec& to, std::uint64_t bits,
                                    const ConvertRules& rules = {});

/// Converts a little-endian array.
/// Refuses a byte size that is no multiple of the element size, two sizes that hold different counts, and
/// with IntegerRule::refuse, before anything is written, a number that `to` does not hold.
[[nodiscard]] Result<void> convert_array(Format from, Format to, std::span<const std::uint8_t> in,
                                         std::span<std::uint8_t> out, const ConvertRules& rules = {});

}  // namespace packcheck
