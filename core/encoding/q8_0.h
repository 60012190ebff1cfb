// core/encoding/q8_0.h: blocks of signed bytes.
//
//   q8_0  32 elements in 34 bytes: half d @0, 32 codes @2
//   q8_1  32 elements in 36 bytes: half d @0, half s @2, 32 codes @4; s = d · (sum of the codes)
//   q8_K  256 elements in 292 bytes: single d @0, 256 codes @4, 16 sums of 16 codes @260 (decode only)
// value = code·d; the sums serve dot products and are not read by a decoder.
//
// Source of the rules: ggml src/ggml-common.h (block_q8_0, block_q8_1, block_q8_K), src/ggml-quants.c
// (quantize_row_q8_0_ref, quantize_row_q8_1_ref, dequantize_row_q8_0, dequantize_row_q8_K); ggml has
// no decoder of q8_1, which it only makes on the way to dot products. d = max|x| / 127 in f32,
// code = roundf(x · (1/d)) with the f32 d, not the stored half. The maximum is taken with
// `max > |x| ? max : |x|`, so a NaN makes the maximum NaN and the next element replaces it.
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// One block: 32 floats in, 34 bytes out.
void q8_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
/// One block: 34 bytes in, 32 floats out.
bool q8_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// One block of q8_0 or q8_1: 32 floats in, 32 bounds out.
void q8_0_bound_block(const BlockRules& rules, const float* values, double* bounds);

/// One block: 32 floats in, 36 bytes out.
void q8_1_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
/// One block: 36 bytes in, 32 floats out.
bool q8_1_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);

/// One block: 292 bytes in, 256 floats out.
bool q8_k_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);

}  // namespace packcheck
