// Laws of networks of mixed formats as text. The oracles are properties/oracles/precision_oracle.h and
// stablehlo_oracle.h.
#include "properties/laws/network_export_laws.h"

#include <bit>
#include <cmath>

#include "properties/cases/networks.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/stablehlo_oracle.h"
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

namespace {

/// NaN payloads go through conversions of which nothing is asked: any NaN is one.
void unify_nans(oracle::Nodes& nodes) {
  for (oracle::Node& node : nodes) {
    if (!node.data) continue;
    for (std::uint64_t& bits : *node.data)
      if (std::isnan(std::bit_cast<double>(bits))) bits = 0x7FF8000000000000;
  }
}

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

/// Numbers of the bytes of a constant, little-endian.
std::vector<std::uint64_t> numbers_of(const oracle::HloOperation& constant) {
  const LayerFormat format = format_of(":" + constant.type.element);
  const std::size_t width = format == LayerFormat::f32 ? 4 : 2;
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at + width <= constant.bytes.size(); at += width) {
    std::uint64_t code = 0;
    for (std::size_t byte = width; byte-- > 0;)
      code = code << 8 | static_cast<unsigned char>(constant.bytes[at + byte]);
    numbers.push_back(std::bit_cast<std::uint64_t>(oracle::number_of_code(format, code)));
  }
  return numbers;
}
void append_numbers(std::string& line, const std::vector<std::uint64_t>& numbers) {
  line.append(" of");
  for (const std::uint64_t bits : numbers)
    line.append(" ").append(std::isnan(std::bit_cast<double>(bits)) ? "NaN" : describe(Format::f64, bits));
}

/// What is asked of StableHLO text: casts, products and biases with their types and the numbers of the weights.
std::vector<std::string> essentials(const oracle::HloModule& module) {
  std::vector<std::string> lines;
  const auto type_text = [](const oracle::HloType& type) {
    std::string text;
    for (const std::uint64_t size : type.shape) text.append(std::to_string(size)).append("x");
    return text.append(type.element);
  };
  for (const oracle::HloOperation& op : module.operations) {
    const bool is_bias = op.name == "stablehlo.broadcast_in_dim";
    if (op.name != "stablehlo.convert" && op.name != "stablehlo.dot_general" && !is_bias) continue;
    std::string line = op.name.substr(10);
    for (const oracle::HloType& type : op.operand_types) line.append(" ").append(type_text(type));
    line.append(" -> ").append(type_text(op.type));
    const oracle::HloOperation* const numbers =
        is_bias || op.operands.size() == 2 ? module.defining(op.operands.back()) : nullptr;
    if (numbers != nullptr) append_numbers(line, numbers_of(*numbers));
    lines.push_back(std::move(line));
  }
  return lines;
}
/// The same of the network.
std::vector<std::string> essentials(const oracle::Nodes& nodes) {
  std::vector<std::string> lines;
  const auto type_text = [&](std::uint32_t node) {
    std::string text;
    for (const std::uint32_t size : nodes[node].shape) text.append(std::to_string(size)).append("x");
    return text.append(oracle::layer_format_name(format_of(nodes[node].op)));
  };
  for (const oracle::Node& node : nodes) {
    const bool is_cast = node.op.rfind("convert", 0) == 0;
    if (!is_cast && node.op.rfind("linear", 0) != 0) continue;
    std::string line = is_cast ? "convert" : "dot_general";
    line.append(" ").append(type_text(node.inputs[0]));
    if (!is_cast) line.append(" ").append(type_text(node.inputs[1]));
    line.append(" -> ").append(type_text(node.id));
    if (!is_cast) append_numbers(line, *nodes[node.inputs[1]].data);
    lines.push_back(std::move(line));
    if (is_cast || node.inputs.size() < 3) continue;
    line = "broadcast_in_dim ";
    line.append(type_text(node.inputs[2])).append(" -> ").append(type_text(node.id));
    append_numbers(line, *nodes[node.inputs[2]].data);
    lines.push_back(std::move(line));
  }
  return lines;
}

Verdict check_stablehlo(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return not_applicable("this is no network");
  const Answer<std::string> text = call_export_network(subject, c.variant, c.text);
  if (auto verdict = unanswered(text, c.variant, describe_text(c.text))) return *verdict;
  Judge judge;
  const oracle::HloModule module = oracle::read_stablehlo(text.value);
  judge.add_checked(module.operations.size());
  if (!module.problem.empty()) {
    judge.broken({c.variant + " unsound", describe_text(c.text), "a sound module", module.problem,
                  "Every value is defined once, before it is used, and types agree: " + describe_text(text.value)});
    return std::move(judge).verdict();
  }
  const std::vector<std::string> expected = essentials(oracle::network_nodes(*d));
  const std::vector<std::string> actual = essentials(module);
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    const std::string one = i < expected.size() ? expected[i] : "nothing more";
    const std::string other = i < actual.size() ? actual[i] : "nothing more";
    if (one == other) continue;
    judge.broken({c.variant + " operations", describe_text(c.text), one, other,
                  "One convert in and one out at each boundary; products in the format of their layer."});
    break;
  }
  return std::move(judge).verdict();
}

std::function<std::vector<std::string>(const SubjectInfo&)> form(std::string_view name) {
  return [name](const SubjectInfo& info) {
    std::vector<std::string> variants;
    if (info.find(Operation::export_network, name) != nullptr) variants.emplace_back(name);
    return variants;
  };
}

}  // namespace

std::vector<Law> network_export_laws() {
  return {make_law<NetworkCase>("precision.graph_export_keeps_every_dtype",
                                "The exported graph has the network's nodes, each with its format, and a cast each way "
                                "at each boundary.",
                                {Operation::export_network}, network_cases, form("graph_json"), check_graph_export),
          make_law<NetworkCase>("precision.stablehlo_has_one_cast_pair_per_boundary",
                                "Exported StableHLO is sound text with one convert pair for each boundary and products "
                                "in the format of their layer.",
                                {Operation::export_network}, network_cases, form("stablehlo"), check_stablehlo)};
}

}  // namespace packcheck
