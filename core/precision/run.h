// core/precision/run.h: the reference executor of typed graphs, forward and backward.
//
// Every product and every sum is computed exactly, or in f64, and rounded to the format of its node at once. That is
// correct rounding of the exact result: a product of two 24-bit significands has 48 bits and is exact in f64, and a
// sum that f64 rounds first has 53 >= 2·24 + 2 bits, where rounding twice is rounding once (Figueroa 1995); a sum
// in a narrow format's subnormal range is exact. A NaN that an operation makes is the positive quiet one without
// payload; a cast keeps payloads as convert() does.
//
// Gradients: of the sum of output · upstream. Those of a node are of its format, every product and sum rounded, sums
// from +0 in the order of the outputs; what the rows of a batch give to a weight or a bias adds up from the first row
// to the last, as it stands; where a node feeds several, contributions add up from the last to the first.
// relu's gradient is 0 where x is not above 0, hard_tanh's where x is not inside -1..1.
// In phase 1 ("boundary_stops", SKaiNET's first) a cast gives its input no gradient: not zero, none. In phase 2 it
// casts the upstream gradient to the format of its input.
#pragma once

#include "core/precision/typed_graph.h"

namespace packcheck {

enum class AutogradPhase : std::uint8_t { boundary_stops, boundary_casts };

/// One node after a run. Numbers are bits of doubles that hold the node's format exactly.
struct NodeRun {
  std::string op;  ///< as in the graph: "linear:f16"
  std::vector<std::uint64_t> values;
  bool claims_gradient = false;  ///< as a framework answers before it runs backward
  std::optional<std::vector<std::uint64_t>> gradient;
};

/// Runs the graph and, from `upstream` (bits of doubles, one per number of the last node), its gradients. One row
/// per node. Refuses what typed_nodes refuses, another number of upstream gradients, and ones that the last node's
/// format does not hold.
[[nodiscard]] Result<std::vector<NodeRun>> run_typed(const Graph& graph, std::span<const std::uint64_t> upstream,
                                                     AutogradPhase phase, const PrecisionRules& rules = {});

/// The numbers of codes, as bits of doubles.
[[nodiscard]] std::vector<std::uint64_t> widened(Format dtype, std::span<const std::uint64_t> codes);

}  // namespace packcheck
