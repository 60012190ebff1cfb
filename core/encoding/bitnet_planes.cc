#include "core/encoding/bitnet_planes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/encoding/bound_terms.h"
#include "core/encoding/code_rounding.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {

constexpr std::size_t kPlanes = 8;

/// The largest magnitude; a NaN never is.
float largest_magnitude(std::span<const float> row) {
  float largest = 0.0F;
  for (const float x : row)
    if (std::fabs(x) > largest) largest = std::fabs(x);
  return largest;
}

float stored_scale(const BlockRules& rules, float scale) {
  std::array<std::uint8_t, 2> half{};
  store_scale(rules.scale, scale, half.data());
  return load_scale(half.data());
}

}  // namespace

[[gnu::noinline]] void encode_planes(const BlockRules& rules, std::span<const float> row, std::uint8_t* block) {
  const float exact = largest_magnitude(row);
  const float divisor = rules.residual == ResidualScale::stored ? stored_scale(rules, exact) : exact;
  const float inverse = divisor != 0.0F ? 1.0F / divisor : 0.0F;
  std::vector<float> rest(row.begin(), row.end());
  for (float& v : rest) v *= inverse;
  const std::size_t plane_bytes = row.size() / 4;
  for (std::size_t i = 0; i < kPlanes * plane_bytes; ++i) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      float& v = rest[i % plane_bytes * 4 + k];
      const int trit = std::clamp(saturated_int(rounded_code(rules.code, v)), -1, 1);
      byte |= static_cast<unsigned>(trit + 1) << 2 * k;
      v = (v - static_cast<float>(trit)) * 3.0F;
    }
    if (i + 1 < kPlanes * plane_bytes || rules.write == WriteRule::every_byte)
      block[i] = static_cast<std::uint8_t>(byte);
  }
  store_scale(rules.scale, exact, block + kPlanes * plane_bytes);
}

[[gnu::noinline]] void decode_planes(const BlockRules& rules, const std::uint8_t* block, std::span<float> row) {
  const std::size_t plane_bytes = row.size() / 4;
  const float scale = load_scale(block + kPlanes * plane_bytes);
  for (std::size_t c = 0; c < row.size(); ++c) {
    float sum = 0.0F;
    float weight = 1.0F;
    for (std::size_t p = 0; p < kPlanes; ++p, weight /= 3.0F) {
      const int code = block[p * plane_bytes + c / 4] >> c % 4 * 2 & 3;
      if (code != 3 || rules.fourth == FourthCode::plus_two) sum += static_cast<float>(code - 1) * weight;
    }
    row[c] = sum * scale;
  }
}

[[gnu::noinline]] void bound_planes(const BlockRules& rules, std::span<const float> row, double* bounds) {
  std::fill_n(bounds, row.size(), kNothingPromised);
  const auto scale = static_cast<double>(stored_scale(rules, largest_magnitude(row)));
  if (!all_finite(row) || std::isinf(scale)) return;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double magnitude = std::fabs(static_cast<double>(row[i]));
    const double r = scale == 0.0 ? 0.0 : magnitude / scale;
    const double of_scale = 0.5 / 2187.0 + 0x1p-24 * (9.77 + 2.01 * r);
    bounds[i] = scale == 0.0 ? magnitude : (scale * of_scale) * kBoundRounding;
  }
}

}  // namespace packcheck
