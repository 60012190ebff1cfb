// The block oracle's encodings of SKaiNET's own: ternary, bitnet_b1_58, i2_s, bitnet_planes, i8_absmax. Arithmetic as
// block_families.h says; a code of two bits is a digit of its byte in base 4.
#include <algorithm>
#include <array>
#include <vector>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

constexpr std::array<unsigned, 4> kPlaces{1, 4, 16, 64};

int base4_digit(unsigned byte, std::size_t place) { return static_cast<int>(byte / kPlaces[place] % 4); }

// One scale for all elements, after their codes.

template <std::size_t kElements>
void quantize_bitnet(std::span<const float> x, BlockWriter block) {
  double sum = 0.0;
  for (const float v : x) sum += std::fabs(static_cast<double>(v));
  const double scale = as_f32(sum / static_cast<double>(kElements));
  const double inverse = reciprocal_or_zero(scale);
  constexpr std::size_t kBytes = (kElements + 3) / 4;
  std::array<unsigned, kBytes> bytes{};
  for (std::size_t i = 0; i < kElements; ++i) {
    const std::int64_t code = kotlin_round(times(static_cast<double>(x[i]), inverse));
    bytes[i / 4] += kPlaces[i % 4] * (code > 0 ? 2U : (code < 0 ? 0U : 1U));
  }
  for (std::size_t i = 0; i < kBytes; ++i) block.set(i, bytes[i]);
  block.single(kBytes, scale);
}

template <std::size_t kElements>
void dequantize_trits(Block block, double* values) {
  const double scale = single_at(block, (kElements + 3) / 4);
  for (std::size_t i = 0; i < kElements; ++i) values[i] = times(base4_digit(block[i / 4], i % 4) - 1, scale);
}

/// i2_s: bytes of a group and in which place the group's first quarter lies, walked in storage order.
void dequantize_i2_s_128(Block block, double* values) {
  for (std::size_t b = 0; b < 32; ++b)
    for (std::size_t quarter = 0; quarter < 4; ++quarter)
      values[32 * quarter + b] = base4_digit(block[b], 3 - quarter) - 1;
}
void dequantize_i2_s_64(Block block, double* values) {
  for (std::size_t b = 0; b < 32; ++b)
    for (std::size_t quarter = 0; quarter < 4; ++quarter)
      values[b / 16 * 64 + 16 * quarter + b % 16] = base4_digit(block[b], 3 - quarter) - 1;
}
void dequantize_i2_s_sequential(Block block, double* values) {
  for (const std::uint8_t byte : block)
    for (std::size_t place = 0; place < 4; ++place) *values++ = base4_digit(byte, place) - 1;
}

// Eight planes of trits and a half.

constexpr std::size_t kPlanes = 8;

double as_half(double value) { return half_value(nearest_half(value)); }

void quantize_planes(std::span<const float> x, BlockWriter block) {
  double largest = 0.0;
  for (const float v : x)
    if (std::fabs(static_cast<double>(v)) > largest) largest = std::fabs(static_cast<double>(v));
  const double inverse = reciprocal_or_zero(as_half(largest));
  const std::size_t plane = x.size() / 4;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double v = times(static_cast<double>(x[i]), inverse);
    const unsigned place = kPlaces[i % 4];
    for (std::size_t p = 0; p < kPlanes; ++p) {
      const int trit = v > 0.5 ? 1 : (v < -0.5 ? -1 : 0);
      block.set(p * plane + i / 4, place * static_cast<unsigned>(trit + 1), place * 3);
      v = times(plus(v, -trit), 3.0);
    }
  }
  block.half(kPlanes * plane, nearest_half(largest));
}

void dequantize_planes(Block block, double* values) {
  const std::size_t plane = (block.size() - 2) / kPlanes;
  const double scale = half_at(block, kPlanes * plane);
  for (std::size_t i = 0; i < 4 * plane; ++i) {
    double sum = 0.0;
    double weight = 1.0;
    for (std::size_t p = 0; p < kPlanes; ++p) {
      sum = plus(sum, times(base4_digit(block[p * plane + i / 4], i % 4) - 1, weight));
      weight = divided(weight, 3.0);
    }
    values[i] = times(sum, scale);
  }
}

// Signed bytes and a single.

struct I8Row {
  double scale = 0.0;
  std::vector<double> scaled;  ///< x·(1/scale)

  explicit I8Row(std::span<const float> x) {
    double largest = 0.0;
    for (const float v : x) largest = std::fmax(largest, std::fabs(static_cast<double>(v)));
    scale = divided(largest, 127.0);
    for (const float v : x) scaled.push_back(times(static_cast<double>(v), reciprocal_or_zero(scale)));
  }
};

bool accepts_i8(std::span<const float> x) {
  const I8Row row(x);
  return std::none_of(row.scaled.begin(), row.scaled.end(), [](double v) { return std::isnan(v); });
}

void quantize_i8(std::span<const float> x, BlockWriter block) {
  const I8Row row(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double code = std::fmin(127.0, std::fmax(-127.0, std::floor(row.scaled[i] + 0.5)));
    block.set(i, static_cast<unsigned>(static_cast<int>(code) + 256) % 256);
  }
  block.single(x.size(), row.scale);
}

void dequantize_i8(Block block, double* values) {
  const double scale = single_at(block, block.size() - 4);
  for (const std::uint8_t byte : block.first(block.size() - 4)) *values++ = times(signed_byte(byte), scale);
}

constexpr std::array<BlockFamily, 11> kFamilies{{
    {"ternary(30):skainet", 30, 12, nullptr, dequantize_trits<30>},
    {"ternary(64):skainet", 64, 20, nullptr, dequantize_trits<64>},
    {"bitnet_b1_58(30):skainet", 30, 12, quantize_bitnet<30>, dequantize_trits<30>},
    {"bitnet_b1_58(64):skainet", 64, 20, quantize_bitnet<64>, dequantize_trits<64>},
    {"i2_s(128):group_128", 128, 32, nullptr, dequantize_i2_s_128},
    {"i2_s(128):group_64", 128, 32, nullptr, dequantize_i2_s_64},
    {"i2_s(128):sequential", 128, 32, nullptr, dequantize_i2_s_sequential},
    {"bitnet_planes(4):skainet", 4, 10, quantize_planes, dequantize_planes, {1, 1, 1, 1, 1, 1, 1, 1, 2}},
    {"bitnet_planes(32):skainet", 32, 66, quantize_planes, dequantize_planes, {8, 8, 8, 8, 8, 8, 8, 8, 2}},
    {"i8_absmax(4):skainet", 4, 8, quantize_i8, dequantize_i8, {4, 4}, accepts_i8},
    {"i8_absmax(32):skainet", 32, 36, quantize_i8, dequantize_i8, {32, 4}, accepts_i8},
}};

}  // namespace

std::span<const BlockFamily> skainet_families() { return kFamilies; }

}  // namespace packcheck::oracle
