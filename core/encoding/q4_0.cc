#include "core/encoding/q4_0.h"

#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/nibbles.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr int kBlock = 32;
constexpr int kHalfBlock = kBlock / 2;

/// scaled = x / d, in -8..8 for a finite block.
unsigned code_of(const BlockRules& rules, float scaled) {
  const float offset = rules.code == CodeRounding::truncate ? 8.0F : 8.5F;
  const float shifted = scaled + offset;
  if (rules.overflow == CodeOverflow::saturate) {
    if (!(shifted >= 0.0F)) return 0;  // NaN and everything below
    return shifted >= 15.0F ? 15U : static_cast<unsigned>(shifted);
  }
  if (!(shifted >= 0.0F && shifted < 128.0F)) return 0;
  const auto code = static_cast<unsigned>(shifted);
  return code > 15U ? 15U : code;
}

// |s| < 17: the shifted product is rounded by at most 2^-20. A code of 16 is clipped to 15 (q = 7).
constexpr SymmetricRule kBound{
    .divisor = 8.0, .largest = 8.0, .clipped_at = 7.5, .clipped_to = 7.0, .shift_rounding = 0x1p-20, .negative = true};

}  // namespace

[[gnu::noinline]] void q4_0_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  float largest = 0.0F;
  float extreme = 0.0F;
  for (int i = 0; i < kBlock; ++i) {
    if (largest < std::fabs(values[i])) {
      largest = std::fabs(values[i]);
      extreme = values[i];
    }
  }
  const float scale = extreme / -8.0F;
  const float inverse = scale != 0.0F ? 1.0F / scale : 0.0F;
  store_scale(rules.scale, scale, block);
  const int written = rules.write == WriteRule::forgets_last_byte ? kHalfBlock - 1 : kHalfBlock;
  for (int j = 0; j < written; ++j) {
    const NibblePair pair = elements_of_byte(rules.order, j);
    const unsigned low = code_of(rules, values[pair.low] * inverse);
    const unsigned high = code_of(rules, values[pair.high] * inverse);
    block[2 + j] = static_cast<std::uint8_t>(low | high << 4);
  }
}

[[gnu::noinline]] bool q4_0_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float scale = load_scale(block);
  for (int j = 0; j < kHalfBlock; ++j) {
    const NibblePair pair = elements_of_byte(rules.order, j);
    const int byte = block[2 + j];
    values[pair.low] = static_cast<float>((byte & 15) - 8) * scale;
    values[pair.high] = static_cast<float>((byte >> 4) - 8) * scale;
  }
  return true;
}

void q4_0_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  symmetric_bounds(kBound, rules, {values, kBlock}, bounds);
}

}  // namespace packcheck
