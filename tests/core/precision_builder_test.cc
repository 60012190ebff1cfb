// What the builder makes, and what it refuses, also from text.
#include <gmock/gmock.h>

#include "core/precision/builder.h"
#include "core/precision/network_text.h"
#include "core/precision/typed_graph.h"
#include "tests/core/precision_networks.h"

namespace packcheck {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Operators of the graph, without leaves.
std::vector<std::string> operators(const Network& network) {
  std::vector<std::string> names;
  const Graph graph = lower(network, std::vector<std::uint64_t>(network.inputs, 0)).value();
  for (const GraphNode& node : graph.nodes)
    if (!node.is_leaf()) names.push_back(node.op);
  return names;
}

NetworkBuilder mixed(Format dtype = Format::f32) {
  return NetworkBuilder(dtype)
      .input(3)
      .dense(4, {.dtype = Format::bf16, .activation = Activation::relu})
      .stage("head", Format::f16,
             [](NetworkBuilder& s) { s.dense(2).activation(Activation::leaky_relu).dense(5, {.seed = 9}); })
      .dense(1);
}

TEST(PrecisionBuilder, PutsOneCastPairAroundEachNarrowLayerAndStageAndGivesTheNextLayerTheOuterDtypeBack) {
  EXPECT_THAT(operators(mixed().build().value()),
              ElementsAre("convert:bf16", "linear:bf16", "relu:bf16", "convert:f32", "convert:f16", "linear:f16",
                          "leakyRelu:f16", "linear:f16", "convert:f32", "linear"));
}

TEST(PrecisionBuilder, CountsTheBytesThatEachBoundaryCopies) {
  const Network network = mixed().build().value();
  EXPECT_THAT(network.boundaries, ElementsAre(PrecisionBoundary{"dense_1", Format::f32, Format::bf16, 3, 4},
                                              PrecisionBoundary{"head", Format::f32, Format::f16, 4, 5}));
  EXPECT_EQ(network.boundaries[0].bytes_copied(), 3U * 2 + 4U * 4);
  EXPECT_EQ(network.boundaries[1].bytes_copied(), 4U * 2 + 5U * 4);
}

TEST(PrecisionBuilder, MakesNoBoundaryAndNoCopyBetweenEqualDtypes) {
  const auto in_stages = [](Format dtype) {
    return NetworkBuilder(Format::f16)
        .input(2)
        .stage(
            "one", dtype,
            [&](NetworkBuilder& s) { s.stage("two", dtype, [&](NetworkBuilder& t) { t.dense(2, {.dtype = dtype}); }); })
        .build()
        .value();
  };
  EXPECT_THAT(in_stages(Format::f16).boundaries, IsEmpty());
  EXPECT_THAT(operators(in_stages(Format::f16)), ElementsAre("linear:f16"));
  EXPECT_EQ(in_stages(Format::bf16).boundaries.size(), 1U);
}

TEST(PrecisionBuilder, NestsStagesAndCastsBackToEachOuterOne) {
  const Network network = NetworkBuilder()
                              .input(1)
                              .stage("outer", Format::f16,
                                     [](NetworkBuilder& s) {
                                       s.stage("inner", Format::bf16, [](NetworkBuilder& t) { t.dense(1); }).dense(1);
                                     })
                              .build()
                              .value();
  EXPECT_THAT(operators(network),
              ElementsAre("convert:f16", "convert:bf16", "linear:bf16", "convert:f16", "linear:f16", "convert:f32"));
}

TEST(PrecisionBuilder, CreatesWeightsInTheDtypeOfTheLayer) {
  const Network network = mixed().build().value();
  for (const NetworkStep& step : network.steps)
    for (const std::uint64_t code : step.weights) EXPECT_EQ(code & ~spec(step.dtype).all_bits(), 0U);
  EXPECT_NE(created_weight(Format::f16, 1, 0, 4), created_weight(Format::f16, 2, 0, 4));
  EXPECT_NE(created_weight(Format::f16, 1, 0, 4), created_weight(Format::f16, 1, 1, 4));
}

std::string problem(const NetworkBuilder& builder) {
  const Result<Network> network = builder.build();
  return network ? "no refusal" : network.error().text();
}
LayerWeights zeros(Format dtype, std::size_t count) { return {dtype, std::vector<std::uint64_t>(count, 0)}; }

TEST(PrecisionBuilder, RefusesUserWeightsOfAnotherDtypeAndNeverCastsThem) {
  for (const Format given : {Format::f32, Format::bf16})
    EXPECT_THAT(problem(NetworkBuilder().input(2).dense(2, {.dtype = Format::f16, .weights = zeros(given, 4)})),
                HasSubstr("dense_1 weights: " + std::string(spec(given).name) + " where the layer is f16"));
  EXPECT_THAT(problem(NetworkBuilder().input(2).dense(
                  2, {.dtype = Format::f16, .weights = zeros(Format::f16, 4), .bias = zeros(Format::f32, 2)})),
              HasSubstr("dense_1 bias: f32 where the layer is f16"));
}

TEST(PrecisionBuilder, RefusesWhatMakesNoNetworkAndKeepsTheFirstMistake) {
  EXPECT_THAT(problem(NetworkBuilder()), HasSubstr("no input"));
  EXPECT_THAT(problem(NetworkBuilder().dense(1)), HasSubstr("a layer before the input"));
  EXPECT_THAT(problem(NetworkBuilder().input(0)), HasSubstr("an input of size 0"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).input(1)), HasSubstr("a second input"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).dense(0).input(1)), HasSubstr("dense_1: 0 units; expected 1.."));
  EXPECT_THAT(problem(NetworkBuilder().input(1U << 24).dense(1U << 24)), HasSubstr("weights; expected at most"));
  EXPECT_THAT(problem(NetworkBuilder(Format::i8)), HasSubstr("dtype i8; expected f32, f16 or bf16"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).dense(1, {.dtype = Format::f64})), HasSubstr("dtype f64"));
  EXPECT_THAT(problem(NetworkBuilder().input(2).dense(1, {.weights = zeros(Format::f32, 3)})),
              HasSubstr("dense_1 weights: 3 numbers; expected 2"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).dense(
                  1, {.dtype = Format::f16, .weights = LayerWeights{Format::f16, {0x10000}}})),
              HasSubstr("bits above the width"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).open_stage("s", Format::f16)), HasSubstr("a stage that does not end"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).close_stage()), HasSubstr("a stage that was not opened"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).open_stage("a b", Format::f16)), HasSubstr("a stage's name"));
  EXPECT_THAT(problem(NetworkBuilder().input(1).open_stage("s", Format::e4m3fn)), HasSubstr("dtype e4m3fn"));
  NetworkBuilder deep;
  deep.input(1);
  for (int i = 0; i < 70; ++i) deep.open_stage("s", Format::f16);
  EXPECT_THAT(problem(deep), HasSubstr("nested deeper than 64"));
}

TEST(PrecisionText, IsReadExactlyWhereTheOracleReadsIt) {
  RandomNetworks networks(30);
  for (int i = 0; i < 300; ++i) {
    const std::string sound = oracle::network_text(networks.next());
    EXPECT_TRUE(read_network(sound)) << sound;
    for (int damage = 0; damage < 10; ++damage) {
      std::string text = sound;
      const std::size_t at = networks.below(static_cast<std::uint32_t>(text.size()));
      switch (networks.below(4)) {
        case 0: text.erase(at, 1); break;
        case 1: text.insert(at, 1, " \n-0a9e"[networks.below(7)]); break;
        case 2: text.resize(at); break;
        default: text[at] = " \n-0a9e"[networks.below(7)];
      }
      EXPECT_EQ(read_network(text).has_value(), oracle::read_network_text(text).has_value()) << text;
    }
  }
}

TEST(PrecisionText, IsRefusedWithTheLineWhereItGoesWrong) {
  const auto problem_of = [](std::string_view text) {
    const Result<DescribedNetwork> network = read_network(text);
    return network ? "no refusal" : network.error().text();
  };
  EXPECT_THAT(problem_of(""), HasSubstr("line 1: not understood; expected network"));
  EXPECT_THAT(problem_of("network f32 1\ninput 3f8\n"), HasSubstr("line 2: not understood; expected input and codes"));
  EXPECT_THAT(problem_of("network f32 1\ninput 3f800000\nconv 3\n"), HasSubstr("line 3: not understood"));
  EXPECT_THAT(problem_of("network f32 1\ninput 3f800000\nupstream 3f800000\n\n"), HasSubstr("line 3"));
  EXPECT_THAT(problem_of("network f32 2\ninput 3f800000\nupstream 3f800000 3f800000\n"),
              HasSubstr("input: 1 numbers; expected one or more rows of 2"));
  EXPECT_THAT(problem_of("network f32 1\ninput 3f800000\nupstream\n"), HasSubstr("upstream: 0 numbers; expected 1"));
  EXPECT_THAT(problem_of("network f32 1\ninput 3f800000\ndense 1 bf16 -\nweights f32 3f800000\nupstream 3f800000\n"),
              HasSubstr("dense_1 weights: f32 where the layer is bf16"));
}

}  // namespace
}  // namespace packcheck
