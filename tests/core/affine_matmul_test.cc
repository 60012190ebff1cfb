// Products with packed weights: by hand, each order against its definition, the oracle, and every argument that does
// not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/affine/affine.h"
#include "core/affine/matmul.h"
#include "tests/core/packed_samples.h"

namespace packcheck::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint32_t bits_of(float number) { return std::bit_cast<std::uint32_t>(number); }

std::vector<std::uint32_t> bits_of(std::span<const float> numbers) {
  std::vector<std::uint32_t> bits;
  for (const float number : numbers) bits.push_back(bits_of(number));
  return bits;
}

/// Two outputs of two groups; x[i] = 1 but x[0] = 2.
PackedSample example(unsigned bits, SumOrder order) {
  PackedSample s(2, 64, 2, 32, bits, Format::bf16, order);
  for (float& x : s.x) x = 1.0F;
  s.x[64] = 2.0F;
  s.set_code(0, 0, 3);   // group 0 of output 0
  s.set_code(0, 63, 2);  // group 1 of output 0
  s.set_code(1, 31, 1);  // group 0 of output 1
  s.set_scale(0, 0, 0.5F);
  s.set_scale(0, 1, -2.0F);
  s.set_scale(1, 0, 8.0F);
  s.set_scale(1, 1, 100.0F);  // of codes 0
  s.set_bias(0, 1, 0.25F);
  s.set_bias(1, 0, -1.0F);
  return s;
}

TEST(AffineMatmul, IsTheSumOfInputsTimesScaleCodePlusBias) {
  for (const unsigned bits : {2U, 3U, 4U, 5U, 6U, 8U}) {
    for (const SumOrder order : kOrders) {
      SCOPED_TRACE(std::to_string(bits) + " bits, " + std::string(sum_order_name(order)));
      // Row 0: 1.5 - 4 + 32/4 and 8 - 32; row 1 has x[0] = 2.
      EXPECT_THAT(example(bits, order).multiplied(), ElementsAre(5.5F, -24.0F, 7.0F, -25.0F));
    }
  }
}

/// Terms as weights are multiplied, for the orders that decode weights.
std::vector<float> terms_of(const PackedSample& s, std::size_t row, std::size_t output) {
  const AffineProduct& p = s.product;
  if (p.in_features == 0) return {};
  std::vector<float> weights(p.out_features * p.in_features);
  const AffineWeights w{p.out_features,   p.in_features,   p.in_features / p.group_size,
                        p.scale_format,   s.weights.codes, s.weights.scales,
                        s.weights.biases, p.bits};
  EXPECT_TRUE(affine_dequantize(w, weights).has_value());
  std::vector<float> terms;
  for (std::size_t i = 0; i < p.in_features; ++i) {
    const float product = s.x[row * p.in_features + i] * weights[output * p.in_features + i];
    terms.push_back(product);
  }
  return terms;
}

float by_pairs(const std::vector<float>& terms) {
  if (terms.size() == 1) return terms[0];
  std::vector<float> next;
  for (std::size_t i = 0; i + 1 < terms.size(); i += 2) next.push_back(terms[i] + terms[i + 1]);
  if (terms.size() % 2 != 0) next.push_back(terms.back());
  return by_pairs(next);
}

float by_definition(const PackedSample& s, std::size_t row, std::size_t output) {
  const std::vector<float> t = terms_of(s, row, output);
  if (t.empty()) return 0.0F;
  if (s.product.order == SumOrder::pairwise) return by_pairs(t);
  if (s.product.order == SumOrder::lanes) {
    std::array<float, 8> lane{};
    for (std::size_t i = 0; i < t.size(); ++i) lane[i % 8] = i < 8 ? t[i] : lane[i % 8] + t[i];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  }
  float sum = t[0];
  for (std::size_t i = 1; i < t.size(); ++i) sum += t[i];
  return sum;
}

TEST(AffineMatmul, AddsInEachOrderAsItIsDefined) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    PackedSample s = random_sample(random, false);
    if (s.product.order == SumOrder::per_group) s.product.order = SumOrder::pairwise;
    const std::vector<float> y = s.multiplied();
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(bits_of(y[i]), bits_of(by_definition(s, i / s.product.out_features, i % s.product.out_features)))
          << sum_order_name(s.product.order) << " of " << s.product.in_features;
  }
}

TEST(AffineMatmul, ByGroupsScalesTheSumOfCodesAndAddsTheBiasTimesTheSumOfInputs) {
  PackedSample s(1, 64, 1, 32, 4, Format::f32, SumOrder::per_group);
  for (std::size_t i = 0; i < 64; ++i) s.x[i] = i < 32 ? 1.0F : 0x1p-24F;
  s.set_code(0, 0, 15);
  s.set_scale(0, 0, 1.0F / 3.0F);
  s.set_bias(0, 0, 0.1F);
  s.set_bias(0, 1, 1.0F);
  const float first = (1.0F / 3.0F) * 15.0F + 0.1F * 32.0F;
  EXPECT_EQ(bits_of(s.multiplied()[0]), bits_of(first + 0x1p-19F));
}

TEST(AffineMatmul, OrdersGiveDifferentBitsFromTheSameNumbers) {
  // 1, then 127 times half the last place of 1: lost one by one, kept when they meet first.
  PackedSample s(1, 128, 1, 128, 4, Format::f32, SumOrder::sequential);
  s.set_bias(0, 0, 1.0F);
  for (float& x : s.x) x = 0x1p-24F;
  s.x[0] = 1.0F;
  EXPECT_EQ(s.multiplied()[0], 1.0F);
  s.product.order = SumOrder::lanes;
  EXPECT_EQ(s.multiplied()[0], 1.0F + 112 * 0x1p-24F);  // 7 lanes of 16; those of lane 0 are lost
  s.product.order = SumOrder::pairwise;
  EXPECT_EQ(s.multiplied()[0], 1.0F + 126 * 0x1p-24F);
}

TEST(AffineMatmul, NanIsOneNanWhateverWentIn) {
  for (const SumOrder order : kOrders) {
    PackedSample s = example(4, order);
    s.x[5] = std::bit_cast<float>(0xFF812345U);
    const std::vector<float> y = s.multiplied();
    EXPECT_EQ(bits_of(y[0]), 0x7FC00000U);
    EXPECT_EQ(bits_of(y[1]), 0x7FC00000U);
    EXPECT_EQ(y[2], 7.0F) << "another row";
  }
}

TEST(AffineMatmul, InfiniteScalesOfCodesAndOfZerosAreNotFinite) {
  for (const SumOrder order : kOrders) {
    PackedSample s = example(4, order);
    s.set_scale(0, 0, kInfinity);
    for (std::size_t i = 0; i < 32; ++i) s.set_code(0, i, 1);
    EXPECT_EQ(s.multiplied()[0], kInfinity);
    for (std::size_t i = 0; i < 32; ++i) s.set_code(0, i, 0);
    EXPECT_TRUE(std::isnan(s.multiplied()[0]));
    EXPECT_EQ(s.multiplied()[1], -24.0F) << "another output";
  }
}

TEST(AffineMatmul, OfEmptyShapesIsEmptyOrSumsOfNothing) {
  for (const SumOrder order : kOrders) {
    EXPECT_TRUE(PackedSample(0, 64, 3, 32, 4, Format::f16, order).multiplied().empty());
    EXPECT_TRUE(PackedSample(2, 64, 0, 32, 4, Format::f16, order).multiplied().empty());
    EXPECT_THAT(bits_of(PackedSample(2, 0, 3, 32, 4, Format::f16, order).multiplied()), Each(0U));
  }
}

TEST(AffineMatmul, OracleHoldsEveryAnswerOfTheCore) {
  Random random(12);
  std::size_t bounded = 0;
  std::size_t others = 0;
  for (int round = 0; round < 400; ++round) {
    const PackedSample s = random_sample(random, round % 2 != 0);
    ASSERT_EQ(oracle::unsoundness(s.for_oracle()), "");
    const std::vector<float> y = s.multiplied();
    ASSERT_EQ(y.size(), s.product.rows * s.product.out_features);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto expected =
          oracle::expected_element(s.for_oracle(), i / s.product.out_features, i % s.product.out_features);
      ++(expected.kind == oracle::ExpectedKind::bounded ? bounded : others);
      ASSERT_TRUE(expected.accepts(y[i])) << "element " << i << " is " << y[i] << " for " << expected.sum.value();
    }
  }
  EXPECT_GT(bounded, 500U);
  EXPECT_GT(others, 100U);
}

TEST(AffineGateUp, GivesWhatTwoProductsGive) {
  Random random(13);
  for (int round = 0; round < 100; ++round) {
    const PackedSample gate = random_sample(random, round % 2 != 0);
    PackedSample up = gate;
    for (std::uint8_t& byte : up.weights.codes) byte = static_cast<std::uint8_t>(random.bits());
    std::vector<float> gate_y(gate.product.rows * gate.product.out_features);
    std::vector<float> up_y(gate_y.size());
    ASSERT_TRUE(affine_gate_up(gate.arguments(), gate.weights.view(), up.weights.view(), gate_y, up_y).has_value());
    EXPECT_EQ(bits_of(gate_y), bits_of(gate.multiplied()));
    EXPECT_EQ(bits_of(up_y), bits_of(up.multiplied()));
  }
}

TEST(AffineGateUp, RefusesAnyOfItsMatrices) {
  PackedSample s = example(4, SumOrder::lanes);
  std::vector<float> gate(4);
  std::vector<float> up(4);
  PackedBytes shorter = s.weights;
  shorter.biases.pop_back();
  EXPECT_FALSE(affine_gate_up(s.arguments(), shorter.view(), s.weights.view(), gate, up).has_value());
  EXPECT_FALSE(affine_gate_up(s.arguments(), s.weights.view(), shorter.view(), gate, up).has_value());
  up.pop_back();
  EXPECT_FALSE(affine_gate_up(s.arguments(), s.weights.view(), s.weights.view(), gate, up).has_value());
}

TEST(AffineArguments, ThatDoNotFitAreRefusedByTheCoreAndUnsoundToTheOracle) {
  struct Row {
    std::function<void(PackedSample&)> change;
    const char* text;
  };
  const auto size_t_max = std::numeric_limits<std::size_t>::max();
  for (const Row& row : {
           Row{[](PackedSample& s) { s.product.bits = 7; }, "bits: codes of 7 bits; expected 2, 3, 4, 5, 6 or 8"},
           Row{[](PackedSample& s) { s.product.group_size = 60; }, "group_size: groups of 60; expected 32, 64 or 128"},
           Row{[](PackedSample& s) { s.product.group_size = 0; }, "group_size: groups of 0"},
           Row{[](PackedSample& s) { s.product.group_size = 128; }, "in_features is 64; expected a multiple of "},
           Row{[](PackedSample& s) { s.product.group_size = 64; }, "scales: 8 bytes; expected 4 from the shapes"},
           Row{[](PackedSample& s) { s.product.in_features = 96; }, "x: 128 numbers; expected 192"},
           Row{[](PackedSample& s) { s.product.rows = 3; }, "x: 128 numbers; expected 192"},
           Row{[](PackedSample& s) { s.product.out_features = 64; }, "codes: 64 bytes; expected 2048"},
           Row{[](PackedSample& s) { s.product.bits = 5; }, "codes: 64 bytes; expected 80"},
           Row{[](PackedSample& s) { s.product.scale_format = Format::f32; }, "scales: 8 bytes; expected 16"},
           Row{[](PackedSample& s) { s.product.scale_format = Format::e4m3fn; }, "scales are e4m3fn; expected bf16"},
           Row{[](PackedSample& s) { s.weights.codes.pop_back(); }, "codes: 63 bytes; expected 64"},
           Row{[](PackedSample& s) { s.weights.scales.push_back(0); }, "scales: 9 bytes; expected 8"},
           Row{[](PackedSample& s) { s.weights.biases.clear(); }, "biases: 0 bytes; expected 8"},
           Row{[](PackedSample& s) { s.x.pop_back(); }, "x: 127 numbers; expected 128"},
           Row{[&](PackedSample& s) { s.product.rows = size_t_max; }, "x: the shape overflows"},
           Row{[&](PackedSample& s) { s.product.out_features = size_t_max / 16; }, "codes: the shape overflows"},
       }) {
    PackedSample s = example(4, SumOrder::lanes);
    row.change(s);
    std::vector<float> y(4, 9.0F);
    const Result<void> refused = affine_matmul(s.arguments(), s.weights.view(), y);
    ASSERT_FALSE(refused.has_value()) << row.text;
    EXPECT_THAT(refused.error().text(), HasSubstr(row.text));
    EXPECT_THAT(y, Each(9.0F)) << "written before it was refused";
    EXPECT_NE(oracle::unsoundness(s.for_oracle()), "") << row.text;
  }
}

TEST(AffineArguments, AnOutputOfAnotherSizeIsRefused) {
  const PackedSample s = example(4, SumOrder::lanes);
  std::vector<float> y(3);
  EXPECT_THAT(affine_matmul(s.arguments(), s.weights.view(), y).error().text(), HasSubstr("y: 3 numbers; expected 4"));
}

TEST(AffineArguments, WithoutTheirRulesReadPastABufferAndAreRefusedThere) {
  // MarkBase's two bugs on 15360 x 3840 in groups of 64, made smaller: 8 outputs of 60 groups.
  PackedSample s(1, 3840, 8, 64, 4, Format::bf16, SumOrder::sequential);
  std::vector<float> y(8);
  const auto refusal = [&](const ProductRules& rules) {
    const Result<void> refused = affine_matmul(s.arguments(), s.weights.view(), y, rules);
    return refused ? std::string("answered") : refused.error().text();
  };
  // 480 scales of 2 bytes are 240 of 4: row 4 is the first past them.
  EXPECT_THAT(refusal({.scales = ProductScales::bytes_as_f32}),
              HasSubstr("scales of output 4, group 0: index 240; expected an index below 240"));
  // Groups of 60: 64 a row. 7 rows have 448, the eighth has 32 left.
  EXPECT_THAT(refusal({.group = ProductGroup::scale_columns}), HasSubstr("scales of output 7, group 32: index 480"));
}

TEST(AffineArguments, AGroupSizeThatIsNotPassedMattersToTheKernelOfOneMatrixAlone) {
  PackedSample s(1, 64, 1, 32, 4, Format::f32, SumOrder::lanes);
  for (float& x : s.x) x = 1.0F;
  s.set_bias(0, 0, 1.0F);
  s.set_bias(0, 1, 2.0F);
  const ProductRules rules{.group = ProductGroup::not_passed};
  EXPECT_THAT(s.multiplied(rules), ElementsAre(64.0F));
  std::vector<float> gate(1);
  std::vector<float> up(1);
  ASSERT_TRUE(affine_gate_up(s.arguments(), s.weights.view(), s.weights.view(), gate, up, rules).has_value());
  EXPECT_THAT(gate, ElementsAre(96.0F));
}

/// What each rule makes of a product that shows it.
TEST(AffineRules, EachChangesTheAnswer) {
  const auto numbered = [](std::size_t rows, std::size_t in, std::size_t out, unsigned bits, Format format) {
    PackedSample s(rows, in, out, 32, bits, format, SumOrder::sequential);
    for (std::size_t i = 0; i < s.x.size(); ++i) s.x[i] = static_cast<float>(i % 7);
    for (std::size_t o = 0; o < out; ++o) {
      for (std::size_t i = 0; i < in; ++i) s.set_code(o, i, static_cast<unsigned>(i + o) % (1U << bits));
      for (std::size_t g = 0; g < in / 32; ++g) {
        s.set_scale(o, g, static_cast<float>(1 + o + 2 * g));
        s.set_bias(o, g, static_cast<float>(3 + 5 * o + g));
      }
    }
    return s;
  };
  const std::vector<ProductRules> rules{{.scales = ProductScales::half_as_bfloat},
                                        {.group = ProductGroup::scale_columns},
                                        {.group = ProductGroup::out_per_column},
                                        {.group = ProductGroup::not_passed},
                                        {.input = ProductInput::not_reset},
                                        {.features = ProductFeatures::not_passed},
                                        {.row = ProductRow::first},
                                        {.layout = ProductLayout::by_group},
                                        {.codes = ProductCodes::high_first},
                                        {.bias = ProductBias::dropped},
                                        {.bias = ProductBias::per_row},
                                        {.tail = ProductTail::whole_steps},
                                        {.outputs = ProductOutputs::whole_tiles},
                                        {.sum = ProductSum::half}};
  const PackedSample s = numbered(2, 96, 3, 4, Format::f16);
  for (std::size_t i = 0; i < rules.size(); ++i) EXPECT_NE(s.multiplied(rules[i]), s.multiplied()) << "rule " << i;
  for (const unsigned bits : {3U, 5U, 6U}) {
    const PackedSample wide = numbered(1, 96, 1, bits, Format::f32);
    EXPECT_NE(wide.multiplied({.codes = ProductCodes::within_word}), wide.multiplied()) << bits;
    EXPECT_NE(wide.multiplied({.codes = ProductCodes::per_word}), wide.multiplied()) << bits;
  }
}

TEST(AffineRules, ACommonScaleOfTheInputsMakesARowDependOnTheOthers) {
  PackedSample s(2, 32, 1, 32, 4, Format::f32, SumOrder::lanes);
  s.set_bias(0, 0, 1.0F);
  s.x[0] = 1.0F + 0x1p-10F;
  const ProductRules rules{.input = ProductInput::common_scale};
  EXPECT_EQ(s.multiplied(rules), s.multiplied());
  s.x[0] *= 0x1p-40F;  // small numbers alone lose nothing
  EXPECT_EQ(s.multiplied(rules), s.multiplied());
  s.x[0] *= 0x1p40F;
  s.x[32] = 0x1p20F;
  EXPECT_THAT(s.multiplied(rules), ElementsAre(1.0F, 0x1p20F));
  EXPECT_THAT(s.multiplied(), ElementsAre(1.0F + 0x1p-10F, 0x1p20F));
}

TEST(AffineRules, WeightsOfTheDtypeOfTheScalesLoseBits) {
  PackedSample s(1, 32, 1, 32, 4, Format::bf16, SumOrder::sequential);
  s.set_scale(0, 0, 0x1.02p0F);
  s.set_code(0, 0, 3);
  s.x[0] = 1.0F;
  EXPECT_THAT(s.multiplied(), ElementsAre(3 * 0x1.02p0F));
  EXPECT_THAT(s.multiplied({.weights = ProductWeights::scale_format}), ElementsAre(0x1.84p1F));
}

TEST(AffineRules, WithoutChecksWhatIsLeftOverIsNotRefused) {
  PackedSample s = example(4, SumOrder::lanes);
  s.weights.codes.resize(80);
  EXPECT_TRUE(s.multiplied().empty());
  EXPECT_THAT(s.multiplied({.checks = ProductChecks::at_the_index}), ElementsAre(5.5F, -24.0F, 7.0F, -25.0F));
}

TEST(AffineScales, AreWidenedExactlyFromEveryHalfAndBfloat) {
  for (const Format format : {Format::f16, Format::bf16}) {
    for (std::uint64_t code = 0; code < 0x10000; ++code) {
      std::array<std::uint8_t, 2> bytes{};
      store_element(spec(format), bytes, 0, code);
      const float number = scale_at(format, bytes, 0);
      const auto expected = static_cast<std::uint32_t>(convert(format, Format::f32, code));
      if (std::isnan(number))
        ASSERT_TRUE(std::isnan(std::bit_cast<float>(expected))) << code;
      else
        ASSERT_EQ(bits_of(number), expected) << code;
    }
  }
  EXPECT_EQ(bits_of(scale_at(Format::f32, std::array<std::uint8_t, 4>{1, 0, 0, 0x80}, 0)), 0x80000001U);
}

TEST(SumOrders, HaveNames) {
  for (const SumOrder order : kOrders) EXPECT_EQ(sum_order_named(sum_order_name(order)), order);
  EXPECT_EQ(sum_order_named("backwards"), std::nullopt);
}

}  // namespace
}  // namespace packcheck::test
