// core/encoding/q4_0.h: 32 elements in 18 bytes: half scale d, then 16 bytes of 4-bit codes;
// value = (code - 8)·d.
//
// Source of the rule: ggml src/ggml-quants.c (quantize_row_q4_0_ref) and SKaiNET
// Q4_0Quantizer.kt. The first element of strictly largest magnitude keeps its sign: d = max / -8,
// code = truncate(x·(1/d) + 8.5), at most 15; so the opposite extreme of equal magnitude is clipped
// from 8 to 7, an error of one step. NaN never becomes the maximum.
#pragma once

#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// One block: 32 floats in, 18 bytes out.
void q4_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
/// One block: 18 bytes in, 32 floats out. Every byte pattern has values.
bool q4_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// One block: 32 floats in, 32 bounds out.
void q4_0_bound_block(const BlockRules& rules, const float* values, double* bounds);

}  // namespace packcheck
