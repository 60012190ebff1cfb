// properties/oracles/half_value.h: binary16 read and written by value, for the other oracles.
//
// No bit of the f32 is looked at: decoding multiplies by a power of two, encoding divides by the
// spacing of halves around the number and rounds the quotient to an integer in double, which needs
// the default environment. Proved by tests/core/block_oracle_test.cc over every half, against
// MPFR and against F16C where the processor has it.
#pragma once

#include <cstdint>

namespace packcheck::oracle {

/// The number a half stands for; any NaN for a NaN.
[[nodiscard]] double half_value(std::uint16_t code);

/// The half nearest to `value`, ties to even. `value` is not NaN.
[[nodiscard]] std::uint16_t nearest_half(double value);

/// The half that SKaiNET's Q4_0 quantizer stores for `value`, which is not NaN: ties away from zero
/// in the normal range, below 2^-14 everything is cut off, from 65520 on infinity.
[[nodiscard]] std::uint16_t skainet_half(double value);

}  // namespace packcheck::oracle
