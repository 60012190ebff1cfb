#include "core/encoding/q5.h"

#include <array>
#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/minimum.h"
#include "core/encoding/nibbles.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr int kBlock = 32;
constexpr int kCodeBytes = 16;
constexpr unsigned kLargest = 31;
constexpr int kHighBytes = 4;

// |s| < 33: the shifted product is rounded by at most 2^-19. A code of 32 is clipped to 31 (q = 15).
constexpr SymmetricRule kBound{.divisor = 16.0,
                               .largest = 16.0,
                               .clipped_at = 15.5,
                               .clipped_to = 15.0,
                               .shift_rounding = 0x1p-19,
                               .negative = true};

using Codes = std::array<unsigned, kBlock>;

/// Fifth bits at `high`, nibbles right behind them.
void write_codes(const BlockRules& rules, const Codes& codes, std::uint8_t* high) {
  std::uint32_t fifth = 0;
  for (int i = 0; i < kBlock; ++i) fifth |= (codes[static_cast<std::size_t>(i)] >> 4 & 1) << i;
  for (int i = 0; i < kHighBytes; ++i) high[i] = static_cast<std::uint8_t>(fifth >> 8 * i);
  const int written = rules.write == WriteRule::forgets_last_byte ? kCodeBytes - 1 : kCodeBytes;
  for (int j = 0; j < written; ++j) {
    const NibblePair pair = elements_of_byte(rules.order, j);
    high[kHighBytes + j] = static_cast<std::uint8_t>((codes[static_cast<std::size_t>(pair.low)] & 15) |
                                                     (codes[static_cast<std::size_t>(pair.high)] & 15) << 4);
  }
}

Codes read_codes(const BlockRules& rules, const std::uint8_t* high) {
  Codes codes{};
  for (int j = 0; j < kCodeBytes; ++j) {
    const NibblePair pair = elements_of_byte(rules.order, j);
    const unsigned byte = high[kHighBytes + j];
    codes[static_cast<std::size_t>(pair.low)] = byte & 15;
    codes[static_cast<std::size_t>(pair.high)] = byte >> 4;
  }
  for (unsigned i = 0; i < kBlock; ++i) codes[i] |= (high[i / 8] >> i % 8 & 1U) << 4;
  return codes;
}

}  // namespace

[[gnu::noinline]] void q5_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  float extreme = 0.0F;
  for (int i = 0; i < kBlock; ++i)
    if (std::fabs(extreme) < std::fabs(values[i])) extreme = values[i];
  const float scale = extreme / -16.0F;
  const float inverse = scale != 0.0F ? 1.0F / scale : 0.0F;
  store_scale(rules.scale, scale, block);
  Codes codes{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float shifted = values[i] * inverse + (rules.code == CodeRounding::truncate ? 16.0F : 16.5F);
    if (shifted >= 0.0F && shifted < 128.0F) codes[i] = static_cast<unsigned>(shifted);
    if (codes[i] > kLargest) codes[i] = kLargest;
  }
  write_codes(rules, codes, block + 2);
}

[[gnu::noinline]] bool q5_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block);
  const Codes codes = read_codes(rules, block + 2);
  for (std::size_t i = 0; i < kBlock; ++i) values[i] = static_cast<float>(static_cast<int>(codes[i]) - 16) * scale;
  return true;
}

void q5_0_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  symmetric_bounds(kBound, rules, {values, kBlock}, bounds);
}

[[gnu::noinline]] void q5_1_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const auto [least, step] = MinimumAndStep::of({values, kBlock}, static_cast<float>(kLargest));
  const float inverse = step != 0.0F ? 1.0F / step : 0.0F;
  store_scale(rules.scale, step, block);
  store_scale(rules.scale, least, block + 2);
  Codes codes{};
  for (std::size_t i = 0; i < kBlock; ++i)
    codes[i] = code_above_minimum(rules, (values[i] - least) * inverse, kLargest);
  write_codes(rules, codes, block + 4);
}

[[gnu::noinline]] bool q5_1_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float step = load_scale(block);
  const float least = load_scale(block + 2);
  const Codes codes = read_codes(rules, block + 4);
  for (std::size_t i = 0; i < kBlock; ++i) values[i] = static_cast<float>(codes[i]) * step + least;
  return true;
}

void q5_1_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  affine_bounds(kLargest, rules, {values, kBlock}, bounds);
}

}  // namespace packcheck
