// core/encoding/packed_columns.h: 4-bit weights of GPTQ and AWQ checkpoints, decoded only.
//
// A weight matrix lies as [in, out]; a group of input rows shares a scale and a zero point per output column. A block
// here is 32 input rows (a group) by 8 output columns, which one 32-bit word of zero points serves: 256
// numbers in row-major order, and the bytes
//   0 to 127    the codes, 32 words          qweight
//   128 to 131  the zero points, one word    qzeros
//   132 to 147  8 halves, a column each      scales
// An array keeps them in three planes, so that G blocks are the three tensors of a [32·G, 8] matrix.
// gptq_int4: a word of codes holds 8 consecutive rows of one column, row 0 in the low bits; words [4, 8]. The zero word
// holds columns 0 to 7 from the low end. Dialect v1 (AutoGPTQ's format "gptq") stores a zero point less
// one, v2 ("gptq_v2") as it is; one more than 15 is 16.
// awq_int4: a word of codes holds the 8 columns of one row, words [32, 1], from the low end in the order 0, 2, 4,
// 6, 1, 3, 5, 7, which the zero word shares. Dialect gemm (AutoAWQ's version "gemm").
// value = scale·(code - zero point), an integer of 5 bits times a half: exact in f32. Kernels that compute in
// f16 round it once more.
#pragma once

#include "core/encoding/encoding.h"

namespace packcheck {

bool gptq_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
bool awq_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);

}  // namespace packcheck
