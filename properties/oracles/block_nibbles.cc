// The block oracle's encodings of 4 and 5 bits: q4_0 (ggml and SKaiNET), q4_1, q5_0, q5_1.
#include <array>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

constexpr std::size_t kElements = 32;
using Code = std::optional<int>;

/// The first element of the largest magnitude; NaN never wins a comparison.
double extreme_of(std::span<const float> x) {
  double extreme = 0.0;
  for (const float v : x)
    if (std::fabs(static_cast<double>(v)) > std::fabs(extreme)) extreme = static_cast<double>(v);
  return extreme;
}

/// (int8_t)shifted truncates; outside of int8_t, and for NaN, C defines nothing.
Code ggml_code(double shifted, int most) {
  if (!(shifted > -129.0 && shifted < 128.0)) return std::nullopt;
  const int code = static_cast<int>(std::trunc(shifted));
  return code < most ? code : most;
}

Code kotlin_code(double shifted) {
  if (std::isnan(shifted)) return 0;
  return static_cast<int>(std::fmin(15.0, std::fmax(0.0, std::trunc(shifted))));
}

/// Two 4-bit codes in a byte. ggml stores the low one unmasked, so an undefined one spills into the high half.
void set_spilling_pair(BlockWriter& block, std::size_t offset, Code low, Code high) {
  if (!low) return;
  block.set(offset, static_cast<unsigned>(*low), 0x0F);
  if (high) block.set(offset, static_cast<unsigned>(16 * *high), 0xF0);
}

void quantize_q4_0(std::span<const float> x, BlockWriter block, bool skainet) {
  const double d = divided(extreme_of(x), -8.0);
  const double inverse = reciprocal_or_zero(d);
  block.half(0, skainet ? skainet_half(d) : nearest_half(d));
  const auto code = [&](float v) {
    const double shifted = plus(times(static_cast<double>(v), inverse), 8.5);
    return skainet ? kotlin_code(shifted) : ggml_code(shifted, 15);
  };
  for (std::size_t j = 0; j < 16; ++j) set_spilling_pair(block, 2 + j, code(x[j]), code(x[j + 16]));
}
void quantize_q4_0_ggml(std::span<const float> x, BlockWriter block) { quantize_q4_0(x, block, false); }
void quantize_q4_0_skainet(std::span<const float> x, BlockWriter block) { quantize_q4_0(x, block, true); }

/// The least element and the step above it, as ggml finds them: from FLT_MAX downwards and -FLT_MAX
/// upwards, so a NaN changes neither.
struct Range {
  double least = 0x1.FFFFFEp127;
  double greatest = -0x1.FFFFFEp127;

  explicit Range(std::span<const float> x) {
    for (const float v : x) {
      if (static_cast<double>(v) < least) least = static_cast<double>(v);
      if (static_cast<double>(v) > greatest) greatest = static_cast<double>(v);
    }
  }
  [[nodiscard]] double step(double steps) const { return divided(plus(greatest, -least), steps); }
};

/// (x - m)·(1/d) + 0.5, an f32 operation each.
double shifted_above(float v, double least, double inverse) {
  return plus(times(plus(static_cast<double>(v), -least), inverse), 0.5);
}

/// Halves are undefined only where the number is NaN.
void set_half(BlockWriter& block, std::size_t offset, double value) {
  if (!std::isnan(value)) block.half(offset, nearest_half(value));
}

void quantize_q4_1(std::span<const float> x, BlockWriter block) {
  const Range range(x);
  const double d = range.step(15.0);
  const double inverse = reciprocal_or_zero(d);
  set_half(block, 0, d);
  set_half(block, 2, range.least);
  const auto code = [&](float v) { return ggml_code(shifted_above(v, range.least, inverse), 15); };
  for (std::size_t j = 0; j < 16; ++j) set_spilling_pair(block, 4 + j, code(x[j]), code(x[j + 16]));
}

/// 5-bit codes are masked, so an undefined one leaves only its own five bits open.
void set_five_bits(BlockWriter& block, std::size_t high_offset, std::size_t i, Code code) {
  if (!code) return;
  const unsigned five = static_cast<unsigned>(*code + 32) % 32;
  block.set(high_offset + i / 8, (five / 16) << (i % 8), 1U << (i % 8));
  block.set(high_offset + 4 + i % 16, i < 16 ? five % 16 : five % 16 * 16, i < 16 ? 0x0F : 0xF0);
}

void quantize_q5_0(std::span<const float> x, BlockWriter block) {
  const double d = divided(extreme_of(x), -16.0);
  const double inverse = reciprocal_or_zero(d);
  block.half(0, nearest_half(d));
  for (std::size_t i = 0; i < kElements; ++i)
    set_five_bits(block, 2, i, ggml_code(plus(times(static_cast<double>(x[i]), inverse), 16.5), 31));
}

void quantize_q5_1(std::span<const float> x, BlockWriter block) {
  const Range range(x);
  const double d = range.step(31.0);
  const double inverse = reciprocal_or_zero(d);
  set_half(block, 0, d);
  set_half(block, 2, range.least);
  for (std::size_t i = 0; i < kElements; ++i) {
    const double shifted = shifted_above(x[i], range.least, inverse);
    // (uint8_t)shifted, without a minimum.
    if (shifted > -1.0 && shifted < 256.0) set_five_bits(block, 4, i, static_cast<int>(shifted));
  }
}

int nibble_of_element(Block block, std::size_t codes, std::size_t i) {
  const int byte = block[codes + i % 16];
  return i < 16 ? byte % 16 : byte / 16;
}
int fifth_bit_of_element(Block block, std::size_t high, std::size_t i) { return block[high + i / 8] >> (i % 8) & 1; }

// code·D is exact in f32 (5 + 11 bits), the sum with a minimum is rounded once: in double it is exact.
void dequantize_q4_0(Block block, double* values) {
  const double d = half_at(block, 0);
  for (std::size_t i = 0; i < kElements; ++i) values[i] = (nibble_of_element(block, 2, i) - 8) * d;
}
void dequantize_q4_1(Block block, double* values) {
  const double d = half_at(block, 0);
  const double m = half_at(block, 2);
  for (std::size_t i = 0; i < kElements; ++i) values[i] = nibble_of_element(block, 4, i) * d + m;
}
void dequantize_q5_0(Block block, double* values) {
  const double d = half_at(block, 0);
  for (std::size_t i = 0; i < kElements; ++i)
    values[i] = (nibble_of_element(block, 6, i) + 16 * fifth_bit_of_element(block, 2, i) - 16) * d;
}
void dequantize_q5_1(Block block, double* values) {
  const double d = half_at(block, 0);
  const double m = half_at(block, 2);
  for (std::size_t i = 0; i < kElements; ++i)
    values[i] = (nibble_of_element(block, 8, i) + 16 * fifth_bit_of_element(block, 4, i)) * d + m;
}

constexpr std::array<BlockFamily, 5> kFamilies{{{"q4_0:ggml", 32, 18, quantize_q4_0_ggml, dequantize_q4_0},
                                                {"q4_0:skainet", 32, 18, quantize_q4_0_skainet, dequantize_q4_0},
                                                {"q4_1:ggml", 32, 20, quantize_q4_1, dequantize_q4_1},
                                                {"q5_0:ggml", 32, 22, quantize_q5_0, dequantize_q5_0},
                                                {"q5_1:ggml", 32, 24, quantize_q5_1, dequantize_q5_1}}};

}  // namespace

std::span<const BlockFamily> nibble_families() { return kFamilies; }

}  // namespace packcheck::oracle
