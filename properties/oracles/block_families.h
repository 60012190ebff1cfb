// properties/oracles/block_families.h: what the block oracle is made of, for its own files.
//
// Arithmetic is done in double and rounded to f32 where the rule has an f32 operation: the operation in
// double has at least 2·24 + 2 bits, so rounding its result once more to 24 bits gives what rounding
// the exact result would (Figueroa 1995). Products are exact in double anyway, and so are sums that are
// subnormal in f32. A quotient that is subnormal in f32 is a/n with a a multiple of 2^-149 and n up to
// 128: it is a midpoint between two subnormals or at least 2^-9 of a step away from one, which double
// keeps apart. All of it runs in the default environment (block_oracle.cc sees to that).
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "properties/oracles/block_oracle.h"
#include "properties/oracles/half_value.h"

namespace packcheck::oracle {

inline double as_f32(double exact_or_double) { return static_cast<double>(static_cast<float>(exact_or_double)); }
inline double times(double a, double b) { return as_f32(a * b); }
inline double divided(double a, double b) { return as_f32(a / b); }
inline double plus(double a, double b) { return as_f32(a + b); }
inline double reciprocal_or_zero(double d) { return d == 0.0 ? 0.0 : divided(1.0, d); }

/// Writes one block and says which of its bits are defined. Nothing is until it is set.
class BlockWriter {
 public:
  BlockWriter(ExpectedBlocks& blocks, std::size_t start) : blocks_(blocks), start_(start) {}

  /// Defines the bits of `mask` of a byte.
  void set(std::size_t offset, unsigned byte, unsigned mask = 0xFF) {
    blocks_.bytes[start_ + offset] |= static_cast<std::uint8_t>(byte & mask);
    blocks_.specified[start_ + offset] |= static_cast<std::uint8_t>(mask);
  }
  void half(std::size_t offset, std::uint16_t code) {
    set(offset, code % 256U);
    set(offset + 1, code / 256U);
  }
  /// A single; of a NaN only that it is a quiet one is defined.
  void single(std::size_t offset, double value) {
    if (std::isnan(value)) {
      set(offset + 2, 0xC0, 0xC0);
      set(offset + 3, 0x7F, 0x7F);
      return;
    }
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (std::size_t i = 0; i < 4; ++i, bits /= 256) set(offset + i, bits % 256);
  }

 private:
  ExpectedBlocks& blocks_;
  std::size_t start_;
};

using Block = std::span<const std::uint8_t>;

inline double half_at(Block block, std::size_t offset) {
  return half_value(static_cast<std::uint16_t>(block[offset] + 256 * block[offset + 1]));
}
inline double single_at(Block block, std::size_t offset) {
  const std::uint32_t high = block[offset + 2] + 256U * block[offset + 3];
  return static_cast<double>(std::bit_cast<float>(block[offset] + 256U * block[offset + 1] + 65536U * high));
}
inline int signed_byte(unsigned byte) { return byte < 128 ? static_cast<int>(byte) : static_cast<int>(byte) - 256; }

/// One encoding in one dialect.
struct BlockFamily {
  std::string_view id;
  std::size_t elements;
  std::size_t bytes;
  void (*quantize)(std::span<const float> values, BlockWriter block);  ///< null: decoded only
  void (*dequantize)(Block block, double* values);                     ///< exact, or rounded as the rule says
  /// Bytes per block of each plane of the array, zeros after the last; all zeros: blocks one after another.
  std::array<std::size_t, 10> planes{};
  bool (*accepts)(std::span<const float> values) = nullptr;  ///< null: every block is encoded
};

/// The row of an encoding; null for an unknown one.
[[nodiscard]] const BlockFamily* family_of(std::string_view encoding);

/// The integer nearest to `x`, a half to the even one, as Kotlin makes an Int of it: NaN gives 0, the rest saturates.
[[nodiscard]] std::int64_t kotlin_round(double x);

[[nodiscard]] std::span<const BlockFamily> byte_families();     ///< q8_0 q8_1 q8_K
[[nodiscard]] std::span<const BlockFamily> nibble_families();   ///< q4_0 q4_1 q5_0 q5_1
[[nodiscard]] std::span<const BlockFamily> k_families();        ///< q2_K … q6_K
[[nodiscard]] std::span<const BlockFamily> ternary_families();  ///< tq1_0 tq2_0 q1_0 q2_0
[[nodiscard]] std::span<const BlockFamily> affine_families();   ///< mlx_affine(BITS,GROUP)
[[nodiscard]] std::span<const BlockFamily>
microscaling_families();  ///< mxfp8_… mxfp6_… mxint8, mxfp4 and nvfp4 but ggml's
[[nodiscard]] std::span<const BlockFamily> column_families();   ///< gptq_int4 awq_int4
[[nodiscard]] std::span<const BlockFamily> table_families();    ///< iq4_nl iq4_xs mxfp4 nvfp4
[[nodiscard]] std::span<const BlockFamily> skainet_families();  ///< ternary bitnet_b1_58 i2_s bitnet_planes i8_absmax
[[nodiscard]] std::span<const BlockFamily> rotated_families();  ///< turboquant_polar

}  // namespace packcheck::oracle
