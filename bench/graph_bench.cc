// Import and export of graph JSON beside nlohmann_json's bare parse and dump of the same text, and ten times the nodes
// beside the nodes: ratios from one run, which is all that may be compared between machines. One thread. Aim: at most
// 11 times the time for 10 times the nodes, and 0.6 of nlohmann_json's speed.
//
// Every timed stretch is 100,000 nodes or more: a hundred different graphs of 1,000, ten of 10,000, one of 100,000. One
// small graph over and over would stay in the nearest cache, and its branches in the predictor's memory, which says
// nothing about graphs. The sizes take turns, and the shortest of nine turns counts, so that other people's work
// disturbs none more than another. The text itself has 10.2 times the bytes for 10 times the nodes: longer ids. A graph
// of 1,000,000 pays for pages that the allocator takes from the kernel anew for each; smaller ones use them again.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/graph/json_export.h"
#include "core/graph/json_import.h"

namespace packcheck {
namespace {

/// A chain of convolutions, activations and linear layers, with their weights: a sixth of the nodes have 9 numbers.
Graph make_graph(std::uint32_t count, std::uint32_t seed) {
  std::mt19937_64 random(seed);
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

constexpr std::array<std::uint32_t, 4> kSizes = {1000, 10000, 100000, 1000000};
constexpr std::uint32_t kStretch = 100000;  // nodes
constexpr int kTurns = 9;
constexpr int kTurnsOfLargest = 3;

/// Seconds of the processor, which other people's work does not lengthen.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Pages that the kernel has handed to this process so far.
double page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_minflt);
}

struct Size {
  std::vector<std::string> texts;
  std::size_t bytes = 0;
  double ours = 1e9;  ///< seconds of all texts, the shortest turn
  double bare = 1e9;
  double faults = 1e9;  ///< of ours
};

Size make_size(std::uint32_t nodes) {
  Size size;
  for (std::uint32_t seed = 0; seed < std::max(1U, kStretch / nodes); ++seed) {
    size.texts.push_back(*export_json(make_graph(nodes, seed), all_graph_dialects()[0]));
    size.bytes += size.texts.back().size();
  }
  return size;
}

std::size_t ours(const std::string& text) {
  const GraphDialect& dialect = all_graph_dialects()[0];
  return export_json(*import_json(text, dialect), dialect)->size();
}
std::size_t bare(const std::string& text) { return nlohmann::json::parse(text).dump().size(); }

template <class Work>
void take_turn(const Size& size, double& least, std::size_t& written, Work work) {
  const double start = now();
  for (const std::string& text : size.texts) written += work(text);
  least = std::min(least, now() - start);
}

}  // namespace
}  // namespace packcheck

int main() {
  using namespace packcheck;
  std::array<Size, kSizes.size()> sizes;
  for (std::size_t i = 0; i < kSizes.size(); ++i) sizes[i] = make_size(kSizes[i]);
  std::size_t written = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      if (kSizes[i] > kStretch && turn >= kTurnsOfLargest) continue;
      const double faults = page_faults();
      take_turn(sizes[i], sizes[i].ours, written, ours);
      sizes[i].faults = std::min(sizes[i].faults, page_faults() - faults);
      take_turn(sizes[i], sizes[i].bare, written, bare);
    }
  }
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    const Size& size = sizes[i];
    const auto graphs = static_cast<double>(size.texts.size());
    const double megabytes = static_cast<double>(size.bytes) / 1e6;
    std::printf(
        "%7u nodes, %6.2f MB: import + export %8.2f ms (%5.1f MB/s, %.3f pages a node), nlohmann_json parse + dump "
        "%8.2f ms; speed beside "
        "it %.2f\n",
        kSizes[i], megabytes / graphs, size.ours / graphs * 1e3, megabytes / size.ours,
        size.faults / graphs / kSizes[i], size.bare / graphs * 1e3, size.bare / size.ours);
    if (i == 0) continue;
    const Size& smaller = sizes[i - 1];
    const double times = (size.ours / graphs) / (smaller.ours / static_cast<double>(smaller.texts.size()));
    std::printf("  10 times the nodes: %.2f times the time\n", times);
  }
  return written == 0 ? 1 : 0;
}
