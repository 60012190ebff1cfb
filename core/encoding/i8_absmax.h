// core/encoding/i8_absmax.h: rows of signed bytes under a single. value = code·scale, rounded to f32.
//
//   i8_absmax(COLS)  a row of COLS elements in COLS + 4 bytes: signed bytes, then the f32 scale. A matrix holds the
//                    bytes of all its rows, then the scales.
//
// Encoding: scale = fl(max|x|/127), code = floor(x·(1/scale) + 1/2) (halves towards plus infinity), clamped to ±127; a
// row of zeros has scale 0 and codes 0. The real quantizer refuses to round a NaN, and so does this one: a row with a
// NaN or an infinity (whose product with 1/scale is NaN), and one with a zero whose 1/scale is infinite. A decoder
// takes the code -128, which no quantizer writes. Source of the rule: SKaiNET I8Absmax.kt.
#pragma once

#include <cstdint>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

void encode_i8(const BlockRules& rules, std::span<const float> row, std::uint8_t* block);
void decode_i8(const std::uint8_t* block, std::span<float> row);
[[nodiscard]] bool has_i8_codes(std::span<const float> row);
/// bound_terms.h, single_step_error with the largest code 127. No code but that of the largest element and its
/// equals is clipped, and scale is within 2^-150 of max|x|/127 where it is subnormal.
void bound_i8(std::span<const float> row, double* bounds);

/// One row of floats in, its bytes out; one row of bytes in, its floats out.
template <unsigned kColumns>
void i8_absmax_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  encode_i8(rules, {values, kColumns}, block);
}
template <unsigned kColumns>
bool i8_absmax_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  decode_i8(block, {values, kColumns});
  return true;
}
template <unsigned kColumns>
void i8_absmax_bound_block(const BlockRules&, const float* values, double* bounds) {
  bound_i8({values, kColumns}, bounds);
}
template <unsigned kColumns>
bool i8_absmax_accepts_block(const float* values) {
  return has_i8_codes({values, kColumns});
}

}  // namespace packcheck
