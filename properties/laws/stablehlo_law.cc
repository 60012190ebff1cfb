// The law of networks of mixed formats as StableHLO. The oracles are properties/oracles/stablehlo_oracle.h, which reads
// the text, stablehlo_function.h, which computes its activations, and precision_oracle.h.
#include <algorithm>
#include <bit>
#include <cmath>

#include "properties/cases/networks.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/laws/network_export_laws.h"
#include "properties/oracles/stablehlo_function.h"
#include "subjects/network_calls.h"

namespace packcheck {
namespace {

using oracle::LayerFormat;
using oracle::NetworkDescription;

std::string number_text(double number) {
  return std::isnan(number) ? "NaN" : describe(Format::f64, std::bit_cast<std::uint64_t>(number));
}
void append_numbers(std::string& line, const std::vector<double>& numbers) {
  line.append(" of");
  for (const double number : numbers) line.append(" ").append(number_text(number));
}

/// What is done to each number between two operations, as its results at the probes; nothing where they stay.
std::string activation_line(LayerFormat format, const std::vector<double>& at) {
  const std::vector<double> probes = oracle::activation_probes(format);
  std::string line;
  for (std::size_t i = 0; i < probes.size() && i < at.size(); ++i)
    if (number_text(probes[i]) != number_text(at[i]))
      line.append(line.empty() ? "activation with " : ", ")
          .append(number_text(probes[i]))
          .append(" to ")
          .append(number_text(at[i]));
  return line;
}

/// What is asked of StableHLO text, in order: casts, products and biases with their types and the numbers of the
/// weights, and what is done to numbers between them.
class Essentials {
 public:
  explicit Essentials(const oracle::HloModule& module) : module_(module), functions_(module) {
    if (module.argument_names.size() == 1) at_ = module.argument_names[0];
    if (!module.arguments.empty()) format_ = format_of(":" + module.arguments[0].element);
    for (const oracle::HloOperation& op : module.operations) add(op);
    take(module.returned);
  }
  std::vector<std::string> lines;

 private:
  static std::string type_text(const oracle::HloType& type) {
    std::string text;
    for (const std::uint64_t size : type.shape) text.append(std::to_string(size)).append("x");
    return text.append(type.element);
  }

  /// The value that goes on, or what was made of it.
  void take(const std::string& value) {
    const oracle::HloFunctions::Function* const function = functions_.of(value);
    if (function == nullptr || function->of != at_) {
      lines.emplace_back("not made of the numbers before");
      return;
    }
    std::string line = activation_line(format_, function->at);
    if (!line.empty()) lines.push_back(std::move(line));
  }

  void add(const oracle::HloOperation& op) {
    const std::string name = op.name.substr(10);
    if (name == "add") return bias(op);
    const bool is_broadcast = name == "broadcast_in_dim";
    if (name != "convert" && name != "dot_general" && !is_broadcast) return;
    if (!is_broadcast) take(op.operands[0]);
    std::string line = name;
    for (const oracle::HloType& type : op.operand_types) line.append(" ").append(type_text(type));
    line.append(" -> ").append(type_text(op.type));
    const oracle::HloOperation* const numbers = name == "convert" ? nullptr : module_.defining(op.operands.back());
    if (numbers != nullptr) append_numbers(line, oracle::constant_numbers(*numbers));
    lines.push_back(std::move(line));
    if (is_broadcast)
      broadcast_ = op.result;
    else
      go_on(op);
  }
  void go_on(const oracle::HloOperation& op) {
    at_ = op.result;
    format_ = format_of(":" + op.type.element);
  }
  void bias(const oracle::HloOperation& op) {
    const bool adds = (op.operands[0] == at_ && op.operands[1] == broadcast_) ||
                      (op.operands[1] == at_ && op.operands[0] == broadcast_);
    if (!adds) lines.emplace_back("an addition of other numbers than a product and its bias");
    go_on(op);
  }

  const oracle::HloModule& module_;
  oracle::HloFunctions functions_;
  std::string at_;
  std::string broadcast_;
  LayerFormat format_ = LayerFormat::f32;
};

/// The activation of an operator; empty for another.
std::string activation_of(const std::string& op) {
  const std::string name = op.substr(0, op.find(':'));
  if (name == "leakyRelu") return "leaky_relu";
  if (name == "hardTanh") return "hard_tanh";
  return name == "relu" ? name : std::string();
}

/// The same of the network.
std::vector<std::string> essentials_of(const oracle::Nodes& nodes) {
  std::vector<std::string> lines;
  const auto type_text = [&](std::uint32_t node) {
    std::string text;
    for (const std::uint32_t size : nodes[node].shape) text.append(std::to_string(size)).append("x");
    return text.append(oracle::layer_format_name(format_of(nodes[node].op)));
  };
  const auto numbers_of = [&](std::uint32_t leaf) {
    std::vector<double> numbers;
    for (const std::uint64_t bits : *nodes[leaf].data) numbers.push_back(std::bit_cast<double>(bits));
    return numbers;
  };
  std::vector<std::string> activations;
  LayerFormat format = format_of(nodes[0].op);
  const auto settle = [&] {
    std::string line = activation_line(format, oracle::activations_at_probes(activations, format));
    if (!line.empty()) lines.push_back(std::move(line));
    activations.clear();
  };
  for (const oracle::Node& node : nodes) {
    if (node.data) continue;
    if (std::string name = activation_of(node.op); !name.empty()) {
      activations.push_back(std::move(name));
      continue;
    }
    settle();
    format = format_of(node.op);
    const bool is_cast = node.op.rfind("convert", 0) == 0;
    std::string line = is_cast ? "convert" : "dot_general";
    line.append(" ").append(type_text(node.inputs[0]));
    if (!is_cast) line.append(" ").append(type_text(node.inputs[1]));
    line.append(" -> ").append(type_text(node.id));
    if (!is_cast) append_numbers(line, numbers_of(node.inputs[1]));
    lines.push_back(std::move(line));
    if (is_cast || node.inputs.size() < 3) continue;
    line = "broadcast_in_dim ";
    line.append(type_text(node.inputs[2])).append(" -> ").append(type_text(node.id));
    append_numbers(line, numbers_of(node.inputs[2]));
    lines.push_back(std::move(line));
  }
  settle();
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
  const std::vector<std::string> expected = essentials_of(oracle::network_nodes(*d));
  const std::vector<std::string> actual = Essentials(module).lines;
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    const std::string one = i < expected.size() ? expected[i] : "nothing more";
    const std::string other = i < actual.size() ? actual[i] : "nothing more";
    if (one == other) continue;
    judge.broken({c.variant + " operations", describe_text(c.text), one, other,
                  "One convert in and one out at each boundary; products in the format of their layer; activations "
                  "give what the network's give."});
    break;
  }
  return std::move(judge).verdict();
}

}  // namespace

Law stablehlo_law() {
  return make_law<NetworkCase>("precision.stablehlo_has_one_cast_pair_per_boundary",
                               "Exported StableHLO is sound text with one convert pair for each boundary, products in "
                               "the format of their layer, and its activations.",
                               {Operation::export_network}, network_cases, in_form("stablehlo"), check_stablehlo);
}

}  // namespace packcheck
