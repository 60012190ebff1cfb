// The bounds of the executor's oracle are not wider than they must be: numbers that come within 5 % of each.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/graph/exec.h"
#include "properties/oracles/execute_oracle.h"

namespace packcheck::test {
namespace {

using Real = long double;

/// Numbers of an element type that round as badly as numbers can. `factor` · `cofactor` is 1 + unit, half way between
/// two numbers, and becomes 1; so does 1 + unit.
template <class T>
struct Worst;
template <>
struct Worst<float> {
  static constexpr float unit = 0x1p-24F;
  static constexpr float factor = 97;
  static constexpr float cofactor = 172961 * unit;  // 97 · 172961 = 2^24 + 1
};
template <>
struct Worst<double> {
  static constexpr double unit = 0x1p-53;
  static constexpr double factor = 321;
  static constexpr double cofactor = 28059810762433 * unit;  // 321 · 28059810762433 = 2^53 + 1
};

/// `first` and then units.
template <class T>
std::vector<T> first_and_units(T first, std::size_t count) {
  std::vector<T> numbers(count, Worst<T>::unit);
  numbers[0] = first;
  return numbers;
}
template <class T>
std::vector<T> first_and_ones(T first, std::size_t count) {
  std::vector<T> numbers(count, T{1});
  numbers[0] = first;
  return numbers;
}

template <class T>
struct Node {
  const char* op;
  Dimensions attributes;
  std::vector<Tensor<T>> inputs;
};

template <class T>
oracle::ExecutedNode for_oracle(const Node<T>& n) {
  oracle::ExecutedNode node{n.op, sizeof(T) == sizeof(float), n.attributes, {}, {}};
  for (const Tensor<T>& input : n.inputs) {
    node.shapes.push_back(input.shape);
    node.inputs.emplace_back(input.elements.begin(), input.elements.end());
  }
  return node;
}

/// The largest share of its bound by which an element is off.
template <class T>
Real share_of_bound(const std::vector<T>& actual, const oracle::BoundedArray& right) {
  Real most = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const Real share = std::fabs(Real{actual[i]} - right[i].value) / right[i].bound;
    EXPECT_LE(share, 1) << i;
    most = std::max(most, share);
  }
  return most;
}

template <class T>
Real output_share(const Node<T>& n) {
  const auto output = run_forward<T>(**exec_operator_named(n.op), {n.attributes, n.inputs});
  return share_of_bound(output.value().elements, oracle::output_of(for_oracle(n)).value());
}
template <class T>
Real gradient_share(const Node<T>& n, const std::vector<T>& upstream, std::size_t input) {
  const auto gradients = run_backward<T>(**exec_operator_named(n.op), {n.attributes, n.inputs}, upstream);
  const std::vector<double> up(upstream.begin(), upstream.end());
  return share_of_bound(gradients.value()[input].elements, oracle::gradients_of(for_oracle(n), up).value()[input]);
}

template <class T>
class ExecutorBounds : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(ExecutorBounds, Elements);

constexpr std::int64_t kTerms = 16;
const Dimensions kPlain{1, 1, 0, 0, 1, 1, 1};

TYPED_TEST(ExecutorBounds, OfConvolutionAreReached) {
  using T = TypeParam;
  using W = Worst<T>;
  const Node<T> row{"conv2d",
                    kPlain,
                    {{{1, 1, 1, kTerms}, first_and_units<T>(W::factor, kTerms)},
                     {{1, 1, 1, kTerms}, first_and_ones<T>(W::cofactor, kTerms)}}};
  EXPECT_GE(output_share(row), 0.95L);
  const Node<T> filters{
      "conv2d", kPlain, {{{1, 1, 1, 1}, {1}}, {{kTerms, 1, 1, 1}, first_and_ones<T>(W::cofactor, kTerms)}}};
  EXPECT_GE(gradient_share(filters, first_and_units<T>(W::factor, kTerms), 0), 0.95L);
  const Node<T> positions{
      "conv2d", kPlain, {{{1, 1, 1, kTerms}, first_and_ones<T>(W::cofactor, kTerms)}, {{1, 1, 1, 1}, {1}}, {{1}, {0}}}};
  EXPECT_GE(gradient_share(positions, first_and_units<T>(W::factor, kTerms), 1), 0.95L);
  EXPECT_GE(gradient_share(positions, first_and_units<T>(1, kTerms), 2), 0.95L);
}

TYPED_TEST(ExecutorBounds, OfLinearAreReached) {
  using T = TypeParam;
  using W = Worst<T>;
  const Node<T> row{
      "linear",
      {},
      {{{kTerms}, first_and_units<T>(W::factor, kTerms)}, {{1, kTerms}, first_and_ones<T>(W::cofactor, kTerms)}}};
  EXPECT_GE(output_share(row), 0.95L);
  const Node<T> outs{"linear", {}, {{{1}, {1}}, {{kTerms, 1}, first_and_ones<T>(W::cofactor, kTerms)}}};
  EXPECT_GE(gradient_share(outs, first_and_units<T>(W::factor, kTerms), 0), 0.95L);
  const Node<T> rows{"linear", {}, {{{kTerms, 1}, first_and_ones<T>(W::cofactor, kTerms)}, {{1, 1}, {1}}, {{1}, {0}}}};
  EXPECT_GE(gradient_share(rows, first_and_units<T>(W::factor, kTerms), 1), 0.95L);
  EXPECT_GE(gradient_share(rows, first_and_units<T>(1, kTerms), 2), 0.95L);
}

TYPED_TEST(ExecutorBounds, OfPoolingAndAddAreReached) {
  using T = TypeParam;
  const Node<T> average{"avgpool2d", {8, 8, 8, 8, 0, 0}, {{{1, 1, 8, 8}, first_and_units<T>(1, 64)}}};
  EXPECT_GE(output_share(average), 0.95L);
  // One cell under 81 windows.
  const Dimensions around{9, 9, 1, 1, 8, 8};
  for (const char* op : {"avgpool2d", "maxpool2d"})
    EXPECT_GE(gradient_share<T>({op, around, {{{1, 1, 1, 1}, {1}}}}, first_and_units<T>(1, 81), 0), 0.95L) << op;
  const Node<T> sum{"add", {}, {{{kTerms}, first_and_ones<T>(1, kTerms)}, {{1}, {Worst<T>::unit}}}};
  EXPECT_GE(output_share(sum), 0.95L);
  EXPECT_GE(gradient_share(sum, first_and_units<T>(1, kTerms), 1), 0.95L);
}

/// The loss and its gradient as a sound implementation has them for which everything rounds the worst way: each
/// difference, sum, product and division by u, each exponential and logarithm by one unit in the last place.
struct WorstLoss {
  Real unit;
  std::vector<std::vector<double>> logits;
  std::vector<std::size_t> labels;

  /// The share of class `c`, off downward (−1) or upward (1) as far as it goes.
  [[nodiscard]] Real share(std::size_t row, std::size_t c, Real way) const {
    const std::vector<double>& z = logits[row];
    const Real largest = *std::max_element(z.begin(), z.end());
    Real own = 0;
    Real sum = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const Real towards = i == c ? way : -way;
      const Real e = std::exp((z[i] - largest) * (1 - towards * unit)) * (1 + towards * 2 * unit);
      sum += e;
      if (i == c) own = e;
    }
    return own / (sum * (1 - way * static_cast<Real>(z.size() - 1) * unit)) * (1 + way * unit);
  }
  [[nodiscard]] Real loss() const {
    Real sum = 0;
    for (std::size_t row = 0; row < labels.size(); ++row)
      sum += -std::log(std::max(share(row, labels[row], -1), 1e-30L * (1 - unit))) * (1 + 2 * unit);
    const auto samples = static_cast<Real>(labels.size());
    return sum * (1 + (samples - 1 + 2) * unit) / samples;
  }
  [[nodiscard]] Real gradient(std::size_t row, std::size_t c) const {
    const bool own = c == labels[row];
    const Real difference = share(row, c, own ? -1 : 1) - (own ? 1 : 0);
    return difference * (1 + 4 * unit) / static_cast<Real>(labels.size());
  }
  [[nodiscard]] oracle::ExecutedNode node() const {
    const auto samples = static_cast<std::int64_t>(labels.size());
    oracle::ExecutedNode n{"softmax_cross_entropy",
                           unit > 0x1p-30L,
                           {},
                           {{samples, static_cast<std::int64_t>(logits[0].size())}, {samples}},
                           {{}, {}}};
    for (const std::vector<double>& row : logits) n.inputs[0].insert(n.inputs[0].end(), row.begin(), row.end());
    for (const std::size_t label : labels) n.inputs[1].push_back(static_cast<double>(label));
    return n;
  }
};

TYPED_TEST(ExecutorBounds, OfCrossEntropyAreReachedByAnImplementationThatRoundsTheWorstWay) {
  const std::vector<std::vector<std::vector<double>>> tables{
      {{0, 0}}, {{0, 0, 0, 0, 0}}, {{0, 12, 3}}, {{-3, 1, 30}, {2, 2, 1}, {0, 40, 5}}, {{0, 100}}};
  for (const auto& logits : tables) {
    const WorstLoss worst{Worst<TypeParam>::unit, logits, std::vector<std::size_t>(logits.size(), 0)};
    const oracle::Bounded right = oracle::output_of(worst.node()).value()[0];
    const Real share = (worst.loss() - right.value) / right.bound;
    EXPECT_GE(share, 0.95L);
    EXPECT_LE(share, 1.0L);
    const auto gradients = oracle::gradients_of(worst.node(), {1}).value()[0];
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const std::size_t classes = logits[0].size();
      const Real off = std::fabs(worst.gradient(i / classes, i % classes) - gradients[i].value) / gradients[i].bound;
      EXPECT_GE(off, 0.95L) << i;
      EXPECT_LE(off, 1.0L) << i;
    }
  }
}

}  // namespace
}  // namespace packcheck::test
