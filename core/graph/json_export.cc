#include "core/graph/json_export.h"

#include <algorithm>
#include <charconv>

#include "core/environment.h"
#include "core/graph/ysgp.h"
#include "core/large_pages.h"
#include "core/text/json_document.h"

namespace packcheck {
namespace {

template <class Integer>
void append_integer(std::string& out, Integer value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

void append_hex(std::string& out, std::uint64_t bits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.append("\"0x");
  for (int shift = 60; shift >= 0; shift -= 4) out.push_back(kDigits[bits >> shift & 15]);
  out.push_back('"');
}

class Exporter {
 public:
  Exporter(const Graph& graph, const GraphDialect& dialect, const GraphRules& rules)
      : graph_(graph), dialect_(dialect), rules_(rules) {}

  GraphResult<std::string> run() && {
    out_.reserve(expected_size());
    prefer_large_pages(out_.data(), out_.capacity());
    out_.append("{\"nodes\":[");
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (i != 0) out_.push_back(',');
      write_node(i, graph_.nodes[i]);
    }
    out_.append("]}");
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return std::move(out_);
  }

 private:
  /// About how many bytes the text will have, so that it is not moved again and again as it grows.
  [[nodiscard]] std::size_t expected_size() const {
    constexpr std::size_t kNode = 56;  // names, brackets, commas, the id
    constexpr std::size_t kDouble = 22;
    constexpr std::size_t kInteger = 8;
    std::size_t bytes = 0;
    for (const GraphNode& node : graph_.nodes) {
      bytes += kNode + node.op.size() + kInteger * (node.shape.size() + node.inputs.size());
      if (node.data) bytes += kDouble * node.data->size();
      if (node.indices) bytes += kInteger * node.indices->size();
      bytes += 2 * kDouble * (static_cast<std::size_t>(node.scalar.has_value()) + (node.param2 ? 1 : 0));
    }
    return bytes;
  }

  void write_node(std::size_t i, const GraphNode& node) {
    out_.append("{\"id\":");
    append_integer(out_, node.id);
    out_.append(",\"shape\":");
    append_list(shape_of(node));
    out_.append(",\"op\":");
    (void)append_json_string(out_, node.op);  // check_graph has seen that it is UTF-8
    if (node.data) write_data(i, node);
    const bool in_scalars_place = rules_.param2 == Param2Place::scalars_when_free && !node.scalar;
    write_number(i, "scalar", node.scalar);
    write_number(i, in_scalars_place ? "scalar" : "param2", node.param2);
    if (node.indices && (!node.indices->empty() || rules_.empty_indices == EmptyIndices::kept)) {
      out_.append(",\"indices\":");
      append_list(*node.indices);
    }
    if (!node.inputs.empty()) write_inputs(node);
    out_.push_back('}');
  }

  [[nodiscard]] const ShortList& shape_of(const GraphNode& node) const {
    const bool has_windows = node.op == "conv2d" || node.op == "maxpool2d" || node.op == "avgpool2d";
    const bool of_input = rules_.shape == ShapeExport::of_first_input && has_windows && !node.inputs.empty();
    return of_input && node.inputs[0] < graph_.nodes.size() ? graph_.nodes[node.inputs[0]].shape : node.shape;
  }

  void write_inputs(const GraphNode& node) {
    std::size_t count = node.inputs.size();
    if (rules_.labels == LabelsRule::dropped && node.op == "softmaxCrossEntropy") count = 1;
    out_.append(",\"inputs\":[");
    for (std::size_t k = 0; k < count; ++k) {
      if (k != 0) out_.push_back(',');
      if (node.inputs[k] == kMissingInput && rules_.missing_input == MissingInputRule::write_null)
        out_.append("null");
      else
        append_integer(out_, node.inputs[k]);
    }
    out_.push_back(']');
  }

  void write_number(std::size_t i, std::string_view name, const std::optional<std::uint64_t>& bits) {
    if (!bits) return;
    const bool finite = is_finite_double(*bits);
    if (!finite && rules_.infinity == InfinityRule::dropped) return;
    const bool as_bits = !finite && dialect_.has_bits_members && rules_.numbers.non_finite == NonFinitePrinting::refuse;
    out_.append(",\"").append(name).append(as_bits ? "_bits\":" : "\":");
    if (as_bits) return append_hex(out_, *bits);
    append_number(
        *bits, rules_.numbers, [&] { return std::string(name); }, i);
  }

  void write_data(std::size_t i, const GraphNode& node) {
    const std::vector<std::uint64_t>& data = *node.data;
    const bool finite = std::all_of(data.begin(), data.end(), is_finite_double);
    const bool as_bits = !finite && dialect_.has_bits_members && rules_.data == NonFinitePrinting::refuse;
    out_.append(as_bits ? ",\"data_bits\":[" : ",\"data\":[");
    const std::size_t row = node.shape.size() == 2 ? node.shape[1] : 0;
    PrintRules rules = rules_.numbers;
    rules.non_finite = rules_.data;
    for (std::size_t k = 0; k < data.size(); ++k) {
      if (k != 0) out_.push_back(',');
      if (row != 0 && k % row == 0) out_.push_back('[');
      if (as_bits)
        append_hex(out_, data[k]);
      else
        append_number(
            data[k], rules, [&] { return std::string("data/").append(place_in_data(k, row)); }, i);
      if (row != 0 && k % row == row - 1) out_.push_back(']');
    }
    out_.push_back(']');
  }

  static std::string place_in_data(std::size_t k, std::size_t row) {
    if (row == 0) return std::to_string(k);
    return std::to_string(k / row).append("/").append(std::to_string(k % row));
  }

  template <class Place>
  void append_number(std::uint64_t bits, const PrintRules& rules, Place place, std::size_t i) {
    Result<void> text = packcheck::append_number(out_, bits, rules);
    if (text) return;
    std::string where = "/nodes/";
    where.append(std::to_string(i)).append("/").append(place());
    errors_.add(std::move(text.error().what), std::move(where), "a finite number: this dialect has no bits members");
  }

  template <class List>
  void append_list(const List& values) {
    out_.push_back('[');
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k != 0) out_.push_back(',');
      append_integer(out_, values[k]);
    }
    out_.push_back(']');
  }

  const Graph& graph_;
  const GraphDialect& dialect_;
  const GraphRules& rules_;
  std::string out_;
  GraphErrors errors_;
};

}  // namespace

GraphResult<std::string> export_json(const Graph& graph, const GraphDialect& dialect, const GraphRules& rules) {
  const ExactEnvironment exact;
  return Exporter(graph, dialect, rules).run();
}

GraphResult<std::string> export_graph(std::span<const std::uint8_t> ysgp, const GraphDialect& dialect,
                                      const GraphRules& rules) {
  const GraphResult<Graph> graph = read_ysgp(ysgp, dialect, rules);
  if (!graph) return tl::unexpected(graph.error());
  return export_json(*graph, dialect, rules);
}

}  // namespace packcheck
