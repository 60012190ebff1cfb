// core/encoding/mlx_affine.h: MLX's affine groups, mlx_affine(BITS,GROUP).
//
// A group of 32, 64 or 128 numbers of a row: codes of 2, 3, 4, 5, 6 or 8 bits, a scale and a bias in the
// format of the original weights. A block's bytes are the codes, then the scale, then the bias; an array
// keeps them in three planes (weights [out, in·bits/32] as u32, scales and biases [out, in/group]), so
// that the codes of a row are one little-endian bit stream: element i at bits i·bits … (BitPacking).
//
// Quantizer (mlx/backend/cpu/quantized.cpp; the kernels under mlx/backend/metal and mlx/backend/cuda), in
// f32, n = 2^bits - 1:
//   s = max((greatest - least)/n, 1e-7)
//   |least| > |greatest|: edge = least; else, also when equal: edge = greatest and s = -s
//   k = round(edge/s); k is not 0: s = edge/k and b = edge; else b = 0
//   code = round((x - b)/s), at least 0, at most n
// Scale and bias are then rounded to their format; the codes stay. So a scale is often negative, and a
// bias is the number of largest magnitude. Rounding: halves to even on the CPU (rint), away from zero on a
// GPU (round). The greatest number starts at -infinity on the CPU, at 0 on a GPU. Decoding: the CPU rounds
// code·scale and the sum to the format of the scale; a GPU fuses both and rounds once.
//
// A NaN is passed over in the search for the extremes; its code is the C cast of a NaN, here 0. An infinity
// makes the scale NaN. A group of one number c decodes to c. Where |c| is above 3.4e31, k is infinite and
// the scale 0, and every code is the cast of 0/0.
#pragma once

#include "core/encoding/encoding.h"

namespace packcheck {

// `rules.affine` tells bits, group and format.
void mlx_affine_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
bool mlx_affine_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// The bound of |x - y|, derived in mlx_affine_bound.cc.
void mlx_affine_bound_block(const BlockRules& rules, const float* values, double* bounds);

/// The scale and the bias of a group in f32, before they are stored.
struct AffineGroup {
  float scale;
  float bias;
};
[[nodiscard]] AffineGroup affine_group_of(const BlockRules& rules, std::span<const float> values);
/// A scale or a bias as its format keeps it.
[[nodiscard]] float stored_number(Format storage, float number);

}  // namespace packcheck
