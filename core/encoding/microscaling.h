// core/encoding/microscaling.h: microscaling blocks, an exponent that 32 elements share.
//
// Dialect ocp (OCP Microscaling Formats 1.0): mxfp8_e4m3, mxfp8_e5m2, mxfp6_e3m2, mxfp6_e2m3, mxfp4, mxint8.
// The specification leaves open how a block lies in memory; here byte 0 is the scale, and the elements follow
// as one little-endian bit stream: element i at bits i·width …, so two 4-bit elements to a byte, the
// even one low, and four 6-bit elements to 3 bytes. The scale is e8m0, 2^(byte - 127), 0xFF is NaN; an
// integer element is in two's complement with 6 fraction bits. value = element·2^(byte - 127).
// Quantizer: exponent = floor(log2 A) - emax, A the largest magnitude, emax the exponent of the largest
// element (8, 15, 4, 2, 2, 0), at least -127 and at most 127; -127 for a block of zeros. Elements are rounded
// to nearest even and saturate; integers at 127 of either sign. A NaN or an infinity in the block makes the
// scale 0xFF and the elements 0.
//
// Dialect mlx (MLX's CPU code, mlx/ops.cpp): mxfp4, mxfp8 (e4m3fn) of 32 numbers and nvfp4 of 16 whose scale is
// e4m3fn. An array keeps the elements (as u32, low bits first) in one plane and the scales in another.
// Scale exponent = round(log2(A/6)) or round(log2(A/448)) in f32, so that numbers above the largest element are
// clipped; a block of zeros has the byte 127, and an exponent below -127 wraps. nvfp4's scale is A/6, nearest
// even, 448 at most. 4-bit elements are the first of the nearest in the order of their codes, so that ties go to the
// smaller magnitude and what is nearest to zero is +0; differences are f32, and where they are all the same
// the first wins. 8-bit elements are nearest even, 448 at most, a NaN too. The scale byte 0xFF is an infinity.
#pragma once

#include "core/encoding/encoding.h"

namespace packcheck {

// `rules.element` is the element, `rules.exponent` how the exponent is found.
void microscaling_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
bool microscaling_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// The exponent is known, x/2^e is exact, and so is element·2^e (no element has more than 8 bits, and the
/// smallest is a multiple of 2^-16, where 2^-149 is the smallest single): the error is that of rounding
/// x/2^e to an element, times 2^e, or what lies above the largest element (A/2^e may be up to twice
/// 2^emax). A block whose exponent was raised to -127 rounds to smaller elements, by the same rule.
void microscaling_bound_block(const BlockRules& rules, const float* values, double* bounds);

void mlx_mx_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
bool mlx_mx_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// As microscaling_bound_block, with both exponents where the f32 logarithm may be on either side of a half
/// (it is off by at most an ulp, 2^-17, of a number below 256). Two differences |x/2^e - element| of
/// which the smaller wins are rounded to f32, so the winner is within 1 + 2^-23 of the nearest. Nothing is promised
/// for an exponent below -127, which wraps; where A/6 is rounded to 0, the exponent is 0.
void mlx_mx_bound_block(const BlockRules& rules, const float* values, double* bounds);

void mlx_nvfp4_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
bool mlx_nvfp4_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// D, the scale as stored, is known. v = |x|/D is rounded to f32 once, the differences too; element·D is exact (2 and 4
/// bits). So the error is D·(element_error(v) + 2^-24·v)·(1 + 2^-23) at most; |x| where D is 0.
void mlx_nvfp4_bound_block(const BlockRules& rules, const float* values, double* bounds);

}  // namespace packcheck
