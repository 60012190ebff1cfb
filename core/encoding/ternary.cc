#include "core/encoding/ternary.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/encoding/bound_terms.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr unsigned kLargeBlock = 256;
constexpr unsigned kBitBlock = 128;
constexpr unsigned kTwoBitBlock = 64;

constexpr SymmetricRule kBound{.divisor = 1.0, .largest = 1.0};

/// The digits of a block: d = max|x|, digit = roundf(x/d) + 1.
struct Digits {
  const BlockRules& rules;
  const float* values;
  float scale;
  float inverse;

  Digits(const BlockRules& r, const float* v, unsigned count) : rules(r), values(v), scale(0.0F), inverse(0.0F) {
    for (unsigned i = 0; i < count; ++i) {
      const float magnitude = std::fabs(v[i]);
      scale = scale > magnitude ? scale : magnitude;
    }
    if (scale != 0.0F) inverse = 1.0F / scale;
  }
  /// 0..2; 1 where the conversion is undefined (NaN, or 1/d overflowed).
  [[nodiscard]] unsigned digit(unsigned e) const {
    const float scaled = values[e] * inverse;
    const float code = rules.code == CodeRounding::truncate ? std::trunc(scaled) : std::round(scaled);
    if (!(code >= -1.0F && code <= 1.0F)) return 1;
    return static_cast<unsigned>(static_cast<int>(code) + 1);
  }
};

/// One run of tq1_0's code bytes: `digits` digits per byte, digit n of byte j is element first + n·stride + j.
struct Run {
  unsigned bytes;
  unsigned digits;
  unsigned first_byte;
  unsigned first_element;
};
constexpr Run kRuns[] = {{32, 5, 0, 0}, {16, 5, 32, 160}, {4, 4, 48, 240}};

unsigned written_bytes(const BlockRules& rules, unsigned code_bytes) {
  return rules.write == WriteRule::forgets_last_byte ? code_bytes - 1 : code_bytes;
}

float signed_digit(unsigned digit, float scale) { return static_cast<float>(static_cast<int>(digit) - 1) * scale; }

}  // namespace

[[gnu::noinline]] void tq1_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const Digits digits(rules, values, kLargeBlock);
  for (const Run& run : kRuns) {
    for (unsigned j = 0; j < run.bytes; ++j) {
      if (run.first_byte + j >= written_bytes(rules, 52)) continue;
      unsigned number = 0;
      for (unsigned n = 0; n < 5; ++n)
        number = number * 3 + (n < run.digits ? digits.digit(run.first_element + n * run.bytes + j) : 0);
      block[run.first_byte + j] = static_cast<std::uint8_t>((number * 256 + 242) / 243);
    }
  }
  store_scale(rules.scale, digits.scale, block + 52);
}

[[gnu::noinline]] bool tq1_0_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block + 52);
  for (const Run& run : kRuns) {
    for (unsigned j = 0; j < run.bytes; ++j) {
      unsigned rest = block[run.first_byte + j];
      for (unsigned n = 0; n < run.digits; ++n) {
        values[run.first_element + n * run.bytes + j] = signed_digit(rest * 3 >> 8, scale);
        rest = rest * 3 & 0xFF;
      }
    }
  }
  return true;
}

[[gnu::noinline]] void tq2_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const Digits digits(rules, values, kLargeBlock);
  for (unsigned i = 0; i < written_bytes(rules, 64); ++i) {
    unsigned byte = 0;
    for (unsigned k = 0; k < 4; ++k) byte |= digits.digit(i / 32 * 128 + 32 * k + i % 32) << 2 * k;
    block[i] = static_cast<std::uint8_t>(byte);
  }
  store_scale(rules.scale, digits.scale, block + 64);
}

[[gnu::noinline]] bool tq2_0_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block + 64);
  for (unsigned e = 0; e < kLargeBlock; ++e)
    values[e] = signed_digit(block[e / 128 * 32 + e % 32] >> e % 128 / 32 * 2 & 3U, scale);
  return true;
}

[[gnu::noinline]] void q1_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  float sum = 0.0F;
  for (unsigned e = 0; e < kBitBlock; ++e) sum += std::fabs(values[e]);
  store_scale(rules.scale, sum / static_cast<float>(kBitBlock), block);
  for (unsigned i = 0; i < written_bytes(rules, 16); ++i) {
    unsigned byte = 0;
    for (unsigned b = 0; b < 8; ++b) byte |= (values[8 * i + b] >= 0.0F ? 1U : 0U) << b;
    block[2 + i] = static_cast<std::uint8_t>(byte);
  }
}

[[gnu::noinline]] bool q1_0_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block);
  for (unsigned e = 0; e < kBitBlock; ++e) values[e] = (block[2 + e / 8] >> e % 8 & 1) != 0 ? scale : -scale;
  return true;
}

[[gnu::noinline]] void q2_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const Digits digits(rules, values, kTwoBitBlock);
  store_scale(rules.scale, digits.scale, block);
  for (unsigned i = 0; i < written_bytes(rules, 16); ++i) {
    unsigned byte = 0;
    for (unsigned k = 0; k < 4; ++k) byte |= digits.digit(4 * i + k) << 2 * k;
    block[2 + i] = static_cast<std::uint8_t>(byte);
  }
}

[[gnu::noinline]] bool q2_0_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block);
  for (unsigned e = 0; e < kTwoBitBlock; ++e) values[e] = signed_digit(block[2 + e / 4] >> e % 4 * 2 & 3U, scale);
  return true;
}

void tq_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  symmetric_bounds(kBound, rules, {values, kLargeBlock}, bounds);
}

void q2_0_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  symmetric_bounds(kBound, rules, {values, kTwoBitBlock}, bounds);
}

[[gnu::noinline]] void q1_0_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  const std::span<const float> block(values, kBitBlock);
  std::fill_n(bounds, kBitBlock, kNothingPromised);
  if (!all_finite(block)) return;
  double mean = 0.0;
  for (const float x : block) mean += std::fabs(static_cast<double>(x));
  mean /= kBitBlock;
  if (mean == 0.0) {
    std::fill_n(bounds, kBitBlock, 0.0);
    return;
  }
  const double largest_mean = mean * (1.0 + 0x1p-17) + 0x1p-149;                             // 128u = 2^-17
  const double common = mean * 0x1p-17 + 0x1p-149 + scale_error(rules.scale, largest_mean);  // it grows with d
  for (std::size_t i = 0; i < kBitBlock; ++i) {
    const double distance = std::fabs(std::fabs(static_cast<double>(block[i])) - mean);
    bounds[i] = (distance + common) * kBoundRounding + 0x1p-45 * mean;  // the sum in double
  }
}

}  // namespace packcheck
