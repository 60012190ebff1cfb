// core/encoding/nvfp4_tensor.h: NVFP4 with its two scales, nvfp4_tensor(256):nvidia.
//
// One block is a whole tensor of 256 numbers (Blocking::tensor): bytes 0 to 3 the tensor's scale T, an f32;
// bytes 4 to 19 an e4m3fn scale for each 16 numbers; then 128 bytes of e2m1 codes, the even number of a byte
// low. The rule is that of NVIDIA's TensorRT Model Optimizer; the order of the bytes is chosen here, since its
// checkpoints keep the three as tensors of their own.
// Quantizer, every operation in f32: T = A/2688 (448·6), A the largest magnitude of the tensor. A block scale is
// (a/6)/T, a the largest magnitude of its 16 numbers, nearest even and at most 448: where T is a subnormal
// number, the quotient may be 1.5 times that, and without the clamp a NaN would be stored. With D = scale·T a
// code is x/D, nearest even and at most 6; 0 where D is 0. A NaN or an infinity anywhere makes T a NaN and
// all else 0. Decoding: code·(scale·T), the product in brackets rounded to f32 first.
#pragma once

#include "core/encoding/encoding.h"

namespace packcheck {

void nvfp4_tensor_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block);
bool nvfp4_tensor_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values);
/// D is known. v = |x|/D is rounded once, by 2^-24·v, and so is code·D, by 2^-24 of it or half the smallest single. So
/// |x - y| <= D·(element_error(v) + 2^-24·v) + max(2^-24·c·D, 2^-150), where c = min(6, v + element_error(v) +
/// 2^-24·v) is the largest code there may be. The last term is 0 where x is. Nothing is promised where c·D may
/// overflow, and |x| where D is 0.
void nvfp4_tensor_bound_block(const BlockRules& rules, const float* values, double* bounds);

}  // namespace packcheck
