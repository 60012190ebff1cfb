// core/encoding/bounds.h: how far one decoded element may be from the number that was encoded.
//
// Notation: A the largest magnitude of the block, d the scale in f32, D the stored half,
// u = 2^-24 (half an ulp of f32 at 1), r = x/d exactly, q the code (without offset), y = q·D.
// y is exact in f32: q has at most 8 bits and D 11, and D is a multiple of 2^-24.
//
//   |x - y| <= |x - q·d| + |q|·|d - D|                                         (triangle)
//
// Scale term. |d - D| <= S(d): for nearest-even, half an ulp of the half format,
// max(2^-11·|d|, 2^-25); for skainet's codec the same above 2^-14 and a whole subnormal step 2^-24
// below, where it truncates.
//
// Code term. 1/d and x·(1/d) are rounded once each: p = r·(1+t) with |t| <= 2u + u^2 < 2^-22.9.
//   q8_0: q = roundf(p), |q - p| <= 1/2, so |r - q| <= 1/2 + |r|·2^-22.9. No code is clipped:
//         |p| <= 127·(1 + 3u) for a normal d, 127·(1 + 2^-21) for a subnormal one, rounds to at most 127.
//   q4_0: s = p + 8.5 is rounded once more, |s| < 17, error <= 2^-20, and truncated:
//         |r - q| <= 1/2 + |r|·2^-22.9 + 2^-20 unless s reaches 16. Then the code is clipped to 15
//         (q = 7) and |r - q| = r - 7 <= 1: one step.
// |q| <= |r| + |r - q|, and q is never larger in magnitude than 127 (q8_0) or 8 (q4_0).
// Where D is 0 (|d| <= 2^-25; skainet: |d| < 2^-24), y is 0 whatever the code is, also where 1/d
// overflows (|d| <= 2^-128): the error is |x| exactly.
// The bound says nothing (infinite) when the block has a NaN or an infinity or D is infinite.
#pragma once

#include <cstddef>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

/// The proved bound of |x - dequantize(quantize(x))| for element `index` of one block.
/// `block` has encoding.block_size elements. Infinity where nothing is promised.
[[nodiscard]] double error_bound(const Encoding& encoding, std::span<const float> block, std::size_t index);

}  // namespace packcheck
