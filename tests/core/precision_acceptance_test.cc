// What SKaiNET's proposal for mixed precision asks of an implementation, one test for each criterion: an f32 network
// with one bf16 layer and one f16 stage, on random weights and, where they are at hand, on the weights of a trained
// network (mnist_mlp.gguf).
//
// | nothing declared is a stub | Operations.ThatTheReferenceDeclaresAreNoStubs |
// | runs near the f32 network and not equal to it | MixedNetwork.Matches… here |
// | one convert pair per boundary in StableHLO | MixedNetwork.Exports… here, StableHlo.…IsAcceptedByMlirOpt… |
// | repackTo gives the decoder's values, bit for bit | RepackTo.GivesWhatTheDialectsDecoderGivesBitForBit |
// | requantizeTo gives the loader's data | LoadWeight.GivesTheBytesThatTheStoragePathGivesPieceByPiece |
// | it refuses before it reads | RequantizeTo.IsRefusedBeforeTheBufferIsReadAndInTheLoadersWords |
// | phase 1 is pinned | MixedNetwork.GivesNoGradientBehindABoundaryInPhaseOneAndClaimsNone here |
// | a gradient check through an f16 boundary | GradientThroughAnF16Boundary.AgreesWithDifferences… here |
#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "core/file/tensor_file.h"
#include "core/format/convert.h"
#include "core/precision/builder.h"
#include "core/precision/import.h"
#include "core/precision/network_text.h"
#include "core/precision/run.h"
#include "core/precision/stablehlo.h"
#include "tests/core/data_folder.h"
#include "tests/core/precision_networks.h"

namespace packcheck {
namespace {

using ::testing::ElementsAre;

/// Weights of two layers.
struct Parameters {
  std::uint32_t inputs = 0;
  std::uint32_t hidden = 0;
  std::uint32_t classes = 0;
  std::vector<std::uint64_t> hidden_weight, hidden_bias, output_weight, output_bias;  // f32 codes
};

Parameters random_parameters() {
  RandomNetworks random(60);
  const auto f32 = oracle::LayerFormat::f32;
  return {12, 8, 4, random.codes(f32, 96), random.codes(f32, 8), random.codes(f32, 32), random.codes(f32, 4)};
}

std::optional<Parameters> trained_parameters() {
  const Result<MappedFile> file = MappedFile::open((data_folder("gguf") / "mnist_mlp.gguf").string());
  if (!file) return std::nullopt;
  const TensorFile contents = read_gguf(file->bytes()).value();
  const auto codes = [&](std::string_view name, const std::vector<std::uint64_t>& shape) {
    const FileTensor& tensor = *contents.find(name);
    EXPECT_EQ(tensor.shape, shape) << name;
    const auto bytes = file->bytes().subspan(tensor.offset, tensor.bytes);
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < bytes.size() / 4; ++i) all.push_back(load_element(spec(Format::f32), bytes, i));
    return all;
  };
  return Parameters{784,
                    128,
                    10,
                    codes("model.hidden1.weight", {128, 784}),
                    codes("model.hidden1.bias", {128}),
                    codes("model.output.weight", {10, 128}),
                    codes("model.output.bias", {10})};
}

/// The weights in the dtype of their layer, cast by whoever has them: a builder refuses them else.
LayerWeights in(Format dtype, const std::vector<std::uint64_t>& f32) {
  LayerWeights weights{dtype, {}};
  for (const std::uint64_t code : f32) weights.codes.push_back(convert(Format::f32, dtype, code));
  return weights;
}
/// The same numbers, in f32.
LayerWeights rounded_to(Format dtype, const std::vector<std::uint64_t>& f32) {
  LayerWeights weights{Format::f32, {}};
  for (const std::uint64_t code : in(dtype, f32).codes) weights.codes.push_back(convert(dtype, Format::f32, code));
  return weights;
}

/// One bf16 layer and an f16 stage, or f32 all over with the same numbers as weights.
Network network_of(const Parameters& p, bool mixed) {
  const auto given = [mixed](Format dtype, const std::vector<std::uint64_t>& f32) {
    return mixed ? in(dtype, f32) : rounded_to(dtype, f32);
  };
  const Format first = mixed ? Format::bf16 : Format::f32;
  const Format head = mixed ? Format::f16 : Format::f32;
  return NetworkBuilder()
      .input(p.inputs)
      .dense(p.hidden, {.dtype = first,
                        .activation = Activation::relu,
                        .weights = given(Format::bf16, p.hidden_weight),
                        .bias = given(Format::bf16, p.hidden_bias)})
      .stage("head", head,
             [&](NetworkBuilder& s) {
               s.dense(p.classes,
                       {.weights = given(Format::f16, p.output_weight), .bias = given(Format::f16, p.output_bias)});
             })
      .build()
      .value();
}

std::vector<std::uint64_t> some_input(std::uint32_t size) {
  std::vector<std::uint64_t> codes;
  for (std::uint32_t i = 0; i < size; ++i)
    codes.push_back(std::bit_cast<std::uint32_t>(static_cast<float>((i * 37 + 11) % 100) / 99.0F));
  return codes;
}

std::vector<NodeRun> run(const Network& network, AutogradPhase phase = AutogradPhase::boundary_casts) {
  const std::vector<std::uint64_t> ones(network.outputs(), std::bit_cast<std::uint64_t>(1.0));
  return run_typed(lower(network, some_input(network.inputs)).value(), ones, phase).value();
}
std::vector<double> outputs(const std::vector<NodeRun>& rows) {
  std::vector<double> numbers;
  for (const std::uint64_t bits : rows.back().values) numbers.push_back(std::bit_cast<double>(bits));
  return numbers;
}

class MixedNetwork : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) parameters_ = random_parameters();
    if (GetParam()) {
      const std::optional<Parameters> trained = trained_parameters();
      if (!trained) GTEST_SKIP() << "no mnist_mlp.gguf in " << data_folder("gguf");
      parameters_ = *trained;
    }
  }
  Parameters parameters_;
};

TEST_P(MixedNetwork, MatchesTheF32NetworkToTheToleranceOfTheNarrowFormatAndDiffersFromIt) {
  const std::vector<double> narrow = outputs(run(network_of(parameters_, true)));
  const std::vector<double> wide = outputs(run(network_of(parameters_, false)));
  double largest = 0;
  for (const double one : wide) largest = std::max(largest, std::fabs(one));
  // Sums of n products in bf16: n + 2 roundings of 2^-9 in the worst case; the usual error grows with sqrt(n).
  const double tolerance = 4 * std::sqrt(parameters_.inputs) * 0x1p-9 * largest;
  for (std::size_t i = 0; i < wide.size(); ++i) EXPECT_NEAR(narrow[i], wide[i], tolerance) << i;
  EXPECT_NE(narrow, wide) << "nothing was rounded";
}

TEST_P(MixedNetwork, HoldsInEveryNodeOnlyNumbersOfTheFormatOfThatNode) {
  for (const NodeRun& row : run(network_of(parameters_, true))) {
    const std::size_t colon = row.op.find(':');
    const Format dtype = colon == std::string::npos ? Format::f32 : *format_named(row.op.substr(colon + 1));
    for (const std::uint64_t bits : row.values)
      ASSERT_EQ(convert(dtype, Format::f64, convert(Format::f64, dtype, bits)), bits) << row.op;
    for (const std::uint64_t bits : row.gradient.value_or(std::vector<std::uint64_t>()))
      ASSERT_EQ(convert(dtype, Format::f64, convert(Format::f64, dtype, bits)), bits) << row.op << " gradient";
  }
}

TEST_P(MixedNetwork, ExportsToStableHloWithOneConvertPairPerBoundary) {
  const Network network = network_of(parameters_, true);
  const std::string text = export_stablehlo(lower(network, some_input(network.inputs)).value()).value();
  std::vector<std::string> casts;
  for (std::size_t at = 0; (at = text.find("stablehlo.convert", at)) != std::string::npos; ++at) {
    const std::size_t line = text.find(" : (", at) + 4;
    casts.push_back(text.substr(line, text.find('\n', line) - line));
  }
  const auto type = [](std::uint32_t size, const char* element) {
    return "tensor<1x" + std::to_string(size) + "x" + element + ">";
  };
  const auto cast = [&](std::uint32_t size, const char* from, const char* to) {
    return type(size, from) + ") -> " + type(size, to);
  };
  EXPECT_EQ(network.boundaries.size(), 2U);
  EXPECT_THAT(casts, ElementsAre(cast(parameters_.inputs, "f32", "bf16"), cast(parameters_.hidden, "bf16", "f32"),
                                 cast(parameters_.hidden, "f32", "f16"), cast(parameters_.classes, "f16", "f32")));
}

TEST_P(MixedNetwork, ComesBackFromItsGraphWithTheDtypeAndTheBitsOfEveryLayer) {
  const Network network = network_of(parameters_, true);
  const Graph graph = lower(network, some_input(network.inputs)).value();
  const DescribedNetwork back = read_network(import_typed_json(export_typed_json(graph).value()).value()).value();
  EXPECT_TRUE(lower(back.network, back.input).value() == graph);
  EXPECT_EQ(back.network.boundaries.size(), 2U);
}

TEST_P(MixedNetwork, GivesNoGradientBehindABoundaryInPhaseOneAndClaimsNone) {
  for (const NodeRun& row : run(network_of(parameters_, true), AutogradPhase::boundary_stops)) {
    // Only the cast out of the stage comes after the last boundary.
    EXPECT_EQ(row.gradient.has_value(), row.op == "convert:f32" && row.values.size() == parameters_.classes) << row.op;
    EXPECT_EQ(row.claims_gradient, row.gradient.has_value()) << row.op;
  }
}

TEST_P(MixedNetwork, GivesEveryTensorAGradientInPhaseTwo) {
  for (const NodeRun& row : run(network_of(parameters_, true), AutogradPhase::boundary_casts)) {
    ASSERT_TRUE(row.gradient.has_value()) << row.op;
    EXPECT_EQ(row.gradient->size(), row.values.size()) << row.op;
    EXPECT_TRUE(row.claims_gradient) << row.op;
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, MixedNetwork, testing::Bool(),
                         [](const auto& test) { return test.param ? "OfATrainedNetwork" : "AtRandom"; });

// A step smaller than the format's is rounded away, and the difference quotient with it: the step must be larger.
TEST(GradientThroughAnF16Boundary, AgreesWithDifferencesOfAStepLargerThanTheF16StepAndASmallerStepGivesZero) {
  const auto codes = [](std::vector<float> numbers) {
    std::vector<std::uint64_t> all;
    for (const float number : numbers)
      all.push_back(convert(Format::f32, Format::f16, std::bit_cast<std::uint32_t>(number)));
    return all;
  };
  const Network network =
      NetworkBuilder()
          .input(2)
          .stage("half", Format::f16,
                 [&](NetworkBuilder& s) {
                   s.dense(2, {.activation = Activation::leaky_relu,
                               .weights = LayerWeights{Format::f16, codes({0.7F, -1.3F, 0.4F, 1.1F})}})
                       .dense(1, {.weights = LayerWeights{Format::f16, codes({1.7F, -0.6F})}});
                 })
          .build()
          .value();
  const std::vector<float> x{1.37F, 0.21F};
  const auto output = [&](std::size_t changed, float step) {
    std::vector<std::uint64_t> input;
    for (std::size_t i = 0; i < x.size(); ++i)
      input.push_back(std::bit_cast<std::uint32_t>(x[i] + (i == changed ? step : 0)));
    const std::vector<std::uint64_t> one{std::bit_cast<std::uint64_t>(1.0)};
    return run_typed(lower(network, input).value(), one, AutogradPhase::boundary_casts).value();
  };
  const std::vector<NodeRun> rows = output(0, 0);
  ASSERT_TRUE(rows[0].gradient);
  for (std::size_t i = 0; i < x.size(); ++i) {
    constexpr float kStep = 0x1p-4F;  // 64 steps of f16 at 1 to 2
    const double difference = outputs(output(i, kStep))[0] - outputs(output(i, -kStep))[0];
    const auto gradient = std::bit_cast<double>((*rows[0].gradient)[i]);
    EXPECT_NEAR(difference / (2.0 * kStep), gradient, 0x1p-5) << i;
    EXPECT_GT(std::fabs(gradient), 0.1);
    EXPECT_EQ(outputs(output(i, 0x1p-16F))[0], outputs(rows)[0]) << "a step of 1/64 of an f16 step shows";
  }
}

}  // namespace
}  // namespace packcheck
