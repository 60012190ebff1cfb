// properties/describe.h: numbers and bytes in reports: the bits first, then what they mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/format/format.h"

namespace packcheck {

/// "0x3c01 (1.0009765625)", "0x7e00 (NaN)".
[[nodiscard]] std::string describe(Format format, std::uint64_t bits);
[[nodiscard]] std::string describe(float value);
/// "00 80 88 88 …": at most `most` bytes.
[[nodiscard]] std::string describe_bytes(std::span<const std::uint8_t> bytes, std::size_t most = 64);
/// As describe_bytes(); of more than 64 bytes only those about the one at `at`: "bytes 56 to 65: 54 55 …".
[[nodiscard]] std::string describe_bytes_about(std::span<const std::uint8_t> bytes, std::size_t at);
/// Quoted, with bytes outside printable ASCII as \xNN, at most 120 characters.
[[nodiscard]] std::string describe_text(std::string_view text);

/// Which rule a conversion exercised, for signatures: "nan", "infinity", "zero", "subnormal operand",
/// "overflow", "out of range" (of an integer), "no sign" (a negative number for a format without one),
/// "subnormal result", "underflow to zero", "exact", "tie or inexact".
[[nodiscard]] std::string conversion_class(Format from, Format to, std::uint64_t in, std::uint64_t expected);

}  // namespace packcheck
