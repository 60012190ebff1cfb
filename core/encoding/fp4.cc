#include "core/encoding/fp4.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/nibbles.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr int kBlock = 32;

/// Twice the 4-bit floats, as ggml keeps them; their scale is halved in turn.
constexpr std::array<int, 16> kDoubled{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
constexpr std::array<int, 16> kIq4{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// 2^(byte - 128): half the scale.
float half_scale(unsigned byte) { return std::ldexp(1.0F, static_cast<int>(byte) - 128); }

/// Half the value of an unsigned 4.3 float.
float half_ue4m3(unsigned byte) {
  if (byte == 0x7F) return 0.0F;
  const int exponent = static_cast<int>(byte >> 3 & 15);
  const int fraction = static_cast<int>(byte & 7);
  const int significand = exponent == 0 ? fraction : fraction + 8;
  return std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - 7 - 3 - 1);
}

/// The first index whose value is nearest.
unsigned nearest(float scale, float x) {
  unsigned best = 0;
  float least = std::fabs(0.0F * scale - x);
  for (unsigned i = 1; i < kDoubled.size(); ++i) {
    const float error = std::fabs(static_cast<float>(kDoubled[i]) * scale - x);
    if (error < least) {
      least = error;
      best = i;
    }
  }
  return best;
}

float magnitude_of(const float* values) {
  float largest = 0.0F;
  for (int i = 0; i < kBlock; ++i)
    if (largest < std::fabs(values[i])) largest = std::fabs(values[i]);
  return largest;
}

/// 16 bytes of codes, each an index into `table`.
void read_indices(const std::array<int, 16>& table, NibbleOrder order, float scale, const std::uint8_t* codes,
                  float* values) {
  for (int j = 0; j < 16; ++j) {
    const NibblePair pair = elements_of_byte(order, j);
    values[pair.low] = static_cast<float>(table[codes[j] & 15U]) * scale;
    values[pair.high] = static_cast<float>(table[codes[j] >> 4U]) * scale;
  }
}

double distance_to_nearest(double half_of_scale, double x) {
  double least = std::fabs(x);
  for (const int k : kDoubled) least = std::min(least, std::fabs(k * half_of_scale - x));
  return least;
}

}  // namespace

[[gnu::noinline]] void mxfp4_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const float largest = magnitude_of(values);
  unsigned byte = 0;
  if (largest > 0.0F && std::isfinite(largest)) {
    // log2f, correctly rounded: the double has enough digits to round once more.
    const auto exponent = static_cast<float>(std::log2(static_cast<double>(largest)));
    byte = static_cast<unsigned>(static_cast<int>(std::floor(exponent)) - 2 + 127) & 0xFF;
  }
  block[0] = static_cast<std::uint8_t>(byte);
  const float scale = half_scale(byte);
  const int written = rules.write == WriteRule::forgets_last_byte ? 15 : 16;
  for (int j = 0; j < written; ++j) {
    const NibblePair pair = elements_of_byte(rules.order, j);
    block[1 + j] = static_cast<std::uint8_t>(nearest(scale, values[pair.low]) | nearest(scale, values[pair.high]) << 4);
  }
}

[[gnu::noinline]] bool mxfp4_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  read_indices(kDoubled, rules.order, half_scale(block[0]), block + 1, values);
  return true;
}

[[gnu::noinline]] bool nvfp4_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  for (unsigned e = 0; e < 64; ++e) {
    const unsigned byte = block[4 + e / 16 * 8 + e % 8];
    values[e] = static_cast<float>(kDoubled[byte >> e % 16 / 8 * 4 & 15U]) * half_ue4m3(block[e / 16]);
  }
  return true;
}

[[gnu::noinline]] bool iq4_nl_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  read_indices(kIq4, rules.order, load_scale(block), block + 2, values);
  return true;
}

[[gnu::noinline]] bool iq4_xs_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float d = load_scale(block);
  const unsigned high = static_cast<unsigned>(block[2] | block[3] << 8);
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned scale = (block[4 + i / 2] >> i % 2 * 4 & 15U) | (high >> 2 * i & 3U) << 4;
    read_indices(kIq4, rules.order, d * static_cast<float>(static_cast<int>(scale) - 32), block + 8 + 16 * i,
                 values + 32 * static_cast<std::size_t>(i));
  }
  return true;
}

[[gnu::noinline]] void mxfp4_bound_block(const BlockRules&, const float* values, double* bounds) {
  const std::span<const float> block(values, kBlock);
  std::fill_n(bounds, kBlock, kNothingPromised);
  const double largest = static_cast<double>(magnitude_of(values));
  if (!all_finite(block) || (largest > 0.0 && largest < 0x1p-125)) return;
  const int exponent = largest > 0.0 ? std::ilogb(largest) : -125;
  const double half = std::ldexp(1.0, exponent - 3);
  const bool may_round_up = largest > std::ldexp(1.0 - 0x1p-16, exponent + 1);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double x = static_cast<double>(block[i]);
    double distance = distance_to_nearest(half, x);
    if (may_round_up) distance = std::max(distance, distance_to_nearest(2.0 * half, x));
    bounds[i] = distance * (1.0 + 0x1p-22);
  }
}

}  // namespace packcheck
