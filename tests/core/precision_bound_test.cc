// The bound of a narrow run beside the wide one: never passed, and reached within 5 %.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/precision/network_text.h"
#include "core/precision/run.h"
#include "tests/core/precision_networks.h"

namespace packcheck {
namespace {

using oracle::LayerFormat;

std::vector<double> outputs(const oracle::NetworkDescription& description) {
  const DescribedNetwork d = read_network(oracle::network_text(description)).value();
  const Graph graph = lower(d.network, d.input).value();
  const auto rows = run_typed(graph, widened(d.network.dtype, d.upstream), AutogradPhase::boundary_casts).value();
  std::vector<double> numbers;
  for (const std::uint64_t bits : rows.back().values) numbers.push_back(std::bit_cast<double>(bits));
  return numbers;
}

/// The largest share of the bound that an output takes; nothing where the bound says nothing.
std::optional<double> share(const oracle::NetworkDescription& d) {
  const std::optional<std::vector<double>> bounds = oracle::output_bounds(d);
  if (!bounds) return std::nullopt;
  const std::vector<double> narrow = outputs(d);
  const std::vector<double> wide = outputs(oracle::widened(d));
  double worst = 0;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    const double error = std::fabs(narrow[i] - wide[i]);
    if (error != 0) worst = std::max(worst, error / (*bounds)[i]);
  }
  return worst;
}

TEST(PrecisionBound, IsNeverPassed) {
  unsigned judged = 0;
  for (const bool calm : {true, false}) {
    RandomNetworks networks(40, calm);
    for (int i = 0; i < 1000; ++i) {
      const oracle::NetworkDescription d = networks.next();
      const std::optional<double> worst = share(d);
      judged += worst ? 1 : 0;
      ASSERT_LE(worst.value_or(0), 1) << oracle::network_text(d);
    }
  }
  EXPECT_GT(judged, 1000U);
}

class EveryNarrowFormat : public testing::TestWithParam<LayerFormat> {};

// An input and a weight just below 2, where a half place is the largest share of the number, both off by almost one.
TEST_P(EveryNarrowFormat, BoundIsReachedWithinFivePercentByALayer) {
  RandomNetworks networks(41);
  double worst = 0;
  for (int i = 0; i < 6000; ++i) {
    oracle::NetworkDescription d;
    d.input = {0x3FFF0000 - (std::uint64_t{networks.below(64)} << 16) + networks.below(65536)};
    d.upstream = {0x3F800000};
    oracle::NetworkItem layer;
    layer.units = 1;
    layer.format = GetParam();
    const unsigned spread = GetParam() == LayerFormat::f16 ? 256 : 32;
    layer.weights = oracle::TaggedCodes{GetParam(), {std::uint64_t{0x3FFF} - networks.below(spread)}};
    d.items = {layer};
    worst = std::max(worst, share(d).value_or(0));
  }
  EXPECT_GT(worst, 0.95);
  EXPECT_LE(worst, 1);
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryNarrowFormat, testing::Values(LayerFormat::f16, LayerFormat::bf16),
                         [](const auto& test) { return std::string(oracle::layer_format_name(test.param)); });

}  // namespace
}  // namespace packcheck
