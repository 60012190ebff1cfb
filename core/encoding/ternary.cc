#include "core/encoding/ternary.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/encoding/bound_terms.h"
#include "core/encoding/code_rounding.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr unsigned kLargeBlock = 256;
constexpr unsigned kBitBlock = 128;
constexpr unsigned kTwoBitBlock = 64;

constexpr SymmetricRule kBound{.divisor = 1.0, .largest = 1.0};

/// The digits of a block: d = max|x|, digit = round(x/d) + 1.
struct Digits {
  const BlockRules& rules;
  const float* values;
  float scale;
  float inverse;

  Digits(const BlockRules& r, const float* v, unsigned count) : rules(r), values(v), scale(0.0F), inverse(0.0F) {
    const bool nan_wins = r.overflow == CodeOverflow::saturate;  // Kotlin's maxOf
    for (unsigned i = 0; i < count && !std::isnan(scale); ++i) {
      const float magnitude = std::fabs(v[i]);
      if (magnitude > scale || (nan_wins && std::isnan(magnitude))) scale = magnitude;
    }
    if (scale != 0.0F) inverse = 1.0F / scale;
  }
  /// 0..2, unless the conversion is undefined (NaN, or 1/d overflowed): then ggml's is 1, and Kotlin's what its
  /// saturated integer and 32-bit sums give.
  [[nodiscard]] std::uint32_t digit(unsigned e) const {
    const float code = rounded_code(rules.code, values[e] * inverse);
    if (rules.overflow == CodeOverflow::zero && !(code >= -1.0F && code <= 1.0F)) return 1;
    return static_cast<std::uint32_t>(saturated_int(code)) + 1U;
  }
};

/// Five digits as a fraction of 256, rounded up; in 32 bits, as Kotlin does it, should the digits be none.
std::uint8_t byte_of_digits(std::uint32_t number) {
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(number * 256 + 242) / 243);
}

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

/// The faulty reading: five neighbours in a byte, the lowest digit first, and bit pairs in the last four bytes.
void tq1_0_read_sequentially(const std::uint8_t* block, float scale, float* values) {
  for (unsigned i = 0; i < 48; ++i) {
    unsigned rest = block[i];
    for (unsigned n = 0; n < 5; ++n, rest /= 3) *values++ = signed_digit(rest % 3, scale);
  }
  for (unsigned e = 0; e < 16; ++e) *values++ = signed_digit(block[48 + e / 4] >> e % 4 * 2 & 3U, scale);
}

}  // namespace

[[gnu::noinline]] void tq1_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const Digits digits(rules, values, kLargeBlock);
  for (const Run& run : kRuns) {
    for (unsigned j = 0; j < run.bytes; ++j) {
      if (run.first_byte + j >= written_bytes(rules, 52)) continue;
      std::uint32_t number = 0;
      for (unsigned n = 0; n < 5; ++n)
        number = number * 3 + (n < run.digits ? digits.digit(run.first_element + n * run.bytes + j) : 0);
      block[run.first_byte + j] = byte_of_digits(number);
    }
  }
  store_scale(rules.scale, digits.scale, block + 52);
}

[[gnu::noinline]] bool tq1_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block + 52);
  if (rules.reading == CodeReading::sequential) {
    tq1_0_read_sequentially(block, scale, values);
    return true;
  }
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
    for (unsigned k = 0; k < 4; ++k) byte |= (digits.digit(i / 32 * 128 + 32 * k + i % 32) & 3U) << 2 * k;
    block[i] = static_cast<std::uint8_t>(byte);
  }
  store_scale(rules.scale, digits.scale, block + 64);
}

[[gnu::noinline]] bool tq2_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block + 64);
  for (unsigned e = 0; e < kLargeBlock; ++e) {
    const bool sequential = rules.reading == CodeReading::sequential;
    const unsigned byte = sequential ? block[e / 4] : block[e / 128 * 32 + e % 32];
    values[e] = signed_digit(byte >> (sequential ? e % 4 : e % 128 / 32) * 2 & 3U, scale);
  }
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
