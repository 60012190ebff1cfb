// core/encoding/bitnet_planes.h: rows split into eight planes of trits. An element is
// scale·sum of (code_p - 1)·w_p over the planes p = 0..7, w_p = 3^-p.
//
//   bitnet_planes(COLS)  a row of COLS elements (a multiple of 4), 2·COLS + 2 bytes: eight planes of COLS/4 bytes,
//   element
//                        c in bits 2·(c mod 4) of byte c/4 of each, then a half. A matrix holds the first plane of all
//                        its rows, then the second …, then the halves.
//
// Encoding: scale = max|x| of the row, NaN ignored, stored as a half S (nearest even); v = x·(1/S), with 0 for 1/0. For
// each plane t = v rounded, a half to 0, at most 1 in magnitude (NaN: 0), code = t + 1, v = 3·(v - t), all in f32.
// Decoding: w_0 = 1, w_(p+1) = fl(w_p/3), a running f32 sum that starts with +0, times S. Code 3 means 2·w_p.
// A row with max|x| >= 65520 has an infinite half and decodes to NaN; one with max|x| <= 2^-25 has 0 and decodes to 0.
// Source of the rule: SKaiNET TernaryCodec.kt (encodeBitNetPlanes, decodeBitNetPlanesRow).
#pragma once

#include <cstdint>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

void encode_planes(const BlockRules& rules, std::span<const float> row, std::uint8_t* block);
void decode_planes(const BlockRules& rules, const std::uint8_t* block, std::span<float> row);

/// The proved bound, S > 0 the stored scale, r = |x|/S, u = 2^-24, T = sum of t_p·3^-p exactly.
///
/// The scale's own rounding costs nothing, because it is S that divides and multiplies, if only |v| <= 3/2
/// holds throughout: then |v - t| <= 1/2 and 3·(v - t) is within 3/2 again. At the start r <= 1 + 2^-11 where S is a
/// normal half, and |max - S| <= 2^-25 below, so r <= 1 + 2^-25/S: at most 5/4, or 3/2 where S = 2^-24, whose
/// reciprocal and products are exact. So
///   v_0 = r·(1 + e), |e| <= 2u + u^2, plus at most 2^-150 where the product is subnormal;
///   v - t is exact (t = 0, or 1/2 <= |v| <= 3/2: Sterbenz), 3·(v - t) is at most 3/2 and rounded by at most u;
///   |v_0 - T| = |v_8·3^-8 + the roundings| <= 3/2·3^-8 + u·(1/3 + 1/9 + …) < 3^-7/2 + u/2.
/// Decoding rounds w_p p times (sum of p·u·3^-p < 0.76u) and seven sums below 2 by at most u each, and the last
/// product by u·|sum| <= 1.51u. Together
///   |x - y| <= S·(3^-7/2 + u·(0.5 + 0.76 + 7 + 1.51 + 2.01·r)).
/// S = 0: y = 0, the bound is |x|.
void bound_planes(const BlockRules& rules, std::span<const float> row, double* bounds);

/// One row of floats in, its bytes out; one row of bytes in, its floats out.
template <unsigned kColumns>
void bitnet_planes_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  encode_planes(rules, {values, kColumns}, block);
}
template <unsigned kColumns>
bool bitnet_planes_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  decode_planes(rules, block, {values, kColumns});
  return true;
}
template <unsigned kColumns>
void bitnet_planes_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  bound_planes(rules, {values, kColumns}, bounds);
}

}  // namespace packcheck
