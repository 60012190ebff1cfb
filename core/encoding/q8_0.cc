#include "core/encoding/q8_0.h"

#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr int kBlock = 32;
constexpr int kLargeBlock = 256;

// No code is clipped: |p| <= 127·(1 + 3u) for a normal d, 127·(1 + 2^-21) for a subnormal one, rounds
// to at most 127.
constexpr SymmetricRule kBound{.divisor = 127.0, .largest = 127.0};

std::int8_t code_of(const BlockRules& rules, float scaled) {
  const float code = rules.code == CodeRounding::truncate ? std::trunc(scaled) : std::round(scaled);
  // NaN, or a product that overflowed because 1/d did (|d| <= 2^-128; the stored scale is then 0).
  if (!(std::fabs(code) <= 127.0F)) return 0;
  return static_cast<std::int8_t>(code);
}

float scale_of(const float* values) {
  float largest = 0.0F;
  for (int i = 0; i < kBlock; ++i) {
    const float magnitude = std::fabs(values[i]);
    largest = largest > magnitude ? largest : magnitude;
  }
  return largest / 127.0F;
}

/// Writes the codes and returns their sum.
int write_codes(const BlockRules& rules, const float* values, float scale, std::uint8_t* codes) {
  const float inverse = scale != 0.0F ? 1.0F / scale : 0.0F;
  const int written = rules.write == WriteRule::forgets_last_byte ? kBlock - 1 : kBlock;
  int sum = 0;
  for (int i = 0; i < written; ++i) {
    const std::int8_t code = code_of(rules, values[i] * inverse);
    codes[i] = static_cast<std::uint8_t>(code);
    sum += code;
  }
  return sum;
}

bool read_codes(const BlockRules& rules, float scale, const std::uint8_t* codes, int count, float* values) {
  for (int i = 0; i < count; ++i) {
    const auto code = static_cast<std::int8_t>(codes[i]);
    if (code == -128 && rules.extreme == ExtremeCode::refused) return false;
    values[i] = static_cast<float>(code) * scale;
  }
  return true;
}
}  // namespace

[[gnu::noinline]] void q8_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const float scale = scale_of(values);
  store_scale(rules.scale, scale, block);
  write_codes(rules, values, scale, block + 2);
}

[[gnu::noinline]] bool q8_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  return read_codes(rules, load_scale(block), block + 2, kBlock, values);
}

void q8_0_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  symmetric_bounds(kBound, rules, {values, kBlock}, bounds);
}

[[gnu::noinline]] void q8_1_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const float scale = scale_of(values);
  const int sum = write_codes(rules, values, scale, block + 4);
  store_scale(rules.scale, scale, block);
  store_scale(rules.scale, static_cast<float>(sum) * scale, block + 2);
}

[[gnu::noinline]] bool q8_1_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  return read_codes(rules, load_scale(block), block + 4, kBlock, values);
}

[[gnu::noinline]] bool q8_k_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  return read_codes(rules, load_single(block), block + 4, kLargeBlock, values);
}

}  // namespace packcheck
