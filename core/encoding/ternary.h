// core/encoding/ternary.h: blocks of one or two bits per element, and of base-3 digits. value = (digit - 1)·d, q1_0:
// ±d.
//
//   tq1_0  256 elements in 54 bytes: 52 code bytes @0, half d @52. Bytes 0-31 hold five digits of elements
//          32n + j (byte j, n = 0..4), bytes 32-47 of elements 160 + 16n + j, bytes 48-51 four digits of
//          elements 240 + 4n + j. The digits make a number in base 3, the first most significant
//          (times 3 where there are four); the byte is ceil(number·256/243). Digit n of a byte b is
//          ((b·3^n mod 256)·3) >> 8.
//   tq2_0  256 elements in 66 bytes: 64 code bytes @0, half d @64. Element 128h + 32k + j: bits 2k of byte 32h + j
//   q1_0   128 elements in 18 bytes: half d @0, 16 bytes of bits @2, low bit first; 1 means +d, 0 -d
//   q2_0   64 elements in 18 bytes: half d @0, 16 bytes of 2-bit codes @2, low bits first; code 3 means 2·d
//
// Encoding: tq1_0, tq2_0, q2_0: d = max|x| in f32, digit = roundf(x·(1/d)) + 1, halves away from zero.
// tq1_0:skainet, tq2_0:skainet: halves to even, which differs where |x| = d/2; a NaN is the maximum (then d is
// NaN and every digit 1); where 1/d overflows, digits are saturated 32-bit integers plus 1 and tq2_0 keeps their low
// two bits, while tq1_0's sums wrap around: the scale is 0 there, so any digits mean zeros.
// q1_0: d = (sum of |x|, in order, in f32)/128, bit = x >= 0.
// Source of the rules: ggml src/ggml-common.h and src/ggml-quants.c (quantize_row_tq1_0_ref, …_tq2_0_ref,
// …_q1_0_ref, …_q2_0_ref and their dequantizers); the layouts of q1_0 and q2_0 as the library decodes; SKaiNET
// TernaryCodec.kt.
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// One block of floats in, its bytes out.
void tq1_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
void tq2_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
void q1_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
void q2_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);

/// One block of bytes in, its floats out. Every byte pattern has values.
bool tq1_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool tq2_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool q1_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool q2_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);

/// One block of floats in, as many bounds out. tq1_0 and tq2_0: bound_terms.h with d = A.
///
/// q1_0: y has the sign of x, so |x - y| = ||x| - D| <= ||x| - m| + |m - d| + |d - D|, m the exact mean of
/// |x|. The f32 sum of 128 numbers is rounded 127 times, each by at most u of a partial sum that is
/// no larger than the final one: |d - m| <= 127u·(1 + 128u)·m < 128u·m (and 2^-149 where d is subnormal).
void tq_bound_block(const BlockRules& rules, const float* values, double* bounds);
void q1_0_bound_block(const BlockRules& rules, const float* values, double* bounds);
void q2_0_bound_block(const BlockRules& rules, const float* values, double* bounds);

}  // namespace packcheck
