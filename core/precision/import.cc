#include "core/precision/import.h"

#include "core/format/convert.h"
#include "core/graph/json_import.h"
#include "core/precision/builder.h"

namespace packcheck {
namespace {

std::string pointer_to(std::size_t node, std::string_view member) {
  std::string pointer = "/nodes/";
  return pointer.append(std::to_string(node)).append("/").append(member);
}

class Importer {
 public:
  Importer(const Graph& graph, std::span<const TypedNode> nodes, const PrecisionRules& rules)
      : graph_(graph), nodes_(nodes), rules_(rules), taken_(nodes.size(), false) {}

  Result<std::string> run() && {
    if (const Result<void> fits = start(); !fits) return tl::unexpected(fits.error());
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      if (nodes_[i].op == TypedOperator::leaf) continue;
      if (const Result<void> fits = step(i); !fits) return tl::unexpected(fits.error());
      at_ = i;
    }
    if (!outside_.empty())
      return refuse("a cast in without one out", pointer_to(at_, "op"),
                    std::string("convert:").append(spec(outside_.front()).name).append(" at last"));
    for (std::size_t i = 1; i < nodes_.size(); ++i)
      if (nodes_[i].op == TypedOperator::leaf && !taken_[i])
        return refuse("a leaf that no layer takes", pointer_to(i, "op"), "weights and biases of layers");
    const ShortList& shape = graph_.nodes[at_].shape;
    text_.append("upstream");
    const std::string one = code_text(dtype_of(0), convert(Format::f64, dtype_of(0), 0x3FF0000000000000));
    for (std::uint64_t i = 0; i < std::uint64_t{shape[0]} * shape[1]; ++i) text_.append(one);
    return std::move(text_.append("\n"));
  }

 private:
  /// A faulty reader knows no formats.
  [[nodiscard]] Format dtype_of(std::size_t i) const {
    return rules_.imported == ImportedDtype::dropped ? Format::f32 : nodes_[i].dtype;
  }
  static std::string code_text(Format dtype, std::uint64_t code) {
    std::string text(" ");
    for (std::size_t shift = spec(dtype).bytes() * 8; shift > 0; shift -= 4)
      text.push_back("0123456789abcdef"[code >> (shift - 4) & 15]);
    return text;
  }
  void append_codes(std::size_t leaf, Format dtype) {
    for (const std::uint64_t bits : *graph_.nodes[leaf].data)
      text_.append(code_text(dtype, convert(Format::f64, dtype, bits)));
    text_.push_back('\n');
  }
  /// The word and the numbers of a layer's weights or bias.
  void append_leaf(std::string_view word, std::size_t leaf) {
    const Format dtype = rules_.imported_weights == ImportedWeights::widened ? Format::f32 : dtype_of(leaf);
    text_.append(word).append(" ").append(spec(dtype).name);
    append_codes(leaf, dtype);
    taken_[leaf] = true;
  }

  /// Everything that a node may not have.
  [[nodiscard]] Result<void> check_members(std::size_t i) const {
    const GraphNode& node = graph_.nodes[i];
    if (node.scalar || node.param2 || node.indices)
      return refuse("parameters that a network has no place for", pointer_to(i, "op"), "none");
    return {};
  }

  Result<void> start() {
    const GraphNode& input = graph_.nodes[0];
    const bool is_input = nodes_[0].op == TypedOperator::leaf && input.op.substr(0, input.op.find(':')) == "input";
    if (!is_input) return refuse("another first node than the input", pointer_to(0, "op"), "a leaf named input");
    if (input.shape.size() != 2 || input.shape[1] > kMostUnits)
      return refuse("an input of another shape", pointer_to(0, "shape"), "[rows,size]");
    text_.append("network ").append(spec(dtype_of(0)).name).append(" ").append(std::to_string(input.shape[1]));
    text_.append("\ninput");
    append_codes(0, dtype_of(0));
    return check_members(0);
  }

  Result<void> step(std::size_t i) {
    const GraphNode& node = graph_.nodes[i];
    if (node.inputs[0] != at_)
      return refuse("an input that is not the number before it", pointer_to(i, "inputs/0"), std::to_string(at_));
    if (const Result<void> fits = check_members(i); !fits) return fits;
    switch (nodes_[i].op) {
      case TypedOperator::linear: return layer(i);
      case TypedOperator::convert: return cast(i);
      case TypedOperator::relu: text_.append("activation relu\n"); break;
      case TypedOperator::leaky_relu: text_.append("activation leaky_relu\n"); break;
      case TypedOperator::hard_tanh: text_.append("activation hard_tanh\n"); break;
      case TypedOperator::leaf: break;
    }
    return {};
  }

  Result<void> layer(std::size_t i) {
    const ShortList& inputs = graph_.nodes[i].inputs;
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const std::size_t leaf = inputs[k];
      const std::string& tag = graph_.nodes[leaf].op;
      if (nodes_[leaf].op != TypedOperator::leaf || taken_[leaf] || tag.substr(0, tag.find(':')) == "input")
        return refuse("weights that are not the layer's own", pointer_to(i, "inputs/") + std::to_string(k),
                      "a leaf that is no input and that no other layer takes");
      if (const Result<void> fits = check_members(leaf); !fits) return fits;
      taken_[leaf] = true;
    }
    const std::uint32_t units = graph_.nodes[i].shape[1];
    weights_ += graph_.nodes[inputs[1]].data->size();
    if (units > kMostUnits || weights_ > kMostWeights)
      return refuse("a layer of too many weights", pointer_to(i, "shape"),
                    std::to_string(kMostWeights) + " in a network");
    text_.append("dense ").append(std::to_string(units)).append(" - -\n");
    append_leaf("weights", inputs[1]);
    if (inputs.size() == 3) append_leaf("bias", inputs[2]);
    return {};
  }

  Result<void> cast(std::size_t i) {
    const Format from = nodes_[at_].dtype;
    const Format to = nodes_[i].dtype;
    if (from == to) return refuse("a cast to the format that is there", pointer_to(i, "op"), "another format");
    if (!outside_.empty() && outside_.back() == to) {
      outside_.pop_back();
      text_.append("end\n");
      return {};
    }
    if (outside_.size() == kDeepestStage)
      return refuse("stages nested deeper than " + std::to_string(kDeepestStage), pointer_to(i, "op"),
                    "fewer stages in each other");
    outside_.push_back(from);
    text_.append("stage stage_").append(std::to_string(stages_++)).append(" ").append(spec(dtype_of(i)).name);
    text_.append("\n");
    return {};
  }

  const Graph& graph_;
  std::span<const TypedNode> nodes_;
  const PrecisionRules& rules_;
  std::vector<bool> taken_;
  std::vector<Format> outside_;  ///< of the open stages
  std::string text_;
  std::size_t at_ = 0;  ///< the node whose numbers come next
  std::size_t stages_ = 0;
  std::uint64_t weights_ = 0;
};

/// A faulty reader's graph: every leaf in the format of the layer that takes it.
Graph with_cast_leaves(Graph graph) {
  for (const GraphNode& node : graph.nodes) {
    if (node.op.rfind("linear", 0) != 0) continue;
    const std::optional<Format> named = format_named(node.op.substr(node.op.find(':') + 1));
    const Format dtype = named.value_or(Format::f32);
    for (std::size_t k = 1; k < node.inputs.size() && is_layer_format(dtype); ++k) {
      GraphNode& leaf = graph.nodes[node.inputs[k]];
      if (!leaf.is_leaf()) continue;
      leaf.op = typed_name(leaf.op.substr(0, leaf.op.find(':')), dtype);
      for (std::uint64_t& bits : *leaf.data) bits = convert(dtype, Format::f64, convert(Format::f64, dtype, bits));
    }
  }
  return graph;
}

}  // namespace

Result<std::string> network_of_graph(const Graph& graph, const PrecisionRules& rules) {
  const Result<std::vector<TypedNode>> nodes = typed_nodes(graph);
  if (!nodes) return tl::unexpected(nodes.error());
  return Importer(graph, *nodes, rules).run();
}

Result<std::string> import_typed_json(std::string_view text, const PrecisionRules& rules) {
  GraphResult<Graph> graph = import_json(text, **graph_dialect_named("ysgp:lossless"));
  if (!graph) return tl::unexpected(graph.error().as_one());
  return network_of_graph(rules.mixed == MixedLeaves::cast ? with_cast_leaves(std::move(*graph)) : *graph, rules);
}

}  // namespace packcheck
