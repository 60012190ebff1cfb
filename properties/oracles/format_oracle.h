// properties/oracles/format_oracle.h: conversion between formats, a second time.
//
// Oracle for core/format/convert.h. Where the core shifts a significand and rounds the bits that
// fall off, this one never rounds: it searches the ordered list of target codes for the two
// neighbours of the exact number and compares the number with the point half way between them. Of
// the core it uses only the names (Format, Rounding and the struct of rules), never its table: it has
// one of its own, written as code lists. An integer format is the list of the whole numbers. Proved by
// tests/core/format_test.cc (every 16-bit code and edge patterns of the wider formats, against MPFR in all five
// rounding modes) and, for the narrow formats and the integers, by tests/core/narrow_format_test.cc and
// integer_format_test.cc. Change it only with a rule of IEEE 754 or OCP in hand.
#pragma once

#include <cstdint>

#include "core/format/convert.h"

namespace packcheck::oracle {

/// Whether `bits` is a NaN of `format`.
[[nodiscard]] bool is_nan(Format format, std::uint64_t bits);
/// Whether any code of `format` is a NaN.
[[nodiscard]] bool has_nan(Format format);

/// The code of `to` for `bits` of `from`, with the rounding, random bits, subnormal rule, saturation and
/// integer rule of `rules` (IntegerRule::refuse saturates; integer_holds() says what is refused); its other
/// members play no part. For a NaN that becomes no integer: quieted_nan().
[[nodiscard]] std::uint64_t convert(Format from, Format to, std::uint64_t bits, const ConvertRules& rules);

/// What a NaN becomes: sign and the top payload bits that fit are kept, the quiet bit is set.
[[nodiscard]] std::uint64_t quieted_nan(Format from, Format to, std::uint64_t bits);

/// What a NaN becomes when only bits are moved: sign and top payload bits kept as they are; where
/// nothing of the payload is left, the quiet bit is set, so that the result is still a NaN.
[[nodiscard]] std::uint64_t same_payload_nan(Format from, Format to, std::uint64_t bits);

/// What a NaN becomes when only bits are moved and nobody looks: as same_payload_nan(), but where nothing
/// of the payload is left, the result is an infinity.
[[nodiscard]] std::uint64_t truncated_nan(Format from, Format to, std::uint64_t bits);

/// What a NaN becomes under any of the rules between two floating formats.
[[nodiscard]] std::uint64_t nan_by_rule(Format from, Format to, std::uint64_t bits, NanRule rule);

/// Whether `format` is an integer.
[[nodiscard]] bool is_integer(Format format);
/// Whether the integer format `to` has the number that `bits` rounds to; it has no NaN.
[[nodiscard]] bool integer_holds(Format from, Format to, std::uint64_t bits, const ConvertRules& rules);

}  // namespace packcheck::oracle
