// The executor of mixed networks against the oracle, which walks the description and makes no graph.
#include <gmock/gmock.h>

#include <bit>
#include <cfenv>
#include <cmath>

#include "core/graph/exec.h"
#include "core/graph/json_import.h"
#include "core/precision/network_text.h"
#include "core/precision/run.h"
#include "tests/core/precision_networks.h"

namespace packcheck {
namespace {

using ::testing::HasSubstr;

std::vector<NodeRun> run(const DescribedNetwork& d, AutogradPhase phase, const PrecisionRules& rules = {}) {
  const Graph graph = lower(d.network, d.input).value();
  return run_typed(graph, widened(d.network.dtype, d.upstream), phase, rules).value();
}

bool same(double expected, std::uint64_t actual) {
  const auto number = std::bit_cast<double>(actual);
  return std::isnan(expected) ? std::isnan(number) : std::bit_cast<std::uint64_t>(expected) == actual;
}
void expect_same(const std::vector<double>& expected, const std::vector<std::uint64_t>& actual, const std::string& at) {
  ASSERT_EQ(expected.size(), actual.size()) << at;
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(same(expected[i], actual[i]))
        << at << "/" << i << ": " << expected[i] << " and " << std::bit_cast<double>(actual[i]);
}

void expect_as_oracle(const oracle::NetworkDescription& d, AutogradPhase phase) {
  const std::string text = oracle::network_text(d);
  const Result<DescribedNetwork> described = read_network(text);
  ASSERT_TRUE(described) << described.error().text() << "\n" << text;
  const oracle::NetworkResult expected = oracle::run_network(d, phase == AutogradPhase::boundary_casts);
  const std::vector<NodeRun> actual = run(*described, phase);
  ASSERT_EQ(expected.rows.size(), actual.size()) << text;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string at = text + "node " + std::to_string(i) + " " + actual[i].op;
    ASSERT_EQ(expected.rows[i].op, actual[i].op) << at;
    expect_same(expected.rows[i].values, actual[i].values, at);
    ASSERT_EQ(expected.rows[i].has_gradient, actual[i].gradient.has_value()) << at;
    EXPECT_EQ(expected.rows[i].has_gradient, actual[i].claims_gradient) << at;
    if (actual[i].gradient) expect_same(expected.rows[i].gradient, *actual[i].gradient, at + " gradient");
  }
  ASSERT_EQ(expected.boundaries.size(), described->network.boundaries.size()) << text;
  for (std::size_t i = 0; i < expected.boundaries.size(); ++i) {
    const PrecisionBoundary& boundary = described->network.boundaries[i];
    EXPECT_EQ(expected.boundaries[i].name, boundary.name) << text;
    EXPECT_EQ(expected.boundaries[i].bytes, described->rows() * boundary.bytes_copied()) << text;
  }
}

TEST(PrecisionRun, GivesEveryNumberAndGradientOfTheOracleInBothPhases) {
  for (const bool calm : {true, false}) {
    RandomNetworks networks(20, calm);
    for (int i = 0; i < 1000 && !HasFailure(); ++i)
      expect_as_oracle(networks.next(), i % 2 == 0 ? AutogradPhase::boundary_stops : AutogradPhase::boundary_casts);
  }
}

TEST(PrecisionRun, OfABatchIsTheRunOfEachRowAndItsWeightsGetTheSumOfTheRowsGradients) {
  const std::string layer = "dense 1 - relu\nweights f16 3c00 4000\nbias f16 3800\n";
  const auto run_of = [&](const std::string& input, const std::string& upstream) {
    const std::string text = "network f16 2\ninput " + input + "\n" + layer + "upstream " + upstream + "\n";
    return run(read_network(text).value(), AutogradPhase::boundary_casts);
  };
  // Rows 1 2 and -1 -2: 1 + 4 + 0.5 and -4.5, which relu cuts off.
  const std::vector<NodeRun> both = run_of("3c00 4000 bc00 c000", "4000 3c00");
  EXPECT_THAT(both.back().values, testing::ElementsAre(std::bit_cast<std::uint64_t>(5.5), 0));
  EXPECT_EQ(both.back().values[0], run_of("3c00 4000", "4000").back().values[0]);
  const auto gradient = [&](std::size_t node) {
    std::vector<double> numbers;
    for (const std::uint64_t bits : both[node].gradient.value()) numbers.push_back(std::bit_cast<double>(bits));
    return numbers;
  };
  EXPECT_THAT(gradient(0), testing::ElementsAre(2, 4, 0, 0)) << "of the input";
  EXPECT_THAT(gradient(1), testing::ElementsAre(2, 4)) << "of the weights: 2 * row 0 + 0 * row 1";
  EXPECT_THAT(gradient(2), testing::ElementsAre(2)) << "of the bias";
}

TEST(PrecisionRun, IsTheSameInAnyRoundingMode) {
  RandomNetworks networks(21);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    for (int i = 0; i < 20 && !HasFailure(); ++i) expect_as_oracle(networks.next(), AutogradPhase::boundary_casts);
    std::fesetround(FE_TONEAREST);
  }
}

TEST(PrecisionRun, OfF32IsWhatTheExecutorOfGraphsGivesForLinearLayers) {
  RandomNetworks networks(22);
  for (int i = 0; i < 100; ++i) {
    const oracle::LayerFormat f32 = oracle::LayerFormat::f32;
    LayerWeights weights{Format::f32, networks.codes(f32, 12)};
    LayerWeights bias{Format::f32, networks.codes(f32, 3)};
    const std::vector<std::uint64_t> x = networks.codes(f32, 4);
    const Network network = NetworkBuilder().input(4).dense(3, {.weights = weights, .bias = bias}).build().value();
    const std::vector<NodeRun> rows = run({network, x, networks.codes(f32, 3)}, AutogradPhase::boundary_casts);
    const auto tensor = [](Dimensions shape, const std::vector<std::uint64_t>& codes) {
      Tensor<float> result{std::move(shape), {}};
      for (const std::uint64_t code : codes)
        result.elements.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
      return result;
    };
    const std::vector<Tensor<float>> inputs{tensor({1, 4}, x), tensor({3, 4}, weights.codes), tensor({3}, bias.codes)};
    const auto expected = run_forward<float>(**exec_operator_named("linear"), {{}, inputs}).value();
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(std::bit_cast<double>(rows.back().values[k]), static_cast<double>(expected.elements[k]));
  }
}

TEST(PrecisionRun, OfAGraphThatWentThroughJsonIsTheSameBitForBit) {
  RandomNetworks networks(23, false);
  for (int i = 0; i < 200; ++i) {
    const DescribedNetwork d = read_network(oracle::network_text(networks.next())).value();
    const Graph graph = lower(d.network, d.input).value();
    const std::string text = export_typed_json(graph).value();
    const GraphResult<Graph> back = import_json(text, **graph_dialect_named("ysgp:lossless"));
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(*back, graph) << text;
    const std::vector<std::uint64_t> upstream = widened(d.network.dtype, d.upstream);
    const auto one = run_typed(graph, upstream, AutogradPhase::boundary_casts).value();
    const auto other = run_typed(*back, upstream, AutogradPhase::boundary_casts).value();
    EXPECT_EQ(one.back().values, other.back().values);
    EXPECT_EQ(one.front().gradient, other.front().gradient);
  }
}

TEST(PrecisionRun, AddsUpTheGradientsOfANodeThatFeedsTwo) {
  Graph graph;
  const auto one = std::bit_cast<std::uint64_t>(1.0);
  graph.nodes.push_back({0, {1, 1}, "input", std::vector{one}, {}, {}, {}, {}});
  graph.nodes.push_back({1, {1, 1}, "relu", {}, {}, {}, {}, {0}});
  graph.nodes.push_back({2, {1, 1}, "linear", {}, {}, {}, {}, {1, 0}});
  const auto rows = run_typed(graph, std::vector{one}, AutogradPhase::boundary_casts).value();
  EXPECT_EQ(rows[0].gradient, std::vector{std::bit_cast<std::uint64_t>(2.0)});
}

TEST(PrecisionRun, RefusesGraphsWhoseFormatsDoNotGoTogether) {
  const auto one = std::bit_cast<std::uint64_t>(1.0);
  const auto tenth = std::bit_cast<std::uint64_t>(0.1);
  const auto problem = [&](std::vector<GraphNode> nodes) {
    Graph graph{std::move(nodes)};
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) graph.nodes[i].id = static_cast<std::uint32_t>(i);
    const auto rows = run_typed(graph, std::vector{one}, AutogradPhase::boundary_casts);
    return rows ? std::string("no refusal") : rows.error().text();
  };
  const auto leaf = [](std::string op, std::uint64_t bits) {
    return GraphNode{0, {1, 1}, std::move(op), std::vector{bits}, {}, {}, {}, {}};
  };
  const auto node = [](std::string op, ShortList inputs) {
    return GraphNode{0, {1, 1}, std::move(op), {}, {}, {}, {}, std::move(inputs)};
  };
  EXPECT_THAT(problem({leaf("input", one), node("relu:f16", {0})}), HasSubstr("/nodes/1/inputs: an input of another"));
  EXPECT_THAT(problem({leaf("input:f16", one), node("relu", {0})}), HasSubstr("an input of another format"));
  EXPECT_THAT(problem({leaf("input:f16", tenth)}), HasSubstr("/nodes/0/data/0: a number that its format does not"));
  EXPECT_THAT(problem({leaf("input:e4m3fn", one)}), HasSubstr("an operator of an unknown format"));
  EXPECT_THAT(problem({leaf("input", one), node("convert", {0})}), HasSubstr("a cast that does not say to what"));
  EXPECT_THAT(problem({leaf("input", one), node("softmax", {0})}), HasSubstr("an unknown operator"));
  EXPECT_THAT(problem({leaf("input", one), node("convert:f16", {0, 0})}), HasSubstr("2 inputs"));
  EXPECT_THAT(problem({}), HasSubstr("no nodes"));
  const Graph sound{{leaf("input:f16", one)}};
  EXPECT_THAT(run_typed(sound, std::vector{tenth}, AutogradPhase::boundary_stops).error().text(),
              HasSubstr("an upstream gradient that the output's format does not hold"));
  EXPECT_THAT(run_typed(sound, {}, AutogradPhase::boundary_stops).error().text(), HasSubstr("0 upstream gradients"));
}

}  // namespace
}  // namespace packcheck
