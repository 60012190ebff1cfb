// StableHLO text: read again by the oracle, and by a real MLIR parser where there is one.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/precision/network_text.h"
#include "core/precision/stablehlo.h"
#include "properties/oracles/stablehlo_function.h"
#include "tests/core/precision_networks.h"

namespace packcheck {
namespace {

using ::testing::HasSubstr;

struct Exported {
  DescribedNetwork described;
  std::string text;
};
Exported exported(const oracle::NetworkDescription& d) {
  DescribedNetwork described = read_network(oracle::network_text(d)).value();
  std::string text = export_stablehlo(lower(described.network, described.input).value()).value();
  return {std::move(described), std::move(text)};
}

std::size_t casts(const oracle::HloModule& module) {
  return static_cast<std::size_t>(std::count_if(module.operations.begin(), module.operations.end(),
                                                [](const auto& op) { return op.name == "stablehlo.convert"; }));
}

TEST(StableHlo, IsSoundAndHasOneCastPairPerBoundary) {
  RandomNetworks networks(50, false);
  for (int i = 0; i < 500; ++i) {
    const Exported e = exported(networks.next());
    const oracle::HloModule module = oracle::read_stablehlo(e.text);
    ASSERT_EQ(module.problem, "") << e.text;
    EXPECT_EQ(casts(module), 2 * e.described.network.boundaries.size()) << e.text;
  }
}

TEST(StableHlo, OfASmallNetworkIsThisText) {
  const Network network = NetworkBuilder()
                              .input(2)
                              .dense(1, {.dtype = Format::bf16,
                                         .activation = Activation::relu,
                                         .weights = LayerWeights{Format::bf16, {0x3F80, 0xBF80}},
                                         .bias = LayerWeights{Format::bf16, {0x7FC1}}})
                              .build()
                              .value();
  EXPECT_EQ(export_stablehlo(lower(network, std::vector<std::uint64_t>{0, 0}).value()).value(),
            R"(module {
  func.func @main(%arg0: tensor<1x2xf32>) -> tensor<1x1xf32> {
    %0 = "stablehlo.convert"(%arg0) : (tensor<1x2xf32>) -> tensor<1x2xbf16>
    %1 = "stablehlo.constant"() {value = dense<"0x803F80BF"> : tensor<1x2xbf16>} : () -> tensor<1x2xbf16>
    %2 = "stablehlo.constant"() {value = dense<"0xC17F"> : tensor<1xbf16>} : () -> tensor<1xbf16>
    %3 = "stablehlo.dot_general"(%0, %1) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<1x2xbf16>, tensor<1x2xbf16>) -> tensor<1x1xbf16>
    %4 = "stablehlo.broadcast_in_dim"(%2) {broadcast_dimensions = array<i64: 1>} : (tensor<1xbf16>) -> tensor<1x1xbf16>
    %5 = "stablehlo.add"(%3, %4) : (tensor<1x1xbf16>, tensor<1x1xbf16>) -> tensor<1x1xbf16>
    %6 = "stablehlo.constant"() {value = dense<"0x0000"> : tensor<1x1xbf16>} : () -> tensor<1x1xbf16>
    %7 = "stablehlo.maximum"(%5, %6) : (tensor<1x1xbf16>, tensor<1x1xbf16>) -> tensor<1x1xbf16>
    %8 = "stablehlo.convert"(%7) : (tensor<1x1xbf16>) -> tensor<1x1xf32>
    return %8 : tensor<1x1xf32>
  }
}
)");
}

/// Bit for bit, or both NaN.
bool same_numbers(const std::vector<double>& one, const std::vector<double>& other) {
  const auto same = [](double a, double b) {
    return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
  };
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), same);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(StableHlo, TheStructuralCheckFindsEachKindOfDamage) {
  oracle::NetworkDescription d;
  d.input = {0x3F800000};
  d.upstream = {0x3F800000};
  oracle::NetworkItem layer;
  layer.units = 1;
  layer.format = oracle::LayerFormat::f16;
  layer.activation = "leaky_relu";
  d.items = {layer};
  const std::string text = exported(d).text;
  const auto problem = [](const std::string& damaged) { return oracle::read_stablehlo(damaged).problem; };
  ASSERT_EQ(problem(text), "");
  EXPECT_THAT(problem(replaced(text, "%1 = ", "%0 = ")), HasSubstr("%0 is defined twice"));
  EXPECT_THAT(problem(replaced(text, "(%arg0)", "(%8)")), HasSubstr("%8 is used before it is defined"));
  EXPECT_THAT(problem(replaced(text, "(tensor<1x1xf32>) -> tensor<1x1xf16>", "(tensor<1x1xf16>) -> tensor<1x1xf16>")),
              HasSubstr("%arg0 is used as another type"));
  EXPECT_THAT(problem(replaced(text, "-> tensor<1x1xi1>", "-> tensor<1x1xf16>")), HasSubstr("a comparison of other"));
  EXPECT_THAT(problem(replaced(text, "dense<\"0x0000\">", "dense<\"0x00\">")), HasSubstr("do not fill its type"));
  EXPECT_THAT(problem(replaced(text, "stablehlo.dot_general", "stablehlo.dot")), HasSubstr("an unknown operation"));
  EXPECT_THAT(problem(replaced(text, "    return", "    retur")), HasSubstr("no text of this form"));
  EXPECT_THAT(problem(text + "\n"), HasSubstr("no text of this form"));
}

TEST(StableHlo, TellsActivationsApartByWhatTheyDoHoweverTheyAreWritten) {
  oracle::NetworkDescription d;
  d.input = {0x3F800000};
  d.upstream = {0x3F800000};
  for (const char* activation : {"relu", "leaky_relu", "hard_tanh"}) {
    oracle::NetworkItem item;
    item.kind = oracle::NetworkItem::Kind::activation;
    item.activation = activation;
    d.items = {item};
    const oracle::HloModule module = oracle::read_stablehlo(exported(d).text);
    ASSERT_EQ(module.problem, "");
    const oracle::HloFunctions functions(module);
    const auto* const function = functions.of(module.returned);
    ASSERT_NE(function, nullptr) << activation;
    EXPECT_EQ(function->of, "%arg0");
    std::vector<std::string> fitting;
    for (const char* other : {"relu", "leaky_relu", "hard_tanh"})
      if (same_numbers(function->at, oracle::activations_at_probes({other}, oracle::LayerFormat::f32)))
        fitting.emplace_back(other);
    EXPECT_THAT(fitting, testing::ElementsAre(activation));
  }
  // A relu as a comparison and a selection.
  const oracle::HloModule module = oracle::read_stablehlo(R"(module {
  func.func @main(%arg0: tensor<1x1xf32>) -> tensor<1x1xf32> {
    %0 = "stablehlo.constant"() {value = dense<"0x00000000"> : tensor<1x1xf32>} : () -> tensor<1x1xf32>
    %1 = "stablehlo.compare"(%arg0, %0) {comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xi1>
    %2 = "stablehlo.select"(%1, %0, %arg0) : (tensor<1x1xi1>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    return %2 : tensor<1x1xf32>
  }
}
)");
  ASSERT_EQ(module.problem, "");
  EXPECT_TRUE(same_numbers(oracle::HloFunctions(module).of("%2")->at,
                           oracle::activations_at_probes({"relu"}, oracle::LayerFormat::f32)));
}

/// What a command prints, its errors too.
std::string output_of(const std::string& command, int& status) {
  std::string text;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, count);
  status = pclose(pipe);
  return text;
}

TEST(StableHlo, OfAThousandNetworksIsAcceptedByMlirOptAndComesBackWithAllOfItsCasts) {
  int status = 0;
  (void)output_of("command -v mlir-opt-19", status);
  if (status != 0) GTEST_SKIP() << "mlir-opt-19 is not installed (ci/install --mlir)";
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("packcheck_stablehlo_" + std::to_string(getpid()) + ".mlir");
  RandomNetworks networks(51, false);
  std::size_t boundaries = 0;
  {
    std::ofstream out(file);
    for (int i = 0; i < 1000; ++i) {
      const Exported e = exported(networks.next());
      boundaries += e.described.network.boundaries.size();
      out << (i == 0 ? "" : "// -----\n") << e.text;
    }
  }
  const std::string command = "mlir-opt-19 --allow-unregistered-dialect --split-input-file " + file.string();
  const std::string text = output_of(command, status);
  EXPECT_EQ(status, 0) << text.substr(0, 2000);
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find("\"stablehlo.convert\"", at)) != std::string::npos; ++at) ++found;
  EXPECT_EQ(found, 2 * boundaries);
  EXPECT_GT(boundaries, 500U);
  std::ofstream(file) << replaced(exported(networks.next()).text, "%arg0: tensor<", "%arg0: tensor<7x");
  (void)output_of(command, status);
  EXPECT_NE(status, 0) << "mlir-opt accepts an argument of another type than it is used as";
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace packcheck
