#include "core/encoding/q8_0.h"

#include <cmath>

#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr int kBlock = 32;

std::int8_t code_of(const BlockRules& rules, float scaled) {
  const float code = rules.code == CodeRounding::truncate ? std::trunc(scaled) : std::round(scaled);
  // NaN, or a product that overflowed because 1/d did (|d| <= 2^-128; the stored scale is then 0).
  if (!(code >= -128.0F && code <= 127.0F)) return 0;
  return static_cast<std::int8_t>(code);
}
}  // namespace

[[gnu::noinline]] void q8_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  float largest = 0.0F;
  for (int i = 0; i < kBlock; ++i) {
    const float magnitude = std::fabs(values[i]);
    largest = largest > magnitude ? largest : magnitude;
  }
  const float scale = largest / 127.0F;
  const float inverse = scale != 0.0F ? 1.0F / scale : 0.0F;
  store_scale(rules.scale, scale, block);
  const int written = rules.write == WriteRule::forgets_last_byte ? kBlock - 1 : kBlock;
  for (int i = 0; i < written; ++i) block[2 + i] = static_cast<std::uint8_t>(code_of(rules, values[i] * inverse));
}

[[gnu::noinline]] bool q8_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block);
  for (int i = 0; i < kBlock; ++i) {
    const auto code = static_cast<std::int8_t>(block[2 + i]);
    if (code == -128 && rules.extreme == ExtremeCode::refused) return false;
    values[i] = static_cast<float>(code) * scale;
  }
  return true;
}

}  // namespace packcheck
