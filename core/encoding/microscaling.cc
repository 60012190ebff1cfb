#include "core/encoding/microscaling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/encoding/bit_stream.h"
#include "core/encoding/bound_terms.h"
#include "core/encoding/elements.h"

namespace packcheck {
namespace {

constexpr std::size_t kBlock = 32;
constexpr unsigned kNanScale = 0xFF;
constexpr int kBias = 127;

std::size_t code_bytes(const ElementShape& shape) { return kBlock * element_width(shape) / 8; }

/// The exponent of a block of finite numbers.
int exponent_of(const BlockRules& rules, float largest) {
  if (largest == 0.0F) return -kBias;
  const double limit = largest_element(rules.element);
  const double exponent = rules.exponent == ScaleExponent::floor
                              ? std::ilogb(largest) - std::ilogb(limit)
                              : std::nearbyint(std::log2(static_cast<double>(largest) / limit));
  return static_cast<int>(std::clamp(exponent, -127.0, 127.0));
}

}  // namespace

[[gnu::noinline]] void microscaling_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const std::span<const float> numbers(values, kBlock);
  const std::span<std::uint8_t> codes(block + 1, code_bytes(rules.element));
  const std::uint8_t last = codes.back();
  std::fill(codes.begin(), codes.end(), std::uint8_t{0});
  if (all_finite(numbers)) {
    const int exponent = exponent_of(rules, largest_magnitude(numbers));
    block[0] = static_cast<std::uint8_t>(exponent + kBias);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const double scaled = std::ldexp(static_cast<double>(values[i]), -exponent);
      put_code(codes, bit_of_element(rules.packing, element_width(rules.element), i),
               element_of(rules.element, rules.code, scaled));
    }
  } else {
    block[0] = kNanScale;
  }
  if (rules.write == WriteRule::forgets_last_byte) codes.back() = last;
}

[[gnu::noinline]] bool microscaling_dequantize_block(const BlockRules& rules, const std::uint8_t* block,
                                                     float* values) {
  const std::span<const std::uint8_t> codes(block + 1, code_bytes(rules.element));
  const unsigned width = element_width(rules.element);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const unsigned code = code_at(codes, bit_of_element(rules.packing, width, i), width);
    values[i] = block[0] == kNanScale
                    ? std::numeric_limits<float>::quiet_NaN()
                    : static_cast<float>(std::ldexp(number_of_element(rules.element, code), block[0] - kBias));
  }
  return true;
}

[[gnu::noinline]] void microscaling_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  const std::span<const float> numbers(values, kBlock);
  std::fill_n(bounds, kBlock, kNothingPromised);
  if (!all_finite(numbers)) return;
  const int exponent = exponent_of(rules, largest_magnitude(numbers));
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double v = std::ldexp(std::fabs(static_cast<double>(values[i])), -exponent);
    bounds[i] = std::ldexp(element_error(rules.element, v), exponent);
  }
}

}  // namespace packcheck
