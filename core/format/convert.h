// core/format/convert.h: exact conversion between formats, and the rules in which real systems differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/format/format.h"

namespace packcheck {

/// `stochastic`: away from zero if random_bits / 2^64 is below the discarded part, in units of the last
/// kept bit, so that with uniform random bits the expected result is the number itself.
/// Ties of e8m0, whose one-bit significand is always odd, go up in nearest_even (IEEE 754 §4.3.1).
enum class Rounding : std::uint8_t { nearest_even, nearest_away, toward_zero, upward, downward, stochastic };

/// What becomes of a NaN. `quieted`: sign and top payload bits kept, quiet bit set (IEEE 754 §6.2.3,
/// F16C). `same_payload`: top payload bits kept as they are; a payload that would vanish sets the
/// quiet bit, since the result would be an infinity. `truncated`: top payload bits kept as they are, and
/// a payload that vanishes leaves an infinity (SKaiNET's Bf16Codec, which drops the low 16 bits of an f32).
/// The rules differ only between formats with the NaN codes of IEEE 754. Elsewhere a NaN becomes the
/// target's NaN, with its sign if both formats give a NaN one, and -0 in a format without NaN.
enum class NanRule : std::uint8_t { quieted, same_payload, truncated };

/// What becomes of a subnormal result or operand.
enum class SubnormalRule : std::uint8_t { kept, flushed };

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
};

[[nodiscard]] std::string_view rounding_name(Rounding rounding);
[[nodiscard]] std::optional<Rounding> rounding_named(std::string_view name);

/// The mode of a call as text: "nearest-even", "toward-zero,saturate", "stochastic:0123456789abcdef".
[[nodiscard]] std::string mode_text(const ConvertRules& rules);
/// The rules with which mode_text() gives `text`, the other members at their defaults.
[[nodiscard]] std::optional<ConvertRules> mode_named(std::string_view text);

/// The number nearest to `bits` under `rules`. Where the rounding mode leads past the largest number
/// (IEEE 754 §7.4), and for an infinity, the overflow rule of the format decides; elsewhere the largest
/// finite number is the answer. A format without sign (e8m0) has no zero: zeros and negative numbers
/// become NaN, positive numbers below the smallest become the smallest. Total: every bit pattern has an
/// answer, and bits above the width of `from` are ignored.
[[nodiscard]] std::uint64_t convert(Format from, Format to, std::uint64_t bits, const ConvertRules& rules = {});

/// Converts a little-endian array.
/// Refuses a byte size that is no multiple of the element size, or two sizes that hold different counts.
[[nodiscard]] Result<void> convert_array(Format from, Format to, std::span<const std::uint8_t> in,
                                         std::span<std::uint8_t> out, const ConvertRules& rules = {});

}  // namespace packcheck
