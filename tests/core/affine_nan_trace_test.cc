// Where a NaN comes from: every cause, the first layer, row, output and group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/affine/nan_trace.h"
#include "tests/core/packed_samples.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Every weight is 1: codes 1, scales 1, biases 0.
PackedSample ones(std::size_t rows, std::size_t in, std::size_t out, Format format = Format::f32) {
  PackedSample s(rows, in, out, 32, 4, format, SumOrder::lanes);
  for (float& x : s.x) x = 1.0F;
  for (std::uint8_t& byte : s.weights.codes) byte = 0x11;
  for (std::size_t o = 0; o < out; ++o)
    for (std::size_t g = 0; g < in / 32; ++g) s.set_scale(o, g, 1.0F);
  return s;
}

std::optional<NanTrace> trace_of(const PackedSample& s) {
  const TracedLayer layer{"only", s.product, s.weights.view()};
  const Result<std::optional<NanTrace>> trace = trace_nan({&layer, 1}, s.x, s.product.rows);
  EXPECT_TRUE(trace.has_value());
  return trace.value_or(std::nullopt);
}

TEST(NanTrace, OfFiniteOutputsIsNothing) { EXPECT_FALSE(trace_of(ones(2, 64, 3)).has_value()); }

TEST(NanTrace, NamesEveryCauseAndItsGroup) {
  struct Row {
    std::function<void(PackedSample&)> change;
    const char* text;
  };
  for (const Row& row :
       {Row{[](PackedSample& s) { s.set_scale(2, 1, kNan); }, "only, row 0, output 2, group 1: a scale is NaN"},
        Row{[](PackedSample& s) { s.set_scale(1, 0, kInfinity); }, "row 0, output 1, group 0: a scale is infinite"},
        Row{[](PackedSample& s) { s.set_bias(0, 1, kNan); }, "row 0, output 0, group 1: a bias is NaN"},
        Row{[](PackedSample& s) { s.set_bias(0, 1, -kInfinity); }, "row 0, output 0, group 1: a bias is infinite"},
        Row{[](PackedSample& s) { s.x[64 + 40] = kNan; }, "row 1, output 0, group 1: an input is NaN"},
        Row{[](PackedSample& s) { s.x[64 + 3] = -kInfinity; }, "row 1, output 0, group 0: an input is infinite"},
        Row{[](PackedSample& s) { s.x[40] = s.x[41] = 0x1.8p127F; }, "row 0, output 0, group 1: a product overflows"},
        Row{[](PackedSample& s) {
              s.set_scale(1, 1, 0x1p127F);
              s.set_code(1, 33, 15);
            },
            "row 0, output 1, group 1: a product overflows"}}) {
    PackedSample s = ones(2, 64, 3);
    row.change(s);
    const std::optional<NanTrace> trace = trace_of(s);
    ASSERT_TRUE(trace.has_value()) << row.text;
    EXPECT_THAT(trace->text(), HasSubstr(row.text));
  }
}

TEST(NanTrace, NamesTheFirstRowOutputAndGroup) {
  PackedSample s = ones(3, 96, 4);
  s.set_scale(3, 0, kNan);
  s.set_scale(1, 2, kNan);
  s.set_bias(1, 1, kInfinity);
  s.x[96] = kNan;  // row 1
  EXPECT_EQ(trace_of(s)->text(), "only, row 0, output 1, group 1: a bias is infinite");
}

TEST(NanTrace, InEveryOrderAnOverflowOfAPartialSumIsOne) {
  for (const SumOrder order : kOrders) {
    PackedSample s = ones(1, 64, 1);
    s.product.order = order;
    // The exact sum of each group is 0, but any two numbers of one sign are too much.
    for (std::size_t i = 0; i < 64; ++i) s.x[i] = i % 32 < 16 ? 0x1p127F : -0x1p127F;
    const std::optional<NanTrace> trace = trace_of(s);
    ASSERT_TRUE(trace.has_value()) << sum_order_name(order);
    EXPECT_EQ(trace->text(), "only, row 0, output 0, group 0: a product overflows");
  }
}

TEST(NanTrace, FollowsTheLayersToTheFirstThatMakesOne) {
  const PackedSample first = ones(2, 64, 32);
  PackedSample second = ones(2, 32, 64);
  const PackedSample third = ones(2, 64, 1);
  const auto traced = [&] {
    const std::vector<TracedLayer> layers{{"up", first.product, first.weights.view()},
                                          {"down", second.product, second.weights.view()},
                                          {"head", third.product, third.weights.view()}};
    return trace_nan(layers, first.x, 2).value();
  };
  EXPECT_FALSE(traced().has_value());
  second.set_bias(9, 0, kNan);
  ASSERT_TRUE(traced().has_value());
  EXPECT_EQ(traced()->layer, 1U);
  EXPECT_EQ(traced()->text(), "down, row 0, output 9, group 0: a bias is NaN");
}

TEST(NanTrace, FindsBfloatScalesReadAsHalves) {
  // bf16 255·2^k read as f16 has another exponent: 0x7F80 is infinity in bf16 and NaN in f16.
  PackedSample s = ones(1, 32, 2, Format::bf16);
  s.set_scale(1, 0, 0x1.fep127F);  // 0x7F7F
  s.product.scale_format = Format::f16;
  EXPECT_EQ(trace_of(s)->text(), "only, row 0, output 1, group 0: a scale is NaN");
}

TEST(NanTrace, RefusesLayersThatDoNotFitTogether) {
  const PackedSample first = ones(2, 64, 32);
  const PackedSample second = ones(2, 64, 1);
  const std::vector<TracedLayer> layers{{"up", first.product, first.weights.view()},
                                        {"down", second.product, second.weights.view()}};
  const Result<std::optional<NanTrace>> trace = trace_nan(layers, first.x, 2);
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().text(), "down: affine product, x: 64 numbers; expected 128 from the shapes");
}

}  // namespace
}  // namespace packcheck::test
