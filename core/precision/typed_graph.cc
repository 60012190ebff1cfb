#include "core/precision/typed_graph.h"

#include <array>

#include "core/format/convert.h"
#include "core/graph/json_export.h"

namespace packcheck {
namespace {

// In the order of TypedOperator.
constexpr std::array<std::string_view, 6> kOperators{"leaf", "linear", "relu", "leakyRelu", "hardTanh", "convert"};
constexpr std::array<std::string_view, 4> kActivationOperators{"", "relu", "leakyRelu", "hardTanh"};

std::string pointer_to(std::size_t node, std::string_view member) {
  std::string pointer = "/nodes/";
  return pointer.append(std::to_string(node)).append("/").append(member);
}

bool holds(Format dtype, std::uint64_t bits) {
  const std::uint64_t code = convert(Format::f64, dtype, bits);
  return is_nan_double(bits) || convert(dtype, Format::f64, code) == bits;
}

class Reader {
 public:
  explicit Reader(const Graph& graph) : graph_(graph) {}

  Result<std::vector<TypedNode>> run() && {
    GraphErrors errors;
    check_graph(graph_, **graph_dialect_named("ysgp:lossless"), {}, {}, errors);
    if (!errors.empty()) return tl::unexpected(errors.as_one());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Result<TypedNode> node = read(i);
      if (!node) return tl::unexpected(node.error());
      nodes_.push_back(*node);
      const Result<void> fits = node->op == TypedOperator::leaf ? check_data(i) : check_inputs(i);
      if (!fits) return tl::unexpected(fits.error());
    }
    return std::move(nodes_);
  }

 private:
  Result<TypedNode> read(std::size_t i) const {
    const std::string_view text = graph_.nodes[i].op;
    const std::size_t colon = text.rfind(':');
    const std::string_view name = text.substr(0, colon);
    TypedNode node;
    if (colon != std::string_view::npos) {
      const std::optional<Format> dtype = format_named(text.substr(colon + 1));
      if (!dtype || !is_layer_format(*dtype))
        return refuse("an operator of an unknown format", pointer_to(i, "op"), "f16, bf16 or f32 behind the colon");
      node.dtype = *dtype;
    }
    if (graph_.nodes[i].is_leaf()) return node;
    for (std::size_t k = 1; k < kOperators.size(); ++k)
      if (kOperators[k] == name) node.op = static_cast<TypedOperator>(k);
    if (node.op == TypedOperator::leaf)
      return refuse("an unknown operator", pointer_to(i, "op"), "linear, relu, leakyRelu, hardTanh or convert");
    if (node.op == TypedOperator::convert && colon == std::string_view::npos)
      return refuse("a cast that does not say to what", pointer_to(i, "op"), "convert:f32");
    return node;
  }

  Result<void> check_data(std::size_t i) const {
    const std::vector<std::uint64_t>& data = *graph_.nodes[i].data;
    for (std::size_t k = 0; k < data.size(); ++k)
      if (!holds(nodes_[i].dtype, data[k]))
        return refuse("a number that its format does not hold", pointer_to(i, "data").append("/") + std::to_string(k),
                      std::string("a number of ").append(spec(nodes_[i].dtype).name));
    return {};
  }

  [[nodiscard]] const ShortList& shape(std::uint32_t node) const { return graph_.nodes[node].shape; }

  Result<void> check_inputs(std::size_t i) const {
    const GraphNode& node = graph_.nodes[i];
    const TypedOperator op = nodes_[i].op;
    if (op != TypedOperator::linear && node.inputs.size() != 1)
      return refuse(std::to_string(node.inputs.size()) + " inputs", pointer_to(i, "inputs"), "1");
    if (op != TypedOperator::convert)
      for (const std::uint32_t input : node.inputs)
        if (nodes_[input].dtype != nodes_[i].dtype)
          return refuse("an input of another format", pointer_to(i, "inputs"),
                        std::string(spec(nodes_[i].dtype).name).append(", or a convert node between"));
    if (op == TypedOperator::linear) return check_linear(i);
    if (node.shape != shape(node.inputs[0]))
      return refuse("another shape than the input's", pointer_to(i, "shape"), "the same shape");
    return {};
  }

  Result<void> check_linear(std::size_t i) const {
    const GraphNode& node = graph_.nodes[i];
    const auto& inputs = node.inputs;
    if (inputs.size() < 2 || inputs.size() > 3)
      return refuse(std::to_string(inputs.size()) + " inputs", pointer_to(i, "inputs"), "2..3");
    const auto& x = shape(inputs[0]);
    const auto& weight = shape(inputs[1]);
    const bool multiply = x.size() == 2 && x[0] == 1 && weight.size() == 2 && weight[1] == x[1];
    if (!multiply) return refuse("shapes that do not multiply", pointer_to(i, "inputs"), "[1,in] and [out,in]");
    if (inputs.size() == 3 && shape(inputs[2]) != ShortList{weight[0]})
      return refuse("a bias of another shape", pointer_to(i, "inputs/2"), "[out]");
    if (node.shape != ShortList{1, weight[0]})
      return refuse("another shape than the product's", pointer_to(i, "shape"), "[1,out]");
    return {};
  }

  const Graph& graph_;
  std::vector<TypedNode> nodes_;
};

class Lowering {
 public:
  Graph run(const Network& network, std::span<const std::uint64_t> input) && {
    std::uint32_t at = leaf("input", network.dtype, {1, network.inputs}, input);
    for (const NetworkStep& step : network.steps) {
      const ShortList shape{1, step.size};
      switch (step.kind) {
        case StepKind::cast: at = node("convert", step.dtype, shape, {at}); break;
        case StepKind::activation:
          at = node(kActivationOperators[static_cast<std::size_t>(step.activation)], step.dtype, shape, {at});
          break;
        case StepKind::dense: {
          const std::uint32_t in = graph_.nodes[at].shape[1];
          ShortList inputs{at, leaf("weight", step.dtype, {step.size, in}, step.weights)};
          if (step.bias) inputs.push_back(leaf("bias", step.dtype, {step.size}, *step.bias));
          at = node("linear", step.dtype, shape, std::move(inputs));
          break;
        }
      }
    }
    return std::move(graph_);
  }

 private:
  GraphNode& add(std::string_view op, Format dtype, ShortList shape) {
    GraphNode& node = graph_.nodes.emplace_back();
    node.id = static_cast<std::uint32_t>(graph_.nodes.size() - 1);
    node.shape = std::move(shape);
    node.op = typed_name(op, dtype);
    return node;
  }
  std::uint32_t leaf(std::string_view tag, Format dtype, ShortList shape, std::span<const std::uint64_t> codes) {
    GraphNode& node = add(tag, dtype, std::move(shape));
    node.data.emplace().reserve(codes.size());
    for (const std::uint64_t code : codes) node.data->push_back(convert(dtype, Format::f64, code));
    return node.id;
  }
  std::uint32_t node(std::string_view op, Format dtype, ShortList shape, ShortList inputs) {
    GraphNode& node = add(op, dtype, std::move(shape));
    node.inputs = std::move(inputs);
    return node.id;
  }

  Graph graph_;
};

}  // namespace

std::string typed_name(std::string_view op, Format dtype) {
  std::string name(op);
  if (dtype == Format::f32 && op != kOperators[static_cast<std::size_t>(TypedOperator::convert)]) return name;
  return name.append(":").append(spec(dtype).name);
}

Result<std::vector<TypedNode>> typed_nodes(const Graph& graph) { return Reader(graph).run(); }

Result<Graph> lower(const Network& network, std::span<const std::uint64_t> input) {
  if (input.size() != network.inputs)
    return refuse(std::to_string(input.size()) + " numbers", "the network's input", std::to_string(network.inputs));
  return Lowering().run(network, input);
}

Result<std::string> export_typed_json(const Graph& graph, const PrecisionRules& rules) {
  const GraphDialect& lossless = **graph_dialect_named("ysgp:lossless");
  GraphResult<std::string> text;
  if (rules.exported == ExportedDtype::dropped) {
    Graph untyped = graph;
    for (GraphNode& node : untyped.nodes)
      if (node.op.rfind("convert", 0) != 0) node.op.resize(std::min(node.op.find(':'), node.op.size()));
    text = export_json(untyped, lossless);
  } else {
    text = export_json(graph, lossless);
  }
  if (!text) return tl::unexpected(text.error().as_one());
  return std::move(*text);
}

}  // namespace packcheck
