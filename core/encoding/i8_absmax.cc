#include "core/encoding/i8_absmax.h"

#include <algorithm>
#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/code_rounding.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {

constexpr int kLargest = 127;

struct Step {
  float scale;
  float inverse;

  explicit Step(std::span<const float> row) : scale(0.0F), inverse(0.0F) {
    float largest = 0.0F;
    for (const float x : row) largest = std::max(largest, std::fabs(x));  // a NaN is refused before
    scale = largest / static_cast<float>(kLargest);
    if (scale != 0.0F) inverse = 1.0F / scale;
  }
};

}  // namespace

[[gnu::noinline]] bool has_i8_codes(std::span<const float> row) {
  if (!all_finite(row)) return false;
  const Step step(row);
  return std::none_of(row.begin(), row.end(), [&](float x) { return std::isnan(x * step.inverse); });
}

[[gnu::noinline]] void encode_i8(const BlockRules& rules, std::span<const float> row, std::uint8_t* block) {
  const Step step(row);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i + 1 == row.size() && rules.write == WriteRule::forgets_last_byte) break;
    const std::int32_t code = saturated_int(rounded_code(rules.code, row[i] * step.inverse));
    block[i] = static_cast<std::uint8_t>(std::clamp(code, -kLargest, kLargest));
  }
  store_single(step.scale, block + row.size());
}

[[gnu::noinline]] void decode_i8(const std::uint8_t* block, std::span<float> row) {
  const float scale = load_single(block + row.size());
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(static_cast<std::int8_t>(block[i])) * scale;
}

[[gnu::noinline]] void bound_i8(std::span<const float> row, double* bounds) {
  const bool accepted = has_i8_codes(row);
  const auto scale = static_cast<double>(Step(row).scale);
  for (std::size_t i = 0; i < row.size(); ++i)
    bounds[i] = accepted ? single_step_error(static_cast<double>(row[i]), scale, kLargest) : kNothingPromised;
}

}  // namespace packcheck
