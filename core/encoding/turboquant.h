// core/encoding/turboquant.h: rotated vectors of small signed codes (SKaiNET's KV cache, without its residual).
//
//   turboquant_polar(BITS,BLOCK)  BLOCK elements (32 or 128): BLOCK·BITS/8 code bytes, then an f32 scale for each 32.
//                                 Codes lie in a little-endian bit stream, plus 2^(BITS-1); 8-bit ones are signed
//                                 bytes.
// SKaiNET keeps codes, scales and the seed of the rotation as an object; here they lie in that order, and the seed is
// its default, 0.
//
// Rotation: element i changes its sign where draw i of Kotlin's Random(0).nextBoolean() is true (xorwow of Marsaglia;
// the sign bit of each draw), then the Walsh-Hadamard transform by butterflies of distance 1, 2, 4, … in f32, each
// element last times fl(1/fl(sqrt(BLOCK))). The way back is the transform, then the signs.
// Encoding, for 32 rotated elements z: scale = fl(max|z|/M) with M = 2^(BITS-1) - 1, code = z·(1/scale), halves to
// even, clamped to ±M. A NaN in a group gives scale 0 and codes 0; an infinite scale codes 0, which decode to NaN.
// Decoding: fl(code·scale), then the way back. The code -2^(BITS-1), which no quantizer writes, is one like others.
// Source of the rules: SKaiNET RandomRotation.kt, ScalarQuantizer.kt, BitPacker.kt, TurboQuantCodec.kt.
#pragma once

#include <cstdint>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

inline constexpr unsigned kTurboquantGroup = 32;

void encode_polar(const BlockRules& rules, unsigned bits, std::span<const float> values, std::uint8_t* block);
void decode_polar(const BlockRules& rules, unsigned bits, const std::uint8_t* block, std::span<float> values);

/// The proved bound, the same for all elements of a block. n = BLOCK, u = 2^-24, R the exact rotation (orthogonal,
/// R' its inverse), z = Rx + f what the f32 transform gives, w_j = fl(q_j·scale) = z_j + e_j, y = R'w + b:
///   y - x = R'(f + e) + b,   |x_i - y_i| <= ||f|| + (sum of |e_j|)/sqrt(n) + ||b||
/// because every row of R' has norm 1 and entries ±1/sqrt(n).
///   |e_j| is at most single_step_error (bound_terms.h) with the largest code M; the largest element of a group has
///   code M whatever the rounding, and |e_j| = |z_j - M·scale|.
///   Each of log2(n) stages of sums is sqrt(2) times an orthogonal map and rounded by u of its results; the factor
///   by 2u, the last product by u, or 2^-150 where it is subnormal (sums never lose there):
///   ||f|| <= ((1 + u)^(log2(n) + 3) - 1)·||x|| + sqrt(n)·2^-150, and ||b|| the same with ||w||.
/// Nothing is promised where a sum may overflow: from sum of |w_j| = 2^127 on.
void bound_polar(unsigned bits, std::span<const float> values, double* bounds);

/// One block of floats in, its bytes out; one block of bytes in, its floats out.
template <unsigned kBits, unsigned kBlock>
void turboquant_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  encode_polar(rules, kBits, {values, kBlock}, block);
}
template <unsigned kBits, unsigned kBlock>
bool turboquant_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  decode_polar(rules, kBits, block, {values, kBlock});
  return true;
}
template <unsigned kBits, unsigned kBlock>
void turboquant_bound_block(const BlockRules&, const float* values, double* bounds) {
  bound_polar(kBits, {values, kBlock}, bounds);
}

}  // namespace packcheck
