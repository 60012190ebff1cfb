#include "core/precision/stablehlo.h"

#include "core/format/convert.h"

namespace packcheck {
namespace {

class Writer {
 public:
  Writer(const Graph& graph, std::span<const TypedNode> nodes, const PrecisionRules& rules)
      : graph_(graph), nodes_(nodes), rules_(rules), names_(graph.nodes.size()) {}

  std::string run() && {
    std::string arguments;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!is_argument(i)) continue;
      names_[i] = "%arg" + std::to_string(arguments_++);
      arguments.append(arguments.empty() ? "" : ", ").append(names_[i]).append(": ").append(type_of(i));
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (names_[i].empty()) names_[i] = write(i);
    const std::size_t last = nodes_.size() - 1;
    std::string text = "module {\n  func.func @main(";
    text.append(arguments).append(") -> ").append(type_of(last)).append(" {\n").append(body_);
    text.append("    return ").append(names_[last]).append(" : ").append(type_of(last)).append("\n  }\n}\n");
    return text;
  }

 private:
  [[nodiscard]] bool is_argument(std::size_t i) const {
    const std::string& op = graph_.nodes[i].op;
    return nodes_[i].op == TypedOperator::leaf && op.substr(0, op.find(':')) == "input";
  }

  [[nodiscard]] Format dtype_of(std::size_t i) const {
    return rules_.exported == ExportedDtype::dropped ? Format::f32 : nodes_[i].dtype;
  }
  static std::string tensor(std::span<const std::uint32_t> shape, std::string_view element) {
    std::string type = "tensor<";
    for (const std::uint32_t dimension : shape) type.append(std::to_string(dimension)).append("x");
    return type.append(element).append(">");
  }
  [[nodiscard]] std::string type_of(std::size_t i) const {
    return tensor(graph_.nodes[i].shape, spec(dtype_of(i)).name);
  }

  /// One operation in the generic form; gives the name of its result.
  std::string emit(std::string_view op, std::string_view operands, std::string_view attributes, std::string_view types,
                   std::string_view result) {
    std::string name = "%" + std::to_string(values_++);
    body_.append("    ").append(name).append(" = \"stablehlo.").append(op).append("\"(").append(operands).append(")");
    if (!attributes.empty()) body_.append(" {").append(attributes).append("}");
    body_.append(" : (").append(types).append(") -> ").append(result).append("\n");
    return name;
  }

  static void append_hex(std::string& text, Format dtype, std::uint64_t code) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < spec(dtype).bytes(); ++byte, code >>= 8)
      text.append(1, kDigits[code >> 4 & 15]).append(1, kDigits[code & 15]);
  }

  /// Little-endian bytes in hex: one element, or all of them.
  std::string constant(Format dtype, const std::string& type, std::span<const std::uint64_t> doubles) {
    std::string attribute = "value = dense<\"0x";
    for (const std::uint64_t bits : doubles) append_hex(attribute, dtype, convert(Format::f64, dtype, bits));
    attribute.append("\"> : ").append(type);
    return emit("constant", "", attribute, "", type);
  }

  /// An operation of two operands of one type.
  std::string binary(std::string_view op, const std::string& one, const std::string& other, const std::string& type) {
    std::string operands = one;
    std::string types = type;
    return emit(op, operands.append(", ").append(other), "", types.append(", ").append(type), type);
  }

  std::string write(std::size_t i) {
    const GraphNode& node = graph_.nodes[i];
    const std::string type = type_of(i);
    switch (nodes_[i].op) {
      case TypedOperator::leaf: return constant(dtype_of(i), type, *node.data);
      case TypedOperator::linear: return write_linear(i, type);
      case TypedOperator::convert: return emit("convert", names_[node.inputs[0]], "", type_of(node.inputs[0]), type);
      case TypedOperator::relu: return binary("maximum", names_[node.inputs[0]], filled(i, 0), type);
      case TypedOperator::leaky_relu: return write_leaky(i, type);
      case TypedOperator::hard_tanh: break;
    }
    std::string operands = filled(i, 0xBFF0000000000000);
    operands.append(", ").append(names_[node.inputs[0]]).append(", ").append(filled(i, 0x3FF0000000000000));
    std::string types = type;
    return emit("clamp", operands, "", types.append(", ").append(type).append(", ").append(type), type);
  }

  /// A tensor like node i, of one number.
  std::string filled(std::size_t i, std::uint64_t bits) { return constant(dtype_of(i), type_of(i), {&bits, 1}); }

  std::string write_linear(std::size_t i, const std::string& type) {
    const ShortList& inputs = graph_.nodes[i].inputs;
    std::string operands = names_[inputs[0]];
    std::string types = type_of(inputs[0]);
    const std::string product = emit(
        "dot_general", operands.append(", ").append(names_[inputs[1]]),
        "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>",
        types.append(", ").append(type_of(inputs[1])), type);
    if (inputs.size() < 3) return product;
    const std::string bias =
        emit("broadcast_in_dim", names_[inputs[2]], "broadcast_dimensions = array<i64: 1>", type_of(inputs[2]), type);
    return binary("add", product, bias, type);
  }

  std::string write_leaky(std::size_t i, const std::string& type) {
    const std::string& x = names_[graph_.nodes[i].inputs[0]];
    const std::string zero = filled(i, 0);
    const std::string scaled = binary("multiply", x, filled(i, 0x3FC0000000000000), type);
    const std::string truth = tensor(graph_.nodes[i].shape, "i1");
    std::string operands = x;
    std::string types = type;
    const std::string negative =
        emit("compare", operands.append(", ").append(zero),
             "comparison_direction = #stablehlo<comparison_direction LT>", types.append(", ").append(type), truth);
    const std::string positive = binary("maximum", x, zero, type);
    operands = negative;
    types = truth;
    return emit("select", operands.append(", ").append(scaled).append(", ").append(positive), "",
                types.append(", ").append(type).append(", ").append(type), type);
  }

  const Graph& graph_;
  std::span<const TypedNode> nodes_;
  const PrecisionRules& rules_;
  std::vector<std::string> names_;
  std::string body_;
  unsigned arguments_ = 0;
  unsigned values_ = 0;
};

}  // namespace

Result<std::string> export_stablehlo(const Graph& graph, const PrecisionRules& rules) {
  const Result<std::vector<TypedNode>> nodes = typed_nodes(graph);
  if (!nodes) return tl::unexpected(nodes.error());
  return Writer(graph, *nodes, rules).run();
}

}  // namespace packcheck
