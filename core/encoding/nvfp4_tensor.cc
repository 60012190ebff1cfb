#include "core/encoding/nvfp4_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/elements.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {

constexpr std::size_t kTensor = 256;
constexpr std::size_t kBlock = 16;
constexpr std::size_t kBlocks = kTensor / kBlock;
constexpr std::size_t kScales = 4;
constexpr std::size_t kCodes = kScales + kBlocks;
constexpr float kLargestProduct = 448.0F * 6.0F;
constexpr ElementShape kFloat4{Format::e2m1, false};

float tensor_scale(const float* values) { return largest_magnitude({values, kTensor}) / kLargestProduct; }

std::uint8_t block_scale(const BlockRules& rules, const float* block, float tensor) {
  if (tensor == 0.0F) return 0;
  return e4m3fn_scale(rules.scale_overflow, largest_magnitude({block, kBlock}) / 6.0F / tensor);
}

}  // namespace

[[gnu::noinline]] void nvfp4_tensor_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const std::size_t written = kTensor / 2 - (rules.write == WriteRule::forgets_last_byte ? 1 : 0);
  if (!all_finite({values, kTensor})) {
    store_little_endian(block, std::uint32_t{0x7FC00000});
    std::fill_n(block + kScales, kBlocks + written, std::uint8_t{0});
    return;
  }
  const float tensor = tensor_scale(values);
  store_little_endian(block, std::bit_cast<std::uint32_t>(tensor));
  for (std::size_t b = 0; b < kBlocks; ++b) block[kScales + b] = block_scale(rules, values + b * kBlock, tensor);
  const auto code = [&](std::size_t i) {
    const float scale = number_of_e4m3fn(block[kScales + i / kBlock]) * tensor;
    return scale == 0.0F ? 0U : element_of(kFloat4, rules.code, static_cast<double>(values[i] / scale));
  };
  for (std::size_t j = 0; j < written; ++j)
    block[kCodes + j] = static_cast<std::uint8_t>(code(2 * j) | code(2 * j + 1) << 4);
}

[[gnu::noinline]] bool nvfp4_tensor_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float tensor = load_single(block);
  for (std::size_t i = 0; i < kTensor; ++i) {
    const float scale = number_of_e4m3fn(block[kScales + i / kBlock]) * tensor;
    values[i] = static_cast<float>(number_of_element(kFloat4, block[kCodes + i / 2] >> i % 2 * 4 & 15U)) * scale;
  }
  return true;
}

[[gnu::noinline]] void nvfp4_tensor_bound_block(const BlockRules&, const float* values, double* bounds) {
  std::fill_n(bounds, kTensor, kNothingPromised);
  if (!all_finite({values, kTensor})) return;
  constexpr double kOverflow = 0x1.FFFFFFp127;
  const float tensor = tensor_scale(values);
  for (std::size_t i = 0; i < kTensor; ++i) {
    const double x = std::fabs(static_cast<double>(values[i]));
    const std::uint8_t scale = block_scale({}, values + i / kBlock * kBlock, tensor);
    const double d = static_cast<double>(number_of_e4m3fn(scale) * tensor);
    if (d == 0.0 || x == 0.0) {
      bounds[i] = x;
      continue;
    }
    const double v = x / d;
    const double error = element_error(kFloat4, v) + v * 0x1p-24;
    const double largest = std::min(6.0, v + error) * d;
    if (largest < kOverflow) bounds[i] = (d * error + std::max(0x1p-24 * largest, 0x1p-150)) * kBoundRounding;
  }
}

}  // namespace packcheck
