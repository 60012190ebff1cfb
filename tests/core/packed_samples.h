// tests/core/packed_samples.h: small products with packed weights, for the tests of core/affine/matmul.h.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/affine/matmul.h"
#include "properties/oracles/product_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {

/// A matrix that owns its bytes.
struct PackedBytes {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  std::vector<std::uint8_t> biases;

  [[nodiscard]] PackedMatrix view() const { return {codes, scales, biases}; }
};

/// A product that owns its numbers. All codes, scales, biases and inputs are 0 to begin with.
struct PackedSample {
  AffineProduct product;
  std::vector<float> x;
  PackedBytes weights;

  PackedSample(std::size_t rows, std::size_t in, std::size_t out, std::size_t group, unsigned bits, Format format,
               SumOrder order)
      : product{rows, in, out, group, bits, format, order, {}}, x(rows * in) {
    weights.codes.resize(out * in / 8 * bits);
    weights.scales.resize(out * (in / group) * spec(format).bytes());
    weights.biases = weights.scales;
  }

  [[nodiscard]] AffineProduct arguments() const {
    AffineProduct p = product;
    p.x = x;
    return p;
  }
  void set_scale(std::size_t output, std::size_t group, float number) { set(weights.scales, output, group, number); }
  void set_bias(std::size_t output, std::size_t group, float number) { set(weights.biases, output, group, number); }
  void set_code(std::size_t output, std::size_t i, unsigned code) {
    for (unsigned b = 0; b < product.bits; ++b) {
      const std::size_t bit = (output * product.in_features + i) * product.bits + b;
      const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
      std::uint8_t& byte = weights.codes[bit / 8];
      byte = static_cast<std::uint8_t>((byte & ~mask) | ((code >> b & 1) != 0 ? mask : 0));
    }
  }

  [[nodiscard]] std::vector<float> multiplied(const ProductRules& rules = {}) const {
    std::vector<float> y(product.rows * product.out_features);
    if (!affine_matmul(arguments(), weights.view(), y, rules)) y.clear();
    return y;
  }
  [[nodiscard]] oracle::PackedProduct for_oracle() const {
    return {product.rows,
            product.in_features,
            product.out_features,
            product.group_size,
            product.bits,
            product.scale_format,
            x,
            weights.codes,
            weights.scales,
            weights.biases};
  }

 private:
  void set(std::vector<std::uint8_t>& elements, std::size_t output, std::size_t group, float number) const {
    const std::uint64_t bits = convert(Format::f32, product.scale_format, std::bit_cast<std::uint32_t>(number));
    const std::size_t groups = product.in_features / product.group_size;
    store_element(spec(product.scale_format), elements, output * groups + group, bits);
  }
};

inline constexpr std::array<SumOrder, 4> kOrders{SumOrder::sequential, SumOrder::lanes, SumOrder::pairwise,
                                                 SumOrder::per_group};

/// Shapes, codes, scales, biases and inputs at random: ordinary numbers between 2^-8 and 2^8, or, with `any`, any bits.
inline PackedSample random_sample(Random& random, bool any) {
  static constexpr std::array<unsigned, 6> kBits{2, 3, 4, 5, 6, 8};
  static constexpr std::array<Format, 3> kScales{Format::bf16, Format::f16, Format::f32};
  const std::size_t group = std::size_t{32} << random.below(3);
  const std::size_t rows = random.below(4);
  const std::size_t groups = random.below(4);
  const std::size_t out = random.below(4);
  const unsigned bits = kBits[random.below(6)];
  const Format format = kScales[random.below(3)];
  const SumOrder order = kOrders[random.below(4)];
  PackedSample s(rows, group * groups, out, group, bits, format, order);
  const FormatSpec& scale = spec(s.product.scale_format);
  const auto number = [&](const FormatSpec& f) {
    if (any && random.below(8) == 0) return random.bits() & f.all_bits();
    const std::uint64_t field = static_cast<std::uint64_t>(f.bias()) - 8 + random.below(16);
    const std::uint64_t sign = random.coin() ? f.sign_bit() : 0;
    return sign | field << f.significand_bits | (random.bits() & f.significand_mask());
  };
  for (std::uint8_t& byte : s.weights.codes) byte = static_cast<std::uint8_t>(random.bits());
  for (auto* const bytes : {&s.weights.scales, &s.weights.biases})
    for (std::size_t i = 0; i < bytes->size() / scale.bytes(); ++i) store_element(scale, *bytes, i, number(scale));
  for (float& x : s.x) x = std::bit_cast<float>(static_cast<std::uint32_t>(number(spec(Format::f32))));
  return s;
}

}  // namespace packcheck::test
