#include "core/encoding/trits.h"

#include <algorithm>
#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/code_rounding.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {

float mean_magnitude(std::span<const float> values) {
  double sum = 0.0;
  for (const float x : values) sum += std::fabs(static_cast<double>(x));
  return static_cast<float>(sum / static_cast<double>(values.size()));
}

float value_of_code(const BlockRules& rules, unsigned code) {
  if (code == 3 && rules.fourth == FourthCode::zero) return 0.0F;
  return static_cast<float>(static_cast<int>(code) - 1);
}

std::size_t code_bytes(std::size_t elements) { return (elements + 3) / 4; }

constexpr unsigned kI2sElements = 128;

/// Element j of a group: byte j mod (group/4), the high bits first.
bool decode_groups(const BlockRules& rules, unsigned group, const std::uint8_t* block, float* values) {
  const unsigned bytes = group / 4;
  for (unsigned e = 0; e < kI2sElements; ++e) {
    const unsigned j = e % group;
    const unsigned byte = block[e / group * bytes + j % bytes];
    values[e] = value_of_code(rules, byte >> (6 - j / bytes * 2) & 3U);
  }
  return true;
}

}  // namespace

[[gnu::noinline]] void encode_mean_trits(const BlockRules& rules, std::span<const float> values, std::uint8_t* block) {
  const float scale = mean_magnitude(values);
  const float inverse = scale != 0.0F ? 1.0F / scale : 0.0F;
  const std::size_t bytes = code_bytes(values.size());
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i + 1 == bytes && rules.write == WriteRule::forgets_last_byte) break;
    unsigned byte = 0;
    for (std::size_t k = 0; k < 4 && 4 * i + k < values.size(); ++k) {
      const std::int32_t code = saturated_int(rounded_code(rules.code, values[4 * i + k] * inverse));
      byte |= static_cast<unsigned>(std::clamp(code, -1, 1) + 1) << 2 * k;
    }
    block[i] = static_cast<std::uint8_t>(byte);
  }
  store_single(scale, block + bytes);
}

[[gnu::noinline]] void decode_trits(const BlockRules& rules, const std::uint8_t* block, std::span<float> values) {
  const float scale = load_single(block + code_bytes(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = value_of_code(rules, block[i / 4] >> i % 4 * 2 & 3U) * scale;
}

[[gnu::noinline]] void bound_mean_trits(std::span<const float> values, double* bounds) {
  const bool finite = all_finite(values);
  const auto scale = static_cast<double>(mean_magnitude(values));
  for (std::size_t i = 0; i < values.size(); ++i)
    bounds[i] = finite ? single_step_error(static_cast<double>(values[i]), scale, 1.0) : kNothingPromised;
}

bool i2_s_sequential_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  for (unsigned e = 0; e < kI2sElements; ++e) values[e] = value_of_code(rules, block[e / 4] >> e % 4 * 2 & 3U);
  return true;
}

bool i2_s_128_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  if (rules.reading == CodeReading::sequential) return i2_s_sequential_dequantize_block(rules, block, values);
  return decode_groups(rules, 128, block, values);
}

bool i2_s_64_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  if (rules.reading == CodeReading::sequential) return i2_s_sequential_dequantize_block(rules, block, values);
  return decode_groups(rules, 64, block, values);
}

}  // namespace packcheck
