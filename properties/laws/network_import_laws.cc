// Laws of networks of mixed formats that are read from graphs in JSON. The oracle is
// properties/oracles/precision_oracle.h, which makes the graphs, too.
#include "properties/cases/networks.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/laws/network_export_laws.h"
#include "subjects/network_calls.h"

namespace packcheck {
namespace {

using oracle::NetworkDescription;
using oracle::Nodes;

constexpr std::string_view kForm = "graph_json";

/// The document against the graph that it was read from.
Verdict judge_import(const Answer<std::string>& document, Nodes expected, const std::string& input) {
  if (auto verdict = unanswered(document, std::string(kForm), input)) return *verdict;
  Judge judge;
  judge.add_checked(expected.size());
  const std::optional<NetworkDescription> d = oracle::read_network_text(document.value);
  if (!d) {
    judge.broken({"graph_json import", input, "a network", describe_text(document.value),
                  "This is no network. Weights are of the format of their layer."});
    return std::move(judge).verdict();
  }
  Nodes actual = oracle::network_nodes(*d);
  unify_nans(expected);
  unify_nans(actual);
  if (const auto found = oracle::difference(expected, actual))
    judge.broken({std::string("graph_json import ").append(found->member), input, found->place + ": " + found->one,
                  found->place + ": " + found->other,
                  "The document is the network that the graph was, each layer with its format and its numbers."});
  for (const std::uint64_t code : d->upstream) {
    if (oracle::number_of_code(d->format, code) == 1) continue;
    judge.broken({"graph_json import upstream", input, "ones", describe_text(document.value),
                  "A graph has no upstream gradient; that of the sum of the outputs is 1 each."});
    break;
  }
  return std::move(judge).verdict();
}

Verdict check_import(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return not_applicable("this is no network");
  const Nodes nodes = oracle::network_nodes(*d);
  const std::string graph = oracle::graph_text(nodes);
  return judge_import(call_import_network(subject, kForm, graph), nodes, describe_text(graph));
}

Verdict check_inversion(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return not_applicable("this is no network");
  const Answer<std::string> graph = call_export_network(subject, kForm, c.text);
  if (auto verdict = unanswered(graph, std::string(kForm), describe_text(c.text))) return *verdict;
  return judge_import(call_import_network(subject, kForm, graph.value), oracle::network_nodes(*d),
                      describe_text(graph.value));
}

Verdict check_refusals(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return not_applicable("this is no network");
  Judge judge;
  for (const NetworkGraphFault& fault : network_graph_faults()) {
    Nodes nodes = oracle::network_nodes(*d);
    if (!fault.apply(nodes)) continue;
    judge.add_checked(1);
    const std::string graph = oracle::graph_text(nodes);
    const Answer<std::string> answer = call_import_network(subject, kForm, graph);
    if (answer.outcome == Outcome::refused) continue;
    const std::string place = std::string("graph_json ").append(fault.name);
    if (!answer.ok()) return *unanswered(answer, place, describe_text(graph));
    judge.broken({place, describe_text(graph), "a refusal", describe_text(answer.value),
                  "This graph is no network: nothing is cast, dropped or made up to make it one."});
  }
  return std::move(judge).verdict();
}

}  // namespace

Law import_law() {
  return make_law<NetworkCase>("precision.import_keeps_every_dtype",
                               "A network's graph is read back as a network with the format of each layer and the bits "
                               "of each weight.",
                               {Operation::import_network}, network_cases, variants_of(Operation::import_network),
                               check_import);
}
Law inversion_law() {
  return make_law<NetworkCase>("precision.import_inverts_export",
                               "A network that is exported as a graph and imported again is the same network, bit for "
                               "bit.",
                               {Operation::export_network, Operation::import_network}, network_cases,
                               variants_of(Operation::export_network, Operation::import_network), check_inversion);
}
Law refusal_of_graphs_law() {
  return make_law<NetworkCase>("precision.graphs_of_no_network_are_refused",
                               "A graph that is no network, weights of another format than their layer's included, is "
                               "refused.",
                               {Operation::import_network}, network_cases, variants_of(Operation::import_network),
                               check_refusals);
}

}  // namespace packcheck
