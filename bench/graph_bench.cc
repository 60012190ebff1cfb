// Import and export of graph JSON beside nlohmann_json's bare parse and dump of the same text, and ten times the nodes
// beside the nodes: both ratios from one run, which is all that may be compared between machines. Medians of
// seven, one thread. Aim: at most 11 times the time for 10 times the nodes, and 0.6 of nlohmann_json's speed.
#include <malloc.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "core/graph/json_export.h"
#include "core/graph/json_import.h"

namespace packcheck {
namespace {

/// A chain of convolutions, activations and linear layers, with their weights: a sixth of the nodes have 9 numbers.
Graph make_graph(std::uint32_t count) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> weights(0.0, 0.05);
  Graph graph;
  graph.nodes.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    GraphNode& node = graph.nodes[i];
    node.id = i;
    if (i == 0 || i % 6 == 1) {
      node.op = "leaf";
      node.shape = {3, 3};
      node.data.emplace();
      for (int k = 0; k < 9; ++k) node.data->push_back(std::bit_cast<std::uint64_t>(weights(random)));
      continue;
    }
    node.shape = {8, 64, 28, 28};
    node.op = i % 6 == 2 ? "conv2d" : "relu";
    node.inputs = {i - 1};
    if (i % 6 != 2) continue;
    node.inputs.push_back(i - 2);
    node.scalar = 0x030301;
    node.param2 = 65600;
  }
  return graph;
}

/// Seconds of the processor, which other people's work does not lengthen; the median of seven.
template <class Work>
double seconds(Work work) {
  std::array<double, 7> times{};
  for (double& time : times) {
    const std::clock_t start = std::clock();
    work();
    time = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Times {
  double ours;
  double bare;
};

Times measure(std::uint32_t nodes) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  const std::string text = *export_json(make_graph(nodes), dialect);
  std::size_t written = 0;
  const Times times{seconds([&] { written += export_json(*import_json(text, dialect), dialect)->size(); }),
                    seconds([&] { written += nlohmann::json::parse(text).dump().size(); })};
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf(
      "%7u nodes, %6.2f MB: import + export %7.1f ms (%5.1f MB/s), nlohmann_json parse + dump %7.1f ms (%5.1f "
      "MB/s)%s\n",
      nodes, megabytes, times.ours * 1e3, megabytes / times.ours, times.bare * 1e3, megabytes / times.bare,
      written == 0 ? " nothing written" : "");
  return times;
}

}  // namespace
}  // namespace packcheck

int main() {
  // Keep freed memory: giving it back and faulting it in again costs more than the work, and more for larger graphs.
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_MMAP_MAX, 0);
  const packcheck::Times small = packcheck::measure(10000);
  const packcheck::Times large = packcheck::measure(100000);
  std::printf("10 times the nodes: %.2f times the time\n", large.ours / small.ours);
  std::printf("speed beside nlohmann_json: %.2f\n", large.bare / large.ours);
  return 0;
}
