// core/encoding/bounds.h: how far one decoded element may be from the number that was encoded.
//
// Notation: A the largest magnitude of the block, d the scale in f32, D the stored scale,
// u = 2^-24 (half an ulp of f32 at 1), r = x/d exactly, q the code (without offset), y = q·D.
// y is exact in f32: q has at most 8 bits and D 11, and D is a multiple of 2^-24.
//
//   |x - y| <= |x - q·d| + |q|·|d - D|                                         (triangle)
//
// The derivations are per family, beside the code: bound_terms.h (q4_0 q5_0 q8_0 q8_1 tq1_0 tq2_0
// q2_0; with a minimum: q4_1 q5_1) and the families' own files (q1_0, fp4, mlx_affine_bound.cc, microscaling.h,
// nvfp4_tensor.h).
// A bound says nothing (infinite) when the block has a NaN or an infinity, D is infinite, or the rule
// itself is undefined.
#pragma once

#include <cstddef>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

/// The proved bounds of |x - dequantize(quantize(x))| for the elements of one block; both spans have
/// encoding.block_size elements. Infinity where nothing is promised, and for an encoding that has
/// no quantizer.
void error_bounds(const Encoding& encoding, std::span<const float> block, std::span<double> bounds);
/// The bound of element `index` alone.
[[nodiscard]] double error_bound(const Encoding& encoding, std::span<const float> block, std::size_t index);

}  // namespace packcheck
