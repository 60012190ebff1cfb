// properties/oracles/block_oracle.h: block quantization, a second time.
//
// Oracle for core/encoding in the dialects q8_0:ggml, q4_0:ggml and q4_0:skainet. Arithmetic is done
// in double and rounded to f32 where the rule has an f32 operation; halves are read and written by
// value (half_value.h). It also says which bits a dialect defines at all, because ggml's C casts
// leave some to chance. Shares nothing with the core. Proved by tests/core/block_oracle_test.cc (golden
// blocks, halves against MPFR and F16C) and compared with the core in tests/core/encoding_test.cc.
//
// Sources: ggml src/ggml-quants.c (quantize_row_q8_0_ref, quantize_row_q4_0_ref), SKaiNET
// Q4_0Quantizer.kt.
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

/// The blocks for `values`. Nothing for an unknown dialect or a count that is no multiple of 32.
/// Undefined, and so not specified:
///   q8_0:ggml  the whole block when it holds a NaN (the order of C's MAX macro decides); the code
///              of an infinity (0 · infinity is cast to int8_t); all codes when 1/d overflows.
///   q4_0:ggml  the code of a NaN or an infinity, and all codes when 1/d overflows. The low code is
///              stored without a mask, so when it is undefined the whole byte is.
///   q4_0:skainet  nothing: Kotlin's conversion is total (NaN gives 0, the rest saturates).
[[nodiscard]] std::optional<ExpectedBlocks> quantize(std::string_view encoding, std::span<const float> values);

/// The numbers in `blocks`. Nothing for an unknown dialect or a partial block. Every NaN is as good as another.
[[nodiscard]] std::optional<std::vector<float>> dequantize(std::string_view encoding,
                                                           std::span<const std::uint8_t> blocks);

}  // namespace packcheck::oracle
