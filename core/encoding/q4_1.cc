#include "core/encoding/q4_1.h"

#include "core/encoding/bound_terms.h"
#include "core/encoding/minimum.h"
#include "core/encoding/nibbles.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr int kBlock = 32;
constexpr int kCodeBytes = 16;
constexpr unsigned kLargest = 15;
}  // namespace

[[gnu::noinline]] void q4_1_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const auto [least, step] = MinimumAndStep::of({values, kBlock}, static_cast<float>(kLargest));
  const float inverse = step != 0.0F ? 1.0F / step : 0.0F;
  store_scale(rules.scale, step, block);
  store_scale(rules.scale, least, block + 2);
  const int written = rules.write == WriteRule::forgets_last_byte ? kCodeBytes - 1 : kCodeBytes;
  for (int j = 0; j < written; ++j) {
    const NibblePair pair = elements_of_byte(rules.order, j);
    const unsigned low = code_above_minimum(rules, (values[pair.low] - least) * inverse, kLargest);
    const unsigned high = code_above_minimum(rules, (values[pair.high] - least) * inverse, kLargest);
    block[4 + j] = static_cast<std::uint8_t>(low | high << 4);
  }
}

[[gnu::noinline]] bool q4_1_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const float step = load_scale(block);
  const float least = load_scale(block + 2);
  for (int j = 0; j < kCodeBytes; ++j) {
    const NibblePair pair = elements_of_byte(rules.order, j);
    const int byte = block[4 + j];
    values[pair.low] = static_cast<float>(byte & 15) * step + least;
    values[pair.high] = static_cast<float>(byte >> 4) * step + least;
  }
  return true;
}

void q4_1_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  affine_bounds(kLargest, rules, {values, kBlock}, bounds);
}

}  // namespace packcheck
