// The block oracle's encodings of signed bytes: q8_0, q8_1, q8_K.
#include <array>
#include <limits>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

struct Codes {
  double d = 0.0;
  std::array<std::optional<int>, 32> codes;
};

/// Nothing where the block holds a NaN: then nothing of it is defined.
std::optional<Codes> codes_of(std::span<const float> x) {
  double largest = 0.0;
  for (const float v : x) {
    if (std::isnan(v)) return std::nullopt;
    largest = std::fmax(largest, std::fabs(static_cast<double>(v)));
  }
  Codes result;
  result.d = divided(largest, 127.0);
  const double inverse = reciprocal_or_zero(result.d);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double scaled = times(static_cast<double>(x[i]), inverse);
    // roundf rounds halves away from zero; adding 0.5 is exact in double at this size.
    const double code = std::copysign(std::floor(std::fabs(scaled) + 0.5), scaled);
    if (code > -129.0 && code < 128.0) result.codes[i] = static_cast<int>(code);
  }
  return result;
}

void quantize_q8_0(std::span<const float> x, BlockWriter block) {
  const std::optional<Codes> result = codes_of(x);
  if (!result) return;
  block.half(0, nearest_half(result->d));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (result->codes[i]) block.set(2 + i, static_cast<unsigned>(*result->codes[i] + 256));
}

void quantize_q8_1(std::span<const float> x, BlockWriter block) {
  const std::optional<Codes> result = codes_of(x);
  if (!result) return;
  block.half(0, nearest_half(result->d));
  int sum = 0;
  bool defined = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    defined = defined && result->codes[i];
    if (!result->codes[i]) continue;
    sum += *result->codes[i];
    block.set(4 + i, static_cast<unsigned>(*result->codes[i] + 256));
  }
  const double product = times(sum, result->d);
  if (defined && !std::isnan(product)) block.half(2, nearest_half(product));
}

void dequantize_q8_0(Block block, double* values) {
  // At most 8 + 11 bits, a multiple of 2^-24: exact in double and in f32.
  const double d = half_at(block, 0);
  for (const std::uint8_t byte : block.subspan(2)) *values++ = signed_byte(byte) * d;
}

void dequantize_q8_1(Block block, double* values) {
  const double d = half_at(block, 0);
  for (const std::uint8_t byte : block.subspan(4)) *values++ = signed_byte(byte) * d;
}

/// A single by value: exponent field, fraction.
double single_at(Block block) {
  const int field = (block[3] % 128) * 2 + block[2] / 128;
  const int fraction = (block[2] % 128 * 256 + block[1]) * 256 + block[0];
  double magnitude = field == 0 ? std::ldexp(fraction, -149) : std::ldexp(fraction + (1 << 23), field - 150);
  if (field == 255)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return block[3] >= 128 ? -magnitude : magnitude;
}

void dequantize_q8_k(Block block, double* values) {
  const double d = single_at(block);
  for (const std::uint8_t byte : block.subspan(4, 256)) *values++ = times(signed_byte(byte), d);
}

constexpr std::array<BlockFamily, 3> kFamilies{{{"q8_0:ggml", 32, 34, quantize_q8_0, dequantize_q8_0},
                                                {"q8_1:ggml", 32, 36, quantize_q8_1, dequantize_q8_1},
                                                {"q8_K:ggml", 256, 292, nullptr, dequantize_q8_k}}};

}  // namespace

std::span<const BlockFamily> byte_families() { return kFamilies; }

}  // namespace packcheck::oracle
