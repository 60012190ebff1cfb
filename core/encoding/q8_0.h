// core/encoding/q8_0.h: 32 elements in 34 bytes: half scale d, then 32 signed codes; value = code·d.
//
// Source of the rule: ggml src/ggml-quants.c (quantize_row_q8_0_ref). d = max|x| / 127 in f32,
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

}  // namespace packcheck
