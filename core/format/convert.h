// core/format/convert.h: exact conversion between formats, and the rules in which real systems differ.
#pragma once

#include <string_view>
#include <vector>

#include "core/format/format.h"

namespace packcheck {

enum class Rounding : std::uint8_t { nearest_even, nearest_away, toward_zero, upward, downward };

/// What becomes of a NaN. `quieted`: sign and top payload bits kept, quiet bit set (IEEE 754 §6.2.3,
/// F16C). `same_payload`: top payload bits kept as they are; a payload that would vanish sets the
/// quiet bit, since the result would be an infinity.
enum class NanRule : std::uint8_t { quieted, same_payload };

/// What becomes of a subnormal result or operand.
enum class SubnormalRule : std::uint8_t { kept, flushed };

/// The choices of one converter; the defaults are the reference.
struct ConvertRules {
  Rounding rounding = Rounding::nearest_even;
  NanRule nan = NanRule::quieted;
  SubnormalRule subnormal = SubnormalRule::kept;
};

[[nodiscard]] std::string_view rounding_name(Rounding rounding);
[[nodiscard]] std::optional<Rounding> rounding_named(std::string_view name);

/// The number nearest to `bits` under `rules`. Overflow gives an infinity where the rounding mode
/// says so (IEEE 754 §7.4), the largest finite number otherwise. Total: every bit pattern has an answer.
[[nodiscard]] std::uint64_t convert(Format from, Format to, std::uint64_t bits, const ConvertRules& rules = {});

/// Converts a little-endian array.
/// Refuses a byte size that is no multiple of the element size, or two sizes that hold different counts.
[[nodiscard]] Result<void> convert_array(Format from, Format to, std::span<const std::uint8_t> in,
                                         std::span<std::uint8_t> out, const ConvertRules& rules = {});

}  // namespace packcheck
