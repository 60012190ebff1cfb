// core/encoding/q5.h: 32 elements with 5-bit codes: the low four bits as nibbles (byte j: element j
// low, element j+16 high), the fifth bits in a little-endian word (bit i: element i).
//
//   q5_0  22 bytes: half d @0, fifth bits @2, nibbles @6; value = (code - 16)·d
//   q5_1  24 bytes: half d @0, half m @2, fifth bits @4, nibbles @8; value = code·d + m
//
// Source of the rules: ggml src/ggml-quants.c (quantize_row_q5_0_ref, quantize_row_q5_1_ref and their
// dequantizers). q5_0 is q4_0 with d = extreme / -16 and code = truncate(x·(1/d) + 16.5), at most 31;
// q5_1 is q4_1 with d = (max - m)/31.
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// One block: 32 floats in, 22 bytes out.
void q5_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
/// One block: 22 bytes in, 32 floats out.
bool q5_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// One block: 32 floats in, 32 bounds out.
void q5_0_bound_block(const BlockRules& rules, const float* values, double* bounds);

/// One block: 32 floats in, 24 bytes out.
void q5_1_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
/// One block: 24 bytes in, 32 floats out.
bool q5_1_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// One block: 32 floats in, 32 bounds out.
void q5_1_bound_block(const BlockRules& rules, const float* values, double* bounds);

}  // namespace packcheck
