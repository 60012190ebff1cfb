// properties/oracles/block_oracle.h: block quantization, a second time.
//
// Oracle for every encoding of core/encoding: one file per group (block_bytes.cc, block_nibbles.cc, block_k.cc,
// block_ternary.cc, block_tables.cc, block_affine.cc,
// block_microscaling.cc, block_columns.cc, block_skainet.cc, block_rotated.cc), one row per encoding. Arithmetic is
// done in double and rounded to f32 where the rule has an f32 operation (block_families.h); halves are read and written
// by value (half_value.h). It also says which bits a dialect defines at all, because ggml's C casts
// leave some to chance. Shares nothing with the core. Proved by tests/core/block_oracle_test.cc (golden
// blocks, halves against MPFR and F16C), compared with the core in tests/core/encoding_test.cc and
// with ggml's own library in tests/third_party/ggml_blocks_test.cc.
//
// Sources: ggml src/ggml-quants.c (the _ref quantizers and the row dequantizers), SKaiNET
// Q4_0Quantizer.kt, TernaryCodec.kt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace packcheck::oracle {

/// The blocks a quantizer must write.
struct ExpectedBlocks {
  std::vector<std::uint8_t> bytes;
  /// One mask per byte: a set bit is defined by the dialect, a clear bit may be anything (and is
  /// clear in `bytes`).
  std::vector<std::uint8_t> specified;
};

/// Whether a quantizer of this dialect takes these numbers; if not, it must refuse them. Only i8_absmax
/// refuses any: a row in which some x·(1/scale) is NaN.
[[nodiscard]] bool accepts(std::string_view encoding, std::span<const float> values);

/// The blocks for `values`. Nothing for an unknown dialect, one that is decoded only, a partial block, or numbers
/// that it refuses.
/// Undefined, and so not specified:
///   q8_0:ggml  the whole block when it holds a NaN (the order of C's MAX macro decides); the code
///              of an infinity (0 · infinity is cast to int8_t); all codes when 1/d overflows.
///   q4_0:ggml  the code of a NaN or an infinity, and all codes when 1/d overflows. The low code is
///              stored without a mask, so when it is undefined the whole byte is.
///   q4_1 q5_0 q5_1  as q4_0, except that 5-bit codes are masked, so that an undefined one leaves only its own bits
///   open. q8_1       as q8_0; the sum when any code is undefined or it is 0 · infinity. tq1_0 tq2_0 q2_0  as q8_0; a
///   byte of base-3 digits (and of q2_0's codes) when one of them is undefined. q1_0       the scale when it is NaN.
///   mxfp4      the whole block when the largest magnitude is below 2^-125 and not 0, or infinite.
///   mlx_affine, and mxfp4 mxfp8 nvfp4 of mlx  block_affine.cc and block_microscaling.cc tell.
///   ocp and nvidia  nothing: their rules speak of every number.
///   q4_0:skainet  nothing: Kotlin's conversion is total (NaN gives 0, the rest saturates).
///   tq1_0:skainet tq2_0:skainet bitnet_b1_58  of a scale that is NaN all but that it is a quiet one. The rest of
///              SKaiNET's, nothing.
[[nodiscard]] std::optional<ExpectedBlocks> quantize(std::string_view encoding, std::span<const float> values);

/// An array of `encoding` with each block's bytes together, from one with planes; and back. The functions
/// below and above take and give block order. A copy where the encoding has no planes. Nothing for an
/// unknown dialect or a partial block.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> block_order(std::string_view encoding,
                                                                   std::span<const std::uint8_t> array);
[[nodiscard]] std::optional<std::vector<std::uint8_t>> array_order(std::string_view encoding,
                                                                   std::span<const std::uint8_t> blocks);

/// The numbers in `blocks`. Nothing for an unknown dialect or a partial block. Every NaN is as good as another.
[[nodiscard]] std::optional<std::vector<float>> dequantize(std::string_view encoding,
                                                           std::span<const std::uint8_t> blocks);

}  // namespace packcheck::oracle
