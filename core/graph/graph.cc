#include "core/graph/graph.h"

#include <algorithm>
#include <array>

#include "core/file/checks.h"

namespace packcheck {
namespace {

constexpr auto kDialects = std::to_array<GraphDialect>({
    {"lossless", true, false, false, true},
    {"yishape", false, true, true, false},
});

// Operators of yishape-math. A convolution or linear layer has a bias where that needs a gradient.
constexpr auto kOperators = std::to_array<OperatorInputs>({
    {"adaptiveAvgPool2d", 1, 1},
    {"add", 2, 2},
    {"addScalar", 1, 1},
    {"avgpool2d", 1, 1},
    {"cat", 1, 65535},
    {"conv2d", 2, 3},
    {"div", 2, 2},
    {"dropout", 1, 1},
    {"exp", 1, 1},
    {"flatten", 1, 1},
    {"leakyRelu", 1, 1},
    {"linear", 2, 3},
    {"log", 1, 1},
    {"matmul", 2, 2},
    {"maxpool2d", 1, 1},
    {"mean", 1, 1},
    {"mul", 2, 2},
    {"mulScalar", 1, 1},
    {"neg", 1, 1},
    {"pow", 1, 1},
    {"relu", 1, 1},
    {"reshape", 1, 1},
    {"sigmoid", 1, 1},
    {"softmax", 1, 1},
    {"softmaxCrossEntropy", 1, 2},
    {"softplus", 1, 1},
    {"sub", 2, 2},
    {"sum", 1, 1},
    {"tanh", 1, 1},
});

constexpr std::uint32_t kLargestDimension = 0x7FFFFFFF;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 60;
constexpr std::size_t kLargestU16 = 65535;
constexpr std::string_view kLabelled = "softmaxCrossEntropy";

std::string pointer_to(std::size_t node, std::string_view member) {
  std::string pointer = "/nodes/";
  pointer.append(std::to_string(node)).append("/").append(member);
  return pointer;
}
std::string pointer_to(std::size_t node, std::string_view member, std::size_t index) {
  return pointer_to(node, member).append("/").append(std::to_string(index));
}

/// Which nodes lie on one cycle: nodes with the same number reach each other (Tarjan's components,
/// without recursion, because a hostile graph is as deep as it is long).
std::vector<std::uint32_t> components(const Graph& graph) {
  const std::size_t count = graph.nodes.size();
  std::vector<std::uint32_t> order(count, 0);  // 1 + when it was reached
  std::vector<std::uint32_t> low(count, 0);
  std::vector<std::uint32_t> component(count, kMissingInput);
  std::vector<std::uint32_t> open;
  struct Visit {
    std::uint32_t node;
    std::size_t next_input;
  };
  std::vector<Visit> path;
  std::uint32_t reached = 0;
  for (std::uint32_t start = 0; start < count; ++start) {
    if (order[start] != 0) continue;
    path.push_back({start, 0});
    while (!path.empty()) {
      Visit& visit = path.back();
      const std::uint32_t node = visit.node;
      const ShortList& inputs = graph.nodes[node].inputs;
      if (order[node] == 0) {
        order[node] = low[node] = ++reached;
        open.push_back(node);
      }
      if (visit.next_input < inputs.size()) {
        const std::uint32_t input = inputs[visit.next_input++];
        if (input >= count) continue;
        if (order[input] == 0)
          path.push_back({input, 0});
        else if (component[input] == kMissingInput)
          low[node] = std::min(low[node], order[input]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back().node] = std::min(low[path.back().node], low[node]);
      if (low[node] != order[node]) continue;
      for (std::uint32_t member = kMissingInput; member != node; open.pop_back()) {
        member = open.back();
        component[member] = node;
      }
    }
  }
  return component;
}

class Checker {
 public:
  Checker(const Graph& graph, const GraphDialect& dialect, const GraphRules& rules,
          std::span<const std::uint16_t> reported, GraphErrors& errors)
      : graph_(graph), dialect_(dialect), rules_(rules), reported_(reported), errors_(errors) {}

  void run() {
    if (graph_.nodes.empty()) errors_.add("the graph has no nodes", "/nodes", "at least one node");
    std::vector<std::uint32_t> owner(graph_.nodes.size(), kMissingInput);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::uint16_t done = reported_.empty() ? std::uint16_t{0} : reported_[i];
      check_id(i, done, owner);
      if ((done & kShapeMember) == 0) check_shape(i);
      if ((done & kOpMember) == 0) check_op(i);
      check_values(i, done);
      check_kind(i, done);
      if ((done & kInputsMember) == 0) check_inputs(i, (done & kOpMember) == 0);
    }
  }

 private:
  void check_id(std::size_t i, std::uint16_t done, std::vector<std::uint32_t>& owner) {
    const std::uint32_t id = graph_.nodes[i].id;
    if ((done & kIdMember) != 0) return;
    const std::string position = std::to_string(i).append(", the node's position in topological order");
    if (id < owner.size() && owner[id] != kMissingInput)
      errors_.add("id " + std::to_string(id) + " belongs to /nodes/" + std::to_string(owner[id]) + " already",
                  pointer_to(i, "id"), position);
    else if (id != i)
      errors_.add("id is " + std::to_string(id), pointer_to(i, "id"), position);
    if (id < owner.size() && owner[id] == kMissingInput) owner[id] = static_cast<std::uint32_t>(i);
  }

  void check_shape(std::size_t i) {
    const ShortList& shape = graph_.nodes[i].shape;
    if (shape.size() > kLargestU16)
      return errors_.add(std::to_string(shape.size()) + " dimensions", pointer_to(i, "shape"), "at most 65535");
    bool in_range = true;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] != 0 && shape[d] <= kLargestDimension) continue;
      in_range = false;
      errors_.add("dimension is " + std::to_string(shape[d]), pointer_to(i, "shape", d), "1..2147483647");
    }
    if (in_range && !element_count(shape))
      errors_.add("2^60 elements or more", pointer_to(i, "shape"), "dimensions whose product is below 2^60");
  }

  void check_op(std::size_t i) {
    const std::string& op = graph_.nodes[i].op;
    if (op.empty() || op.size() > kLargestU16)
      errors_.add("the operator's name has " + std::to_string(op.size()) + " bytes", pointer_to(i, "op"), "1..65535");
    else if (!is_utf8(op))
      errors_.add("the operator's name is no UTF-8", pointer_to(i, "op"), "UTF-8");
  }

  void check_values(std::size_t i, std::uint16_t done) {
    const GraphNode& node = graph_.nodes[i];
    const auto check_number = [&](const std::optional<std::uint64_t>& bits, GraphMember member, std::string_view name) {
      if ((done & member) == 0 && bits && dialect_.nan_is_absent && is_nan_double(*bits))
        errors_.add("NaN is how this dialect says that there is none", pointer_to(i, name),
                    "no value at all, or a number");
    };
    check_number(node.scalar, kScalarMember, "scalar");
    check_number(node.param2, kParam2Member, "param2");
    if ((done & kIndicesMember) == 0 && node.indices) {
      if (node.indices->size() >= kMissingInput)
        errors_.add("more indices than 32 bits count", pointer_to(i, "indices"), "at most 4294967294");
      if (node.indices->empty() && dialect_.empty_indices_are_absent)
        errors_.add("an empty list, which this dialect does not write", pointer_to(i, "indices"), "no list");
    }
    if ((done & (kDataMember | kShapeMember)) != 0 || !node.data) return;
    const std::optional<std::uint64_t> elements = element_count(node.shape);
    if (elements && *elements != node.data->size())
      errors_.add(std::to_string(node.data->size()) + " numbers", pointer_to(i, "data"),
                  std::to_string(*elements) + " (the product of the shape)");
  }

  /// A leaf has data and no inputs; every other node has inputs and no data.
  void check_kind(std::size_t i, std::uint16_t done) {
    const GraphNode& node = graph_.nodes[i];
    if ((done & kDataMember) != 0) return;
    const bool operator_may_have_data = rules_.data_of_operator == DataOfOperator::accept;
    if (node.is_leaf() && !node.inputs.empty() && !operator_may_have_data)
      errors_.add("data on a node with inputs", pointer_to(i, "data"), "data on leaves only, which have no inputs");
    if (!node.is_leaf() && node.op == "leaf")
      errors_.add("a leaf without data", pointer_to(i, "data"), "the leaf's numbers, or another operator");
    else if (!node.is_leaf() && node.inputs.empty() && (done & kInputsMember) == 0)
      errors_.add("neither data nor inputs", pointer_to(i, "inputs"), "data (a leaf) or at least one input");
  }

  void check_inputs(std::size_t i, bool op_is_known) {
    const GraphNode& node = graph_.nodes[i];
    if (node.inputs.size() > kLargestU16)
      errors_.add(std::to_string(node.inputs.size()) + " inputs", pointer_to(i, "inputs"), "at most 65535");
    for (std::size_t k = 0; k < node.inputs.size(); ++k) check_input(i, k);
    if (!op_is_known || node.inputs.empty()) return;
    const auto known = std::find_if(kOperators.begin(), kOperators.end(),
                                    [&](const OperatorInputs& row) { return row.op == node.op; });
    if (known == kOperators.end()) return;
    const std::uint32_t least = dialect_.labels_are_inputs && known->op == kLabelled ? 2 : known->least;
    if (node.inputs.size() >= least && node.inputs.size() <= known->most) return;
    std::string right = std::to_string(least);
    if (known->most != least) right.append("..").append(std::to_string(known->most));
    errors_.add(std::to_string(node.inputs.size()) + " inputs of " + quoted(node.op), pointer_to(i, "inputs"),
                std::move(right));
  }

  void check_input(std::size_t i, std::size_t k) {
    const std::uint32_t input = graph_.nodes[i].inputs[k];
    const std::string earlier =
        i == 0 ? "no input: this is the first node" : "a node before it, 0.." + std::to_string(i - 1);
    if (input < i) return;
    if (input == kMissingInput) {
      if (rules_.missing_input == MissingInputRule::refuse)
        errors_.add("a missing input", pointer_to(i, "inputs", k), earlier);
    } else if (input >= graph_.nodes.size()) {
      errors_.add("input " + std::to_string(input) + " is no node of this graph", pointer_to(i, "inputs", k), earlier);
    } else if (rules_.forward_reference == ForwardReference::refuse) {
      if (components_.empty()) components_ = components(graph_);
      const bool cycle = components_[i] == components_[input];
      errors_.add("input " + std::to_string(input) + (cycle ? " closes a cycle" : " comes later than the node"),
                  pointer_to(i, "inputs", k), earlier);
    }
  }

  const Graph& graph_;
  const GraphDialect& dialect_;
  const GraphRules& rules_;
  std::span<const std::uint16_t> reported_;
  GraphErrors& errors_;
  std::vector<std::uint32_t> components_;  // made at the first forward reference
};

}  // namespace

std::span<const GraphDialect> all_graph_dialects() { return kDialects; }

Result<const GraphDialect*> graph_dialect_named(std::string_view id) {
  std::string known;
  for (const GraphDialect& dialect : kDialects) {
    if (dialect.id() == id) return &dialect;
    known.append(known.empty() ? "" : ", ").append(dialect.id());
  }
  return refuse("unknown graph dialect " + quoted(id), {}, "one of " + known);
}

std::span<const OperatorInputs> known_operators() { return kOperators; }

void GraphErrors::add(std::string what, std::string where, std::string right) {
  if (total_++ < kMostKept) kept_.push_back({std::move(what), std::move(where), std::move(right)});
}

Error GraphErrors::as_one() const {
  if (total_ == 1) return kept_.front();
  constexpr std::size_t kMostTold = 10;
  Error all{std::to_string(total_) + " problems", kept_.empty() ? std::string() : kept_.front().where, {}};
  for (std::size_t i = 0; i < std::min(kept_.size(), kMostTold); ++i)
    all.what.append(i == 0 ? ": " : "; ").append(kept_[i].text());
  if (total_ > kMostTold) all.what.append("; …");
  return all;
}

void check_graph(const Graph& graph, const GraphDialect& dialect, const GraphRules& rules,
                 std::span<const std::uint16_t> reported, GraphErrors& errors) {
  Checker(graph, dialect, rules, reported, errors).run();
}

std::optional<std::uint64_t> element_count(std::span<const std::uint32_t> shape) {
  std::uint64_t count = 1;
  for (const std::uint32_t dimension : shape) {
    if (dimension == 0 || dimension > kLargestDimension) return std::nullopt;
    if (count >= kMostElements / dimension + 1) return std::nullopt;
    count *= dimension;
  }
  if (count >= kMostElements) return std::nullopt;
  return count;
}

}  // namespace packcheck
