// The executor: numbers worked out by hand, the oracle, finite differences, and the documented bugs.
#include "core/graph/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "properties/oracles/execute_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Tensors = std::vector<Tensor<double>>;

/// A node in f64.
struct Node {
  const char* op;
  Dimensions attributes;
  Tensors inputs;
};

Result<Tensor<double>> forward(const Node& n, const ExecRules& rules = {}) {
  return run_forward<double>(**exec_operator_named(n.op), {n.attributes, n.inputs}, rules);
}
Result<Tensors> backward(const Node& n, const std::vector<double>& upstream, const ExecRules& rules = {}) {
  return run_backward<double>(**exec_operator_named(n.op), {n.attributes, n.inputs}, upstream, rules);
}

oracle::ExecutedNode for_oracle(const Node& n) {
  oracle::ExecutedNode node{n.op, false, n.attributes, {}, {}};
  for (const Tensor<double>& input : n.inputs) {
    node.shapes.push_back(input.shape);
    node.inputs.push_back(input.elements);
  }
  return node;
}

Tensor<double> random_tensor(Random& random, Dimensions shape) {
  Tensor<double> t{std::move(shape), {}};
  for (std::int64_t i = element_count(t.shape, "test").value(); i > 0; --i)
    t.elements.push_back(static_cast<double>(random.below(4001)) / 512 - 3.9);
  return t;
}

/// One node of each operator, with every size different.
std::vector<Node> samples(Random& random) {
  const auto t = [&](Dimensions shape) { return random_tensor(random, std::move(shape)); };
  return {{"conv2d", {2, 1, 1, 2, 1, 2, 2}, {t({2, 4, 6, 7}), t({6, 2, 3, 2}), t({6})}},
          {"conv2d", {1, 1, 0, 0, 1, 1, 1}, {t({1, 1, 4, 5}), t({1, 1, 3, 2})}},
          {"maxpool2d", {3, 2, 2, 1, 1, 0}, {t({2, 2, 6, 5})}},
          {"avgpool2d", {3, 2, 2, 1, 1, 1}, {t({2, 2, 6, 5})}},
          {"linear", {}, {t({2, 3, 5}), t({4, 5}), t({4})}},
          {"relu", {}, {t({3, 7})}},
          {"flatten", {1}, {t({2, 3, 4})}},
          {"add", {}, {t({2, 3, 4}), t({3, 1})}},
          {"softmax_cross_entropy", {}, {t({3, 5}), {{3}, {4, 0, 2}}}}};
}

std::vector<double> ones_and_more(std::size_t count) {
  std::vector<double> up;
  for (std::size_t i = 0; i < count; ++i) up.push_back(1 + 0.25 * static_cast<double>(i % 5));
  return up;
}

TEST(Executor, AgreesWithTheOracleWithinItsBoundForwardAndBackward) {
  Random random(1);
  for (const Node& n : samples(random)) {
    const Tensor<double> output = forward(n).value();
    const oracle::BoundedArray right = oracle::output_of(for_oracle(n)).value();
    ASSERT_EQ(output.elements.size(), right.size()) << n.op;
    for (std::size_t i = 0; i < right.size(); ++i)
      EXPECT_LE(std::fabs(output.elements[i] - right[i].value), right[i].bound) << n.op << " " << i;
    const std::vector<double> up = ones_and_more(right.size());
    const Tensors gradients = backward(n, up).value();
    const auto right_gradients = oracle::gradients_of(for_oracle(n), up).value();
    ASSERT_EQ(gradients.size(), right_gradients.size()) << n.op;
    for (std::size_t k = 0; k < gradients.size(); ++k)
      for (std::size_t i = 0; i < gradients[k].elements.size(); ++i)
        EXPECT_LE(std::fabs(gradients[k].elements[i] - right_gradients[k][i].value), right_gradients[k][i].bound)
            << n.op << " input " << k << " element " << i;
  }
}

TEST(Executor, GradientsAreTheSlopesThatFiniteDifferencesGive) {
  Random random(2);
  constexpr double kStep = 0x1p-18;
  for (Node n : samples(random)) {
    const std::vector<double> up = ones_and_more(forward(n)->elements.size());
    const Tensors gradients = backward(n, up).value();
    const auto weighted = [&] {
      const Tensor<double> output = forward(n).value();
      double sum = 0;
      for (std::size_t i = 0; i < up.size(); ++i) sum += up[i] * output.elements[i];
      return sum;
    };
    for (std::size_t k = 0; k < gradients.size(); ++k)
      for (std::size_t i = 0; i < gradients[k].elements.size(); ++i) {
        double& x = n.inputs[k].elements[i];
        const double middle = x;
        x = middle + kStep;
        const double above = weighted();
        x = middle - kStep;
        const double slope = (above - weighted()) / (2 * kStep);
        x = middle;
        EXPECT_NEAR(gradients[k].elements[i], slope, 1e-7) << n.op << " input " << k << " element " << i;
      }
  }
}

TEST(Executor, BackwardIsTheAdjointOfForward) {
  Random random(3);
  for (const Node& n : samples(random)) {
    if (std::string_view(n.op) == "softmax_cross_entropy") continue;  // not linear
    const Tensor<double> output = forward(n).value();
    const std::vector<double> up = ones_and_more(output.elements.size());
    double of_output = 0;
    for (std::size_t i = 0; i < up.size(); ++i) of_output += up[i] * output.elements[i];
    // Weight and bias together, or the input and the bias: each half is linear.
    const Tensors gradients = backward(n, up).value();
    double of_inputs = 0;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      const bool twice = k == 1 && std::string_view(n.op) != "add";
      for (std::size_t i = 0; i < gradients[k].elements.size() && !twice; ++i)
        of_inputs += gradients[k].elements[i] * n.inputs[k].elements[i];
    }
    EXPECT_NEAR(of_output, of_inputs, 1e-9 * (1 + std::fabs(of_output))) << n.op;
  }
}

TEST(Executor, ConvolvesAsWorkedOutByHand) {
  const Node n{"conv2d",
               {1, 1, 0, 0, 1, 1, 1},
               {{{1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {{1, 1, 2, 2}, {1, 10, 100, 1000}}, {{1}, {0.5}}}};
  EXPECT_THAT(forward(n)->elements, ElementsAre(5421.5, 6532.5, 8754.5, 9865.5));
  EXPECT_EQ(forward(n)->shape, (Dimensions{1, 1, 2, 2}));
  const Tensors g = backward(n, {1, 1, 1, 1}).value();
  EXPECT_THAT(g[0].elements, ElementsAre(1, 11, 10, 101, 1111, 1010, 100, 1100, 1000));
  EXPECT_THAT(g[1].elements, ElementsAre(12, 16, 24, 28));
  EXPECT_THAT(g[2].elements, ElementsAre(4));
}

TEST(Executor, TheFirstLargestOfAWindowWinsAndPaddingAndNansTakeNoPart) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Node tie{"maxpool2d", {2, 2, 2, 2, 0, 0}, {{{1, 1, 2, 2}, {1, 7, 7, 0}}}};
  EXPECT_THAT(backward(tie, {3})->front().elements, ElementsAre(0, 3, 0, 0));
  const Node negative{"maxpool2d", {2, 2, 2, 2, 1, 1}, {{{1, 1, 2, 2}, {-1, -2, -3, -4}}}};
  EXPECT_THAT(forward(negative)->elements, ElementsAre(-1, -2, -3, -4));
  const Node nan{"maxpool2d", {2, 2, 2, 2, 0, 0}, {{{1, 1, 2, 2}, {kNan, -7, kNan, -8}}}};
  EXPECT_THAT(forward(nan)->elements, ElementsAre(-7));
  const Node nothing{"maxpool2d", {1, 1, 1, 1, 0, 0}, {{{1, 1, 1, 1}, {kNan}}}};
  EXPECT_THAT(forward(nothing)->elements, ElementsAre(-kInfinity));
  EXPECT_THAT(backward(nothing, {3})->front().elements, ElementsAre(0));
  const Node average{"avgpool2d", {2, 2, 2, 2, 1, 1}, {{{1, 1, 2, 2}, {-1, -2, -3, -4}}}};
  EXPECT_THAT(forward(average)->elements, ElementsAre(-1, -2, -3, -4));
}

TEST(Executor, CrossEntropyIsTheMeanOverSamplesAndClampsProbabilities) {
  const Node n{"softmax_cross_entropy", {}, {{{2, 2}, {0, 0, 0, 0}}, {{2}, {0, 1}}}};
  EXPECT_DOUBLE_EQ(forward(n)->elements[0], std::log(2.0));
  EXPECT_THAT(backward(n, {1})->front().elements, ElementsAre(-0.25, 0.25, 0.25, -0.25));
  const Node far{"softmax_cross_entropy", {}, {{{1, 2}, {0, 1000}}, {{1}, {0}}}};
  EXPECT_DOUBLE_EQ(forward(far)->elements[0], -std::log(1e-30));
  EXPECT_NEAR(static_cast<double>(oracle::output_of(for_oracle(far))->front().value), 69.0775527898, 1e-9);
  for (const double label : {2.0, -1.0, 0.5, std::numeric_limits<double>::quiet_NaN()}) {
    const Node wrong{"softmax_cross_entropy", {}, {{{1, 2}, {0, 0}}, {{1}, {label}}}};
    EXPECT_THAT(forward(wrong).error().text(), HasSubstr("at sample 0")) << label;
    EXPECT_FALSE(backward(wrong, {1}));
    EXPECT_FALSE(oracle::output_of(for_oracle(wrong)));
  }
}

TEST(Executor, RefusesWhatDoesNotFitItsShapesBeforeItAllocates) {
  const Node few{"relu", {}, {{{2, 3}, {1, 2}}}};
  EXPECT_EQ(forward(few).error().text(), "relu: 2 elements of input 0; expected 6 for the shape [2, 3]");
  const Node large{"conv2d", {1, 1, 2000000, 2000000, 1, 1, 1}, {{{1, 1, 1, 1}, {1}}, {{1, 1, 1, 1}, {1}}}};
  EXPECT_THAT(forward(large).error().text(), HasSubstr("at most 2^32 products"));
  const Node wide{"conv2d", {1, 1, 5000, 5000, 1, 1, 1}, {{{1, 1, 1, 1}, {1}}, {{1, 1, 1, 1}, {1}}}};
  EXPECT_THAT(forward(wide).error().text(), HasSubstr("at most 2^26 numbers"));
  const Node far{"maxpool2d", {1, 1, 1, 1, INT64_MAX, 0}, {{{1, 1, 1, 1}, {1}}}};
  EXPECT_FALSE(forward(far));
  const Node good{"relu", {}, {{{2}, {1, 2}}}};
  EXPECT_THAT(backward(good, {1}).error().text(), HasSubstr("1 upstream gradients"));
  const Node three{"add", {}, {{{1}, {1}}}};
  EXPECT_THAT(forward(three).error().text(), HasSubstr("1 inputs; expected 2 to 2"));
  EXPECT_THAT(exec_operator_named("gelu").error().text(), HasSubstr("maxpool2d"));
}

TEST(ExecRules, EachGivesTheWrongNumbersOfItsBug) {
  Random random(4);
  const std::vector<Node> n = samples(random);
  const auto differs = [&](const Node& node, const ExecRules& rules) {
    const std::vector<double> up = ones_and_more(forward(node)->elements.size());
    const Tensors right = backward(node, up).value();
    const Tensors wrong = backward(node, up, rules).value();
    bool other = forward(node)->elements != forward(node, rules)->elements;
    for (std::size_t k = 0; k < right.size(); ++k) other = other || right[k].elements != wrong[k].elements;
    return other;
  };
  const Node rest{
      "conv2d", {2, 2, 0, 0, 1, 1, 1}, {random_tensor(random, {1, 1, 4, 4}), random_tensor(random, {1, 1, 3, 3})}};
  EXPECT_TRUE(differs(rest, {.input_row = InputRow::derived_from_output})) << "a remainder of 1";
  EXPECT_FALSE(differs(n[1], {.input_row = InputRow::derived_from_output})) << "stride 1: no remainder";
  EXPECT_TRUE(differs(n[0], {.columns = ColumnOrder2d::channel_last}));
  EXPECT_TRUE(differs(n[0], {.folding = Folding::overwrites}));
  EXPECT_TRUE(differs({"maxpool2d", {2, 2, 2, 2, 0, 0}, {{{1, 1, 2, 2}, {7, 7, 7, 7}}}}, {.tie = PoolTie::last}));
  EXPECT_TRUE(
      differs({"maxpool2d", {2, 2, 2, 2, 1, 1}, {{{1, 1, 2, 2}, {-7, -7, -7, -7}}}}, {.padding = PaddingCells::zeros}));
  EXPECT_TRUE(differs(n[3], {.divisor = PoolDivisor::whole_window}));
  EXPECT_TRUE(differs(n[4], {.weight_gradient = WeightGradient::in_out}));
  EXPECT_TRUE(differs(n[5], {.relu = ReluGradient::of_upstream}));
  EXPECT_TRUE(differs(n[7], {.repetition = Repetition::tiled}));
  EXPECT_TRUE(differs(n[8], {.loss_gradient = LossGradient::sum}));
  EXPECT_TRUE(differs(n[8], {.loss = LossValue::sum}));
  EXPECT_TRUE(differs(n[8], {.labels = LabelUse::first_class}));
  const Node beyond{"softmax_cross_entropy", {}, {{{1, 2}, {0, 1}}, {{1}, {7}}}};
  EXPECT_FALSE(forward(beyond));
  EXPECT_TRUE(forward(beyond, {.labels = LabelUse::clamped}));
  EXPECT_TRUE(differs({"softmax_cross_entropy", {}, {{{1, 2}, {1000, 0}}, {{1}, {0}}}}, {.shift = SoftmaxShift::none}));
  EXPECT_TRUE(differs({"maxpool2d", {1, 1, 1, 1, 0, 0}, {{{1, 1, 1, 1}, {-7}}}}, {.start = PoolStart::zero}));
  EXPECT_TRUE(differs(n[0], {.bias = BiasGradient::missing}));
  EXPECT_TRUE(differs(n[4], {.bias = BiasGradient::missing}));
  EXPECT_TRUE(differs(n[7], {.broadcast = BroadcastGradient::last}));
  EXPECT_TRUE(
      differs({"flatten", {1}, {random_tensor(random, {2, 2, 2, 2})}}, {.flatten = FlattenOrder::channels_last}));
}

}  // namespace
}  // namespace packcheck::test
