// core/precision/typed_graph.h: a network as a graph (core/graph), each node of which has a number format.
//
// The format stands behind the operator: "linear:f16". Without it a node is f32, so that the f32 part of a network is
// what readers of graphs know, while a reader that knows no formats refuses a narrow node by its name and does not
// compute it in f32. A cast always says what it casts to: "convert:f32". Data are the exact values of the codes.
//
// | operator | inputs | output |
// |---|---|---|
// | any leaf ("input", "weight", "bias") | none | its data, numbers of its format |
// | linear | x [rows,in], weight [out,in], bias [out]?; all of its format | [rows,out]: Σ x·w in the order of the
// inputs, from +0, then + bias |
// | relu, leakyRelu, hardTanh | x, of its format | network.h, Activation |
// | convert | x of any format | x, rounded to its format |
#pragma once

#include <span>

#include "core/graph/graph.h"
#include "core/precision/network.h"

namespace packcheck {

enum class TypedOperator : std::uint8_t { leaf, linear, relu, leaky_relu, hard_tanh, convert };

struct TypedNode {
  TypedOperator op = TypedOperator::leaf;
  Format dtype = Format::f32;
};

/// "linear:f16"; f32 is not said, except by a cast.
[[nodiscard]] std::string typed_name(std::string_view op, Format dtype);

/// What each node computes and in which format. Refuses, with the JSON pointer of the node: what check_graph
/// refuses, operators and formats that this room does not know, inputs of another format or shape than the operator
/// takes, and data that its format does not hold.
[[nodiscard]] Result<std::vector<TypedNode>> typed_nodes(const Graph& graph);

/// The network at this input, one or more rows of codes of its dtype. The input is node 0; the weights of a layer come
/// right before it; the output is the last node. Refuses an input of another size.
[[nodiscard]] Result<Graph> lower(const Network& network, std::span<const std::uint64_t> input);

/// The same graph as canonical JSON text of the dialect "ysgp:lossless".
[[nodiscard]] Result<std::string> export_typed_json(const Graph& graph, const PrecisionRules& rules = {});

}  // namespace packcheck
