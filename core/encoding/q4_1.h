// core/encoding/q4_1.h: 32 elements in 20 bytes: half d @0, half m @2, 16 bytes of 4-bit codes @4
// (byte j: element j low, element j+16 high); value = code·d + m.
//
// Source of the rule: ggml src/ggml-quants.c (quantize_row_q4_1_ref, dequantize_row_q4_1).
// m is the least element, d = (max - m)/15 in f32, code = truncate((x - m)·(1/d) + 0.5), at most 15;
// m and d are stored as halves after the codes are chosen. NaN wins no comparison.
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// One block: 32 floats in, 20 bytes out.
void q4_1_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
/// One block: 20 bytes in, 32 floats out.
bool q4_1_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// One block: 32 floats in, 32 bounds out.
void q4_1_bound_block(const BlockRules& rules, const float* values, double* bounds);

}  // namespace packcheck
