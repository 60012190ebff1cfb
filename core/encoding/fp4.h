// core/encoding/fp4.h: 4-bit floats (sign, 2 exponent bits, 1 fraction bit: 0 .5 1 1.5 2 3 4 6) and 4-bit
// indices of a table, under scales per 16 or 32 elements.
//
//   mxfp4   32 elements in 17 bytes: exponent byte @0, 16 code bytes @1 (byte j: element j low, j+16 high).
//           Scale 2^(byte - 127); all 256 bytes are scales, also 255. The code 8 is +0.
//   nvfp4   64 elements in 36 bytes: four scale bytes @0, 32 code bytes @4. Scale i is an unsigned 4.3 float
//           (bias 7, subnormals; 0x7F is 0, the sign bit is ignored except that 0xFF is 480) of elements
//           16i..16i+15, which are in bytes 8i..8i+7: byte j low j, high j+8.
//   iq4_nl  32 elements in 18 bytes: half d @0, 16 index bytes @2, split order as q4_0; value = d·table[index]
//   iq4_xs  256 elements in 136 bytes: half d @0, high scale bits (u16) @2, four bytes of low scale nibbles @4,
//           128 index bytes @8. Sub-blocks of 32: scale = nibble | two bits << 4, minus 32; split order.
//
// mxfp4 encoding: A the largest |x| (NaN never wins), byte = floor(log2f(A)) - 2 + 127, 0 for A = 0; each code is the
// first nearest of the 16 values. Where the byte would be below 0 (A < 2^-125) C defines nothing.
// nvfp4, iq4_nl, iq4_xs are decoded only: their quantizers search.
// Source of the rules: ggml src/ggml-common.h, src/ggml-quants.c, src/ggml-impl.h (e8m0 and ue4m3 readers), and
// the values the library gives for each scale byte.
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// One block: 32 floats in, 17 bytes out.
void mxfp4_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
/// One block of bytes in, its floats out. Every byte pattern has values.
bool mxfp4_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool nvfp4_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool iq4_nl_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool iq4_xs_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);

/// mxfp4: y = k·s for the k that minimises fl|k·s - x| (k·s is exact, or infinite and so never nearest). The one
/// rounding is relative, at most u, so |x - y| <= (1+u)/(1-u)·(distance of x to the nearest k·s).
/// log2f may round up to the next integer for A just below a power of two (within 2^-16 of it, far more
/// than any libm errs): then s is one of two powers, and the larger bound holds. Nothing is promised
/// where 0 < A < 2^-125.
void mxfp4_bound_block(const BlockRules& rules, const float* values, double* bounds);

}  // namespace packcheck
