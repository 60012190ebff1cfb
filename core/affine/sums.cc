#include "core/affine/sums.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace packcheck {
namespace {

constexpr std::array<std::string_view, 4> kOrders{"sequential", "lanes", "pairwise", "per_group"};

template <unsigned Bits>
void unpack(const std::uint8_t* bytes, std::size_t eights, std::uint8_t* codes) {
  constexpr std::uint64_t kMask = (1U << Bits) - 1;
  for (std::size_t e = 0; e < eights; ++e) {
    std::uint64_t word = 0;
    for (unsigned b = 0; b < Bits; ++b) word |= static_cast<std::uint64_t>(bytes[e * Bits + b]) << (8 * b);
    for (unsigned c = 0; c < 8; ++c) codes[8 * e + c] = static_cast<std::uint8_t>(word >> (Bits * c) & kMask);
  }
}

/// Bytes of two codes: a loop that vectorises.
template <>
void unpack<4>(const std::uint8_t* bytes, std::size_t eights, std::uint8_t* codes) {
  for (std::size_t i = 0; i < 4 * eights; ++i) {
    codes[2 * i] = bytes[i] & 15;
    codes[2 * i + 1] = bytes[i] >> 4;
  }
}

float sum_sequential(std::span<const float> x, const float* w) {
  if (x.empty()) return 0.0F;
  float sum = x[0] * w[0];
  for (std::size_t i = 1; i < x.size(); ++i) sum += x[i] * w[i];
  return sum;
}

float sum_lanes(std::span<const float> x, const float* w) {
  // A lane starts with its first term, or with -0, which adds nothing to any number.
  std::array<float, kLanes> lanes;
  lanes.fill(-0.0F);
  const std::size_t whole = x.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += x[i + l] * w[i + l];
  for (std::size_t i = whole; i < x.size(); ++i) lanes[i - whole] += x[i] * w[i];
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return x.empty() ? 0.0F : lanes[0];
}

float sum_pairwise(std::span<const float> x, const float* w, float* terms) {
  if (x.empty()) return 0.0F;
  for (std::size_t i = 0; i < x.size(); ++i) terms[i] = x[i] * w[i];
  for (std::size_t count = x.size(); count > 1; count = (count + 1) / 2) {
    for (std::size_t i = 0; i < count / 2; ++i) terms[i] = terms[2 * i] + terms[2 * i + 1];
    if (count % 2 != 0) terms[count / 2] = terms[count - 1];
  }
  return terms[0];
}

}  // namespace

std::string_view sum_order_name(SumOrder order) { return kOrders[static_cast<std::size_t>(order)]; }
std::optional<SumOrder> sum_order_named(std::string_view name) {
  const auto* const found = std::find(kOrders.begin(), kOrders.end(), name);
  if (found == kOrders.end()) return std::nullopt;
  return static_cast<SumOrder>(found - kOrders.begin());
}

void unpack_codes(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint8_t> codes) {
  const std::size_t eights = codes.size() / 8;
  switch (bits) {
    case 2: return unpack<2>(bytes.data(), eights, codes.data());
    case 3: return unpack<3>(bytes.data(), eights, codes.data());
    case 4: return unpack<4>(bytes.data(), eights, codes.data());
    case 5: return unpack<5>(bytes.data(), eights, codes.data());
    case 6: return unpack<6>(bytes.data(), eights, codes.data());
    default: std::copy_n(bytes.begin(), codes.size(), codes.begin());
  }
}

void decode_weights(std::span<const std::uint8_t> codes, const float& scale, const float& bias, float* weights) {
  const float s = scale;
  const float b = bias;
  for (std::size_t i = 0; i < codes.size(); ++i) weights[i] = s * static_cast<float>(codes[i]) + b;
}

void widen_codes(std::span<const std::uint8_t> codes, float* numbers) {
  for (std::size_t i = 0; i < codes.size(); ++i) numbers[i] = static_cast<float>(codes[i]);
}

float sum_products(SumOrder order, std::span<const float> x, const float* weights, float* scratch) {
  switch (order) {
    case SumOrder::sequential: return sum_sequential(x, weights);
    case SumOrder::pairwise: return sum_pairwise(x, weights, scratch);
    case SumOrder::lanes:
    case SumOrder::per_group: break;
  }
  return sum_lanes(x, weights);
}

float sum_in_order(std::span<const float> x, const float* codes) { return sum_sequential(x, codes); }

float sum_in_order(std::span<const float> x) {
  if (x.empty()) return 0.0F;
  float sum = x[0];
  for (std::size_t i = 1; i < x.size(); ++i) sum += x[i];
  return sum;
}

float add_group(const float& total, const float& scale, const float& code_sum, const float& bias, const float& x_sum) {
  const float scaled = scale * code_sum;
  const float shifted = bias * x_sum;
  return total + (scaled + shifted);
}

}  // namespace packcheck
