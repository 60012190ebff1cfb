// properties/oracles/graph_oracle.h: graphs in their two forms, a second time.
//
// Oracle for core/graph. Where the core follows events through one text and keeps going after a
// mistake, this reads the whole JSON text into a tree by recursive descent and takes it apart; it
// answers only "this graph" or "no sound graph". Numbers come from text_oracle.h. Shares no code with
// the core; proved against it by tests/core/graph_json_test.cc and tests/core/graph_ysgp_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace packcheck::oracle {

struct Node {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> shape;
  std::string op;
  std::optional<std::vector<std::uint64_t>> data;  ///< bits of doubles
  std::optional<std::uint64_t> scalar;
  std::optional<std::uint64_t> param2;
  std::optional<std::vector<std::int32_t>> indices;
  std::vector<std::uint32_t> inputs;
  friend bool operator==(const Node&, const Node&) = default;
};
using Nodes = std::vector<Node>;

enum class GraphForm : std::uint8_t { lossless, yishape };
/// The form of "ysgp:lossless" or "ysgp:yishape".
[[nodiscard]] std::optional<GraphForm> graph_form(std::string_view dialect);

/// Whether the nodes make a graph in this form: ids are positions, inputs are earlier nodes and as many as
/// the operator has, data fills the shape.
[[nodiscard]] bool is_sound(const Nodes& nodes, GraphForm form);
/// Whether JSON text of this form can say all values of a sound graph.
[[nodiscard]] bool has_json(const Nodes& nodes, GraphForm form);

/// The sound graph in a JSON text, or nothing.
[[nodiscard]] std::optional<Nodes> read_graph_text(std::string_view text, GraphForm form);
/// The sound graph in YSGP bytes, or nothing.
[[nodiscard]] std::optional<Nodes> read_graph_bytes(std::span<const std::uint8_t> bytes, GraphForm form);
/// YSGP bytes of any nodes, sound or not.
[[nodiscard]] std::vector<std::uint8_t> graph_bytes(const Nodes& nodes);

/// The first thing in which two graphs differ, for reports.
struct GraphDifference {
  std::string member;  ///< "scalar", "inputs", "nodes" …
  std::string place;   ///< "node 3, inputs"
  std::string one;
  std::string other;
};
[[nodiscard]] std::optional<GraphDifference> difference(const Nodes& one, const Nodes& other);

}  // namespace packcheck::oracle
