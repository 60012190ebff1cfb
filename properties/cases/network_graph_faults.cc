// What is wrong with graphs that are no networks.
#include "properties/cases/networks.h"

namespace packcheck {
namespace {

using oracle::Node;
using oracle::Nodes;

std::string_view format_behind(const std::string& op) {
  const std::size_t colon = op.find(':');
  return colon == std::string::npos ? std::string_view() : std::string_view(op).substr(colon);
}
/// The first layer of a narrow format.
Node* narrow_layer(Nodes& nodes) {
  for (Node& node : nodes)
    if (node.op == "linear:f16" || node.op == "linear:bf16") return &node;
  return nullptr;
}
bool rename_leaf(Nodes& nodes, std::size_t input, const char* narrow_f16, const char* narrow_bf16) {
  const Node* const layer = narrow_layer(nodes);
  if (layer == nullptr || layer->inputs.size() <= input) return false;
  nodes[layer->inputs[input]].op = layer->op == "linear:f16" ? narrow_f16 : narrow_bf16;
  return true;
}
/// A node after all others that takes the last of them.
Node& append(Nodes& nodes, std::string op) {
  Node node;
  node.id = static_cast<std::uint32_t>(nodes.size());
  node.shape = nodes.back().shape;
  node.op = std::move(op);
  node.inputs = {nodes.back().id};
  return nodes.emplace_back(std::move(node));
}

constexpr NetworkGraphFault kFaults[] = {
    {"weights of the wide format", [](Nodes& nodes) { return rename_leaf(nodes, 1, "weight", "weight"); }},
    {"a bias of another format", [](Nodes& nodes) { return rename_leaf(nodes, 2, "bias:bf16", "bias:f16"); }},
    {"a weight that its format does not hold",
     [](Nodes& nodes) {
       const Node* const layer = narrow_layer(nodes);
       if (layer != nullptr) nodes[layer->inputs[1]].data->front() = 0x3FF0000000400000;  // 1 + 2^-30
       return layer != nullptr;
     }},
    {"no cast out",
     [](Nodes& nodes) {
       if (nodes.back().op.rfind("convert", 0) != 0) return false;
       nodes.pop_back();
       return true;
     }},
    {"a cast to the format that is there",
     [](Nodes& nodes) {
       const std::string format(format_behind(nodes.back().op));
       append(nodes, format.empty() ? std::string("convert:f32") : std::string("convert").append(format));
       return true;
     }},
    {"an unknown operator",
     [](Nodes& nodes) {
       const std::string format(format_behind(nodes.back().op));
       append(nodes, std::string("sigmoid").append(format));
       return true;
     }},
    {"no input",
     [](Nodes& nodes) {
       nodes.front().op.replace(0, 5, "weight");
       return true;
     }},
    {"an input of one dimension",
     [](Nodes& nodes) {
       std::vector<std::uint32_t>& shape = nodes.front().shape;
       shape = {shape[0] * shape[1]};
       return true;
     }},
    {"a parameter",
     [](Nodes& nodes) {
       nodes.back().scalar = 0x3FF0000000000000;
       return true;
     }},
    {"a leaf that nothing takes",
     [](Nodes& nodes) {
       Node& leaf = append(nodes, "weight");
       leaf.inputs.clear();
       leaf.shape = {1};
       leaf.data = {0};
       return true;
     }},
    {"a node that does not take the one before it",
     [](Nodes& nodes) {
       if (nodes.back().inputs.empty() || nodes.back().inputs[0] == 0) return false;
       nodes.back().inputs[0] = 0;
       return true;
     }},
};

}  // namespace

std::span<const NetworkGraphFault> network_graph_faults() { return kFaults; }

}  // namespace packcheck
