// The law of networks of mixed formats as graphs in JSON, and what the laws of networks as text share. The oracle is
// properties/oracles/precision_oracle.h.
#include "properties/laws/network_export_laws.h"

#include <bit>
#include <cmath>

#include "properties/cases/networks.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "subjects/network_calls.h"

namespace packcheck {

using oracle::LayerFormat;
using oracle::NetworkDescription;

oracle::LayerFormat format_of(std::string_view op) {
  for (const LayerFormat format : {LayerFormat::f16, LayerFormat::bf16}) {
    std::string suffix(":");
    suffix.append(oracle::layer_format_name(format));
    if (op.size() >= suffix.size() && op.substr(op.size() - suffix.size()) == suffix) return format;
  }
  return LayerFormat::f32;
}

void unify_nans(oracle::Nodes& nodes) {
  for (oracle::Node& node : nodes) {
    if (!node.data) continue;
    for (std::uint64_t& bits : *node.data)
      if (std::isnan(std::bit_cast<double>(bits))) bits = 0x7FF8000000000000;
  }
}

std::function<std::vector<std::string>(const SubjectInfo&)> in_form(std::string_view name) {
  return [name](const SubjectInfo& info) {
    std::vector<std::string> variants;
    if (info.find(Operation::export_network, name) != nullptr) variants.emplace_back(name);
    return variants;
  };
}

namespace {

Verdict check_graph_export(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return not_applicable("this is no network");
  const Answer<std::string> text = call_export_network(subject, c.variant, c.text);
  if (auto verdict = unanswered(text, c.variant, describe_text(c.text))) return *verdict;
  Judge judge;
  oracle::Nodes expected = oracle::network_nodes(*d);
  std::optional<oracle::Nodes> actual = oracle::read_graph_text(text.value, oracle::GraphForm::lossless);
  judge.add_checked(expected.size());
  if (!actual) {
    judge.broken({c.variant, describe_text(c.text), "a graph", describe_text(text.value), "This is no sound graph."});
    return std::move(judge).verdict();
  }
  unify_nans(expected);
  unify_nans(*actual);
  if (const auto found = oracle::difference(expected, *actual))
    judge.broken({c.variant + " " + found->member, describe_text(c.text), found->place + ": " + found->one,
                  found->place + ": " + found->other,
                  "The graph has a cast each way at each boundary, and formats behind its operators."});
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> network_export_laws() {
  return {make_law<NetworkCase>("precision.graph_export_keeps_every_dtype",
                                "The exported graph has the network's nodes, each with its format, and a cast each way "
                                "at each boundary.",
                                {Operation::export_network}, network_cases, in_form("graph_json"), check_graph_export),
          stablehlo_law(), import_law(), inversion_law(), refusal_of_graphs_law()};
}

}  // namespace packcheck
