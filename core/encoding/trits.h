// core/encoding/trits.h: tensors of two-bit codes under one scale. value = (code - 1)·scale; code 3 means +2.
//
//   ternary(N)      N elements in ceil(N/4) + 4 bytes: element i in bits 2·(i mod 4) of byte i/4, then the f32 scale.
//                   SKaiNET keeps that scale beside the bytes; here it follows them, so that a block says all.
//   bitnet_b1_58(N) the same layout, with a quantizer; bits past the last element are 0
//   i2_s(128)       128 codes in 32 bytes and no scale: the tensor's lies after all of its codes (bitnet.cpp) or in a
//                   tensor of its own, and without either it is 1. So these blocks decode to the codes' own -1, 0, 1
//                   (and 2). Where element j of a group lies depends on who wrote the file:
//                     group_128   (bitnet.cpp on x86)  byte j mod 32, bits 6 - 2·(j/32)
//                     group_64    (bitnet.cpp on ARM)  two groups of 16 bytes: byte j mod 16, bits 6 - 2·(j/16)
//                     sequential  (neogpu)             byte j/4, bits 2·(j mod 4)
//                   SKaiNET's import refuses code 3. Here it is decoded to what SKaiNET's kernels make of it, +2: a
//                   decoder of blocks has a value for all bytes.
//
// Encoding (bitnet_b1_58): scale = mean of |x|, summed in double and divided there, then f32; code - 1 = x·(1/scale),
// halves to even, clamped to -1..1; NaN gives 0. A scale of 0 gives zeros.
// Source of the rules: SKaiNET TernaryTensorData.kt, TernaryCodec.kt, I2sRepack.kt, I2sScale.kt.
#pragma once

#include <cstdint>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

void encode_mean_trits(const BlockRules& rules, std::span<const float> values, std::uint8_t* block);
void decode_trits(const BlockRules& rules, const std::uint8_t* block, std::span<float> values);
/// bound_terms.h, single_step_error with the largest code 1: half a step, or for |x| > 3/2·scale what is cut off.
void bound_mean_trits(std::span<const float> values, double* bounds);

/// One block of floats in, its bytes out; one block of bytes in, its floats out.
template <unsigned kElements>
void bitnet_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  encode_mean_trits(rules, {values, kElements}, block);
}
template <unsigned kElements>
bool trits_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  decode_trits(rules, block, {values, kElements});
  return true;
}
template <unsigned kElements>
void bitnet_bound_block(const BlockRules&, const float* values, double* bounds) {
  bound_mean_trits({values, kElements}, bounds);
}

/// 128 elements, whose groups have so many: 128, 64, or 4 with the low bits first.
bool i2_s_128_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool i2_s_64_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool i2_s_sequential_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);

}  // namespace packcheck
