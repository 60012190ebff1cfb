#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/encoding/bound_terms.h"
#include "core/encoding/elements.h"
#include "core/encoding/microscaling.h"

namespace packcheck {
namespace {

constexpr std::size_t kMxBlock = 32;
constexpr std::size_t kNvBlock = 16;
constexpr ElementShape kFloat4{Format::e2m1, false};
constexpr double kSearchRounding = 1.0 + 0x1p-22;

/// By code: code 8 is -0.
constexpr std::array<float, 16> kFloat4Numbers{0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                               -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

bool has_4_bits(const BlockRules& rules) { return rules.element.format == Format::e2m1; }
std::size_t code_bytes(const BlockRules& rules) { return has_4_bits(rules) ? kMxBlock / 2 : kMxBlock; }

/// The first code of the nearest numbers, in f32.
unsigned nearest_float4(float x) {
  unsigned best = 0;
  float least = std::fabs(x);
  for (unsigned code = 1; code < 16; ++code) {
    const float error = std::fabs(x - kFloat4Numbers[code]);
    if (error < least) {
      least = error;
      best = code;
    }
  }
  return best;
}

unsigned nearest_float8(const BlockRules& rules, float x) {
  if (std::isnan(x)) return std::signbit(x) ? 0xFE : 0x7E;
  return element_of(rules.element, rules.code, static_cast<double>(x));
}

void write_float4s(const BlockRules& rules, std::span<const float> values, float scale, std::uint8_t* codes) {
  const std::size_t written = values.size() / 2 - (rules.write == WriteRule::forgets_last_byte ? 1 : 0);
  for (std::size_t j = 0; j < written; ++j)
    codes[j] = static_cast<std::uint8_t>(nearest_float4(values[2 * j] / scale) |
                                         nearest_float4(values[2 * j + 1] / scale) << 4);
}

/// 2^(byte - 127); the byte 255 is an infinity.
float scale_of_byte(unsigned byte) {
  return byte == 255 ? std::numeric_limits<float>::infinity() : std::ldexp(1.0F, static_cast<int>(byte) - 127);
}

/// log2 of the largest magnitude over the largest element, as f32 has it; 0 where the quotient is 0.
float exponent_of(const BlockRules& rules, float largest) {
  const auto limit = static_cast<float>(largest_element(rules.element));
  const float quotient = largest / limit;
  if (quotient == 0.0F) return 0.0F;
  if (rules.exponent == ScaleExponent::floor) return static_cast<float>(std::ilogb(largest) - std::ilogb(limit));
  return static_cast<float>(std::log2(static_cast<double>(quotient)));
}

}  // namespace

[[gnu::noinline]] void mlx_mx_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const std::span<const float> numbers(values, kMxBlock);
  const float exponent = std::nearbyint(exponent_of(rules, largest_magnitude(numbers)));
  const unsigned byte = std::isfinite(exponent) ? static_cast<unsigned>(static_cast<int>(exponent) + 127) & 0xFF : 255U;
  block[code_bytes(rules)] = static_cast<std::uint8_t>(byte);
  const float scale = scale_of_byte(byte);
  if (has_4_bits(rules)) {
    write_float4s(rules, numbers, scale, block);
    return;
  }
  const std::size_t written = kMxBlock - (rules.write == WriteRule::forgets_last_byte ? 1 : 0);
  for (std::size_t i = 0; i < written; ++i)
    block[i] = static_cast<std::uint8_t>(nearest_float8(rules, values[i] / scale));
}

[[gnu::noinline]] bool mlx_mx_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float scale = scale_of_byte(block[code_bytes(rules)]);
  for (std::size_t i = 0; i < kMxBlock; ++i) {
    const float element = has_4_bits(rules) ? kFloat4Numbers[block[i / 2] >> i % 2 * 4 & 15U]
                                            : static_cast<float>(number_of_element(rules.element, block[i]));
    values[i] = element * scale;
  }
  return true;
}

[[gnu::noinline]] void mlx_mx_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  const std::span<const float> numbers(values, kMxBlock);
  std::fill_n(bounds, kMxBlock, kNothingPromised);
  if (!all_finite(numbers)) return;
  const double logarithm = static_cast<double>(exponent_of(rules, largest_magnitude(numbers)));
  const int low = static_cast<int>(std::nearbyint(logarithm - 0x1p-15));
  const int high = static_cast<int>(std::nearbyint(logarithm + 0x1p-15));
  if (low < -127) return;
  for (std::size_t i = 0; i < kMxBlock; ++i) {
    bounds[i] = 0.0;
    for (int exponent = low; exponent <= high; ++exponent) {
      const double v = std::ldexp(std::fabs(static_cast<double>(values[i])), -exponent);
      const double error = std::ldexp(element_error(rules.element, v), exponent) * kSearchRounding;
      bounds[i] = std::max(bounds[i], error);
    }
  }
}

[[gnu::noinline]] void mlx_nvfp4_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const std::span<const float> numbers(values, kNvBlock);
  const std::uint8_t scale = e4m3fn_scale(rules.scale_overflow, largest_magnitude(numbers) / 6.0F);
  block[kNvBlock / 2] = scale;
  write_float4s(rules, numbers, number_of_e4m3fn(scale), block);
}

[[gnu::noinline]] bool mlx_nvfp4_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float scale = number_of_e4m3fn(block[kNvBlock / 2]);
  for (std::size_t i = 0; i < kNvBlock; ++i) values[i] = kFloat4Numbers[block[i / 2] >> i % 2 * 4 & 15U] * scale;
  return true;
}

[[gnu::noinline]] void mlx_nvfp4_bound_block(const BlockRules&, const float* values, double* bounds) {
  const std::span<const float> numbers(values, kNvBlock);
  std::fill_n(bounds, kNvBlock, kNothingPromised);
  if (!all_finite(numbers)) return;
  const double scale =
      static_cast<double>(number_of_e4m3fn(e4m3fn_scale(ScaleOverflow::saturates, largest_magnitude(numbers) / 6.0F)));
  for (std::size_t i = 0; i < kNvBlock; ++i) {
    const double x = std::fabs(static_cast<double>(values[i]));
    if (scale == 0.0) {
      bounds[i] = x;
      continue;
    }
    const double v = x / scale;
    bounds[i] = scale * (element_error(kFloat4, v) + v * 0x1p-24) * kSearchRounding;
  }
}

}  // namespace packcheck
