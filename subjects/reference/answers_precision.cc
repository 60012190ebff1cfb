// Networks of mixed formats: run_network, export_network.
#include "core/precision/network_text.h"
#include "core/precision/run.h"
#include "core/precision/stablehlo.h"
#include "subjects/network_calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {
namespace {

NetworkAnswer answer_of(std::vector<NodeRun> nodes, const Network& network) {
  NetworkAnswer answer;
  answer.nodes = std::move(nodes);
  for (const PrecisionBoundary& b : network.boundaries)
    answer.boundaries.push_back({b.name, b.outer, b.inner, b.inputs, b.outputs, b.bytes_copied()});
  return answer;
}

}  // namespace

Reply answer_run_network(const ReferenceRules& rules, Arguments a) {
  if (a[0] != kBoundaryStops && a[0] != kBoundaryCasts)
    return {Outcome::skipped, {}, "no autograd of '" + std::string(a[0]) + "'"};
  const Result<DescribedNetwork> d = read_network(a[1], rules.precision);
  if (!d) return refused(d.error());
  const Result<Graph> graph = lower(d->network, d->input);
  if (!graph) return refused(graph.error());
  const auto phase = a[0] == kBoundaryStops ? AutogradPhase::boundary_stops : AutogradPhase::boundary_casts;
  Result<std::vector<NodeRun>> nodes =
      run_typed(*graph, widened(d->network.dtype, d->upstream), phase, rules.precision);
  return nodes ? answered(write_network_answer(answer_of(std::move(*nodes), d->network))) : refused(nodes.error());
}

Reply answer_export_network(const ReferenceRules& rules, Arguments a) {
  if (a[0] != "graph_json" && a[0] != "stablehlo") return {Outcome::skipped, {}, "no form '" + std::string(a[0]) + "'"};
  const Result<DescribedNetwork> d = read_network(a[1], rules.precision);
  if (!d) return refused(d.error());
  const Result<Graph> graph = lower(d->network, d->input);
  if (!graph) return refused(graph.error());
  Result<std::string> text =
      a[0] == "stablehlo" ? export_stablehlo(*graph, rules.precision) : export_typed_json(*graph, rules.precision);
  return text ? answered(std::move(*text)) : refused(text.error());
}

}  // namespace packcheck
