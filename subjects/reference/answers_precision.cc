// Networks of mixed formats: run_network, export_network, import_network.
#include "core/precision/import.h"
#include "core/precision/network_text.h"
#include "core/precision/run.h"
#include "core/precision/stablehlo.h"
#include "subjects/network_calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {
namespace {

NetworkAnswer answer_of(std::vector<NodeRun> nodes, const DescribedNetwork& d) {
  NetworkAnswer answer;
  answer.nodes = std::move(nodes);
  const std::uint64_t rows = d.rows();
  for (const PrecisionBoundary& b : d.network.boundaries)
    answer.boundaries.push_back({b.name, b.outer, b.inner, rows * b.inputs, rows * b.outputs, rows * b.bytes_copied()});
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
  return nodes ? answered(write_network_answer(answer_of(std::move(*nodes), *d))) : refused(nodes.error());
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

Reply answer_import_network(const ReferenceRules& rules, Arguments a) {
  if (a[0] != "graph_json") return {Outcome::skipped, {}, "no form '" + std::string(a[0]) + "'"};
  Result<std::string> network = import_typed_json(a[1], rules.precision);
  return network ? answered(std::move(*network)) : refused(network.error());
}

}  // namespace packcheck
