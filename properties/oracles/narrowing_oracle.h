// properties/oracles/narrowing_oracle.h: nearest-even narrowing of f32, fast enough for all 2^32 inputs.
//
// Oracle for exhaustive sweeps of f32 -> f16 and f32 -> bf16 over any subject. Whole numbers only:
// a bias that depends on the last kept bit is added before one shift, so that the carry does the
// rounding; no half bit, no sticky bit, no branch. NaN: sign and top payload bits kept, quiet bit
// set. Proved by tests/core/narrowing_oracle_test.cc: against MPFR on 10^7 numbers, against F16C and
// against format_oracle.h. Change it only with those tests at hand, and keep it vectorisable.
#pragma once

#include <cstddef>
#include <cstdint>

namespace packcheck::oracle {

/// out[i] = the half nearest to in[i], for i below `count`. The arrays don't overlap.
void narrow_f32_to_f16(const std::uint32_t* in, std::uint16_t* out, std::size_t count);
/// out[i] = the bfloat16 nearest to in[i], for i below `count`. The arrays don't overlap.
void narrow_f32_to_bf16(const std::uint32_t* in, std::uint16_t* out, std::size_t count);

/// Whether this processor converts to halves in hardware.
[[nodiscard]] bool has_f16c();
/// As narrow_f32_to_f16, by the processor's own instruction. Where has_f16c() is false it returns
/// false and leaves `out` as it is.
bool f16c_narrow(const std::uint32_t* in, std::uint16_t* out, std::size_t count);

}  // namespace packcheck::oracle
