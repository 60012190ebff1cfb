#include "core/graph/audit_graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/graph/json_import.h"
#include "core/graph/shape_window.h"
#include "core/text/number_form.h"

namespace packcheck {
namespace {

enum class Kind : std::uint8_t {
  unsound,
  missing_scalar,
  labels_missing,
  zero_field,
  generation_1,
  generation_3,
  not_packed,
  numeric_cast,
  non_finite,
  input_shape_exported,
  shape_mismatch,
  input_size_lost,
  weight_does_not_fit,
  linear_transposed
};
constexpr auto kKinds = std::to_array<GraphWarningKind>({
    {"unsound", true, "no sound graph: a reader refuses it, or runs another graph"},
    {"missing_scalar", true, "the operator's parameters are absent; a reader's default of 0 divides by zero"},
    {"labels_missing", true, "a cross entropy without its labels: no reader can compute the loss"},
    {"zero_field", true, "a kernel size or stride of 0 divides by zero"},
    {"generation_1", true, "parameters at the places of generation 1: later readers find kernel 0x0"},
    {"generation_3", false, "a dilation or a kernel above 255: readers of generation 2 see other parameters"},
    {"not_packed", true, "a plain number where integers are packed into the bits of a double"},
    {"numeric_cast", false, "packed parameters: a reader that casts the number gets 0 for all of them"},
    {"non_finite", true, "NaN or Infinity: exporters without bits members drop it or write no JSON"},
    {"input_shape_exported", true, "the shape of the input where the output's belongs"},
    {"shape_mismatch", true, "a shape that does not follow from the input and the parameters"},
    {"input_size_lost", false, "a reader that derives the input size from the output's gets a smaller one"},
    {"weight_does_not_fit", true, "a weight whose size does not follow from the channels and the kernel"},
    {"linear_transposed", true, "a linear layer's weight is [in, out] where [out, in] belongs"},
});

/// The parameters of a window operator, as readers of generation 3 find them; those of generation 2 mask
/// the kernel's height with 8 bits and know no dilation.
struct Parameters {
  std::uint64_t kernel_h;
  std::uint64_t kernel_w;
  std::uint64_t stride;
  std::uint64_t dilation;
  std::uint64_t padding;
  std::uint64_t out_channels;
};

std::string listed(const ShortList& shape) {
  std::string text(1, '[');
  for (std::size_t i = 0; i < shape.size(); ++i) text.append(i == 0 ? "" : ",").append(std::to_string(shape[i]));
  return text.append("]");
}

/// What belongs where a number of ordinary size stands: the integer that was meant may be its value.
std::string right_in_place_of(std::uint64_t scalar) {
  std::string right = "integers in the low bits of the double";
  const auto value = std::bit_cast<double>(scalar);
  if (!(value >= 1 && value < 0x1p32) || value != std::floor(value)) return right;
  const auto integer = static_cast<std::uint64_t>(value);
  right.append(": ").append(print_bits(integer)).append(", if ").append(std::to_string(integer));
  return right.append(" is the packed integer, stored as a number");
}

/// Of a word that leaves a field of the layout 0: whether it is whole in the one that yishape-math's comments name.
std::string as_fields_of_16_bits(std::uint64_t scalar) {
  const std::uint64_t kernel_h = scalar >> 32 & 0xFFFF;
  const std::uint64_t kernel_w = scalar >> 16 & 0xFFFF;
  const std::uint64_t stride = scalar & 0xFFFF;
  if (kernel_h == 0 || kernel_w == 0 || stride == 0 || scalar >> 48 != 0) return {};
  std::string text = "; in fields of 16 bits, another layout, it is kernel ";
  text.append(std::to_string(kernel_h)).append("x").append(std::to_string(kernel_w));
  return text.append(", stride ").append(std::to_string(stride));
}

class Auditor {
 public:
  explicit Auditor(const Graph& graph) : graph_(graph) {}

  std::vector<GraphWarning> run() && {
    for (at_ = 0; at_ < graph_.nodes.size(); ++at_) audit_node(graph_.nodes[at_]);
    return std::move(warnings_);
  }

 private:
  void warn(Kind kind, std::string_view member, std::string what, std::string right) {
    std::string where = "/nodes/";
    where.append(std::to_string(at_)).append("/").append(member);
    warnings_.push_back({&kKinds[static_cast<std::size_t>(kind)], std::move(what), std::move(where), std::move(right)});
  }
  [[nodiscard]] const GraphNode& input(const GraphNode& node, std::size_t k) const {
    return graph_.nodes[node.inputs[k]];
  }

  void audit_node(const GraphNode& node) {
    audit_finite(node);
    if (node.is_leaf()) return;
    if (node.op == "conv2d" || node.op == "maxpool2d" || node.op == "avgpool2d") audit_window(node);
    if (node.op == "linear") audit_linear(node);
    if (node.op == "softmaxCrossEntropy" && node.inputs.size() < 2)
      warn(Kind::labels_missing, "inputs", "the logits only", "the labels as second input");
    for (const std::string_view op : {"pow", "addScalar", "mulScalar", "leakyRelu", "dropout"})
      if (node.op == op && !node.scalar)
        warn(Kind::missing_scalar, "scalar", "absent", "the number that " + node.op + " works with");
  }

  void audit_finite(const GraphNode& node) {
    if (node.scalar && !is_finite_double(*node.scalar))
      warn(Kind::non_finite, "scalar_bits", is_nan_double(*node.scalar) ? "NaN" : "Infinity",
           "a finite number, or a reader of bits members");
    if (node.param2 && !is_finite_double(*node.param2))
      warn(Kind::non_finite, "param2_bits", is_nan_double(*node.param2) ? "NaN" : "Infinity",
           "a finite number, or a reader of bits members");
    if (!node.data) return;
    const auto is_bad = [](std::uint64_t bits) { return !is_finite_double(bits); };
    const auto count = std::count_if(node.data->begin(), node.data->end(), is_bad);
    if (count == 0) return;
    const auto first = std::find_if(node.data->begin(), node.data->end(), is_bad) - node.data->begin();
    warn(Kind::non_finite, "data_bits",
         std::to_string(count) + " of " + std::to_string(node.data->size()) + " numbers, the first at element " +
             std::to_string(first),
         "finite weights");
  }

  void audit_linear(const GraphNode& node) {
    const ShortList& x = input(node, 0).shape;
    const ShortList& weight = input(node, 1).shape;
    if (x.empty() || weight.size() != 2 || weight[1] == x.back()) return;
    if (weight[0] == x.back())
      warn(Kind::linear_transposed, "inputs/1", "a weight of " + listed(weight) + " for an input of " + listed(x),
           "[out, in]: " + listed({weight[1], weight[0]}));
    else
      warn(Kind::weight_does_not_fit, "inputs/1", "a weight of " + listed(weight) + " for an input of " + listed(x),
           "a second dimension of " + std::to_string(x.back()));
  }

  void audit_window(const GraphNode& node) {
    const bool has_channels = node.op == "conv2d";
    if (!node.scalar)
      return warn(Kind::missing_scalar, "scalar", "absent",
                  "kernel and stride, packed; exporters leave a NaN out, which a negative field makes");
    if (!node.param2) warn(Kind::missing_scalar, "param2", "absent", "the padding, packed");
    const std::uint64_t scalar = *node.scalar;
    const std::uint64_t param2 = node.param2.value_or(0);
    if (scalar >> 52 != 0)
      return warn(Kind::not_packed, "scalar", "a number of ordinary size", right_in_place_of(scalar));
    if (scalar >> 32 != 0 && (scalar >> 8 & 0xFFFFFF) == 0)
      return warn(Kind::generation_1, "scalar",
                  "stride " + std::to_string(scalar >> 32) + " in bits 32 and up, and no kernel",
                  "kernel_h<<16 | kernel_w<<8 | stride");
    const Parameters p{scalar >> 16 & 0xFFFF, scalar >> 8 & 0xFF,    scalar & 0xFF,
                       (scalar >> 40) + 1,    param2 >> 16 & 0xFFFF, param2 & 0xFFFF};
    bool runs = true;
    const auto nonzero = [&](std::uint64_t value, std::string_view member, std::string name) {
      if (value != 0) return;
      runs = false;
      std::string right = "1 or more, since readers divide by it";
      if (member == "scalar") right.append(as_fields_of_16_bits(scalar));
      warn(Kind::zero_field, member, name.append(" is 0"), std::move(right));
    };
    nonzero(p.kernel_h, "scalar", "kernel_h");
    nonzero(p.kernel_w, "scalar", "kernel_w");
    nonzero(p.stride, "scalar", "stride");
    if (has_channels && node.param2) nonzero(p.out_channels, "param2", "out_channels");
    if (!runs) return;
    warn(Kind::numeric_cast, "scalar",
         "kernel " + std::to_string(p.kernel_h) + "x" + std::to_string(p.kernel_w) + ", stride " +
             std::to_string(p.stride) + " in the bits of a subnormal",
         "a reader that takes the bits: a cast of the value is 0, and divides by it");
    if (p.kernel_h > 255 || p.dilation > 1)
      warn(Kind::generation_3, "scalar",
           "kernel_h " + std::to_string(p.kernel_h) + ", dilation " + std::to_string(p.dilation),
           "a reader of generation 3");
    audit_window_shape(node, p, has_channels);
  }

  /// Shapes are [N,C,H,W]; an output may also be [N,C_in,H,W,outH,outW].
  void audit_window_shape(const GraphNode& node, const Parameters& p, bool has_channels) {
    const ShortList& x = input(node, 0).shape;
    if (x.size() != 4) return;
    if (has_channels) audit_weight(node, p, x[1]);
    const Window rows{x[2], static_cast<std::int64_t>(p.kernel_h), static_cast<std::int64_t>(p.stride),
                      static_cast<std::int64_t>(p.padding), static_cast<std::int64_t>(p.dilation)};
    Window columns = rows;
    columns.size = x[3];
    columns.kernel = static_cast<std::int64_t>(p.kernel_w);
    const Result<std::int64_t> height = window_count(rows, {}, node.op + " height");
    const Result<std::int64_t> width = window_count(columns, {}, node.op + " width");
    if (!height || !width)
      return warn(Kind::shape_mismatch, "scalar", (height ? width : height).error().what,
                  "a kernel that fits into the padded input " + listed(x));
    const std::uint32_t channels = has_channels ? static_cast<std::uint32_t>(p.out_channels) : x[1];
    const ShortList out{x[0], channels, static_cast<std::uint32_t>(*height), static_cast<std::uint32_t>(*width)};
    const ShortList six{x[0], x[1], x[2], x[3], out[2], out[3]};
    if (node.shape == six) return;
    if (node.shape != out)
      return warn(node.shape == x ? Kind::input_shape_exported : Kind::shape_mismatch, "shape", listed(node.shape),
                  listed(out) + " or " + listed(six));
    audit_input_size(rows, *height, "height");
    audit_input_size(columns, *width, "width");
  }

  void audit_input_size(const Window& window, std::int64_t windows, std::string_view axis) {
    const Result<InputSizes> sizes = input_sizes(windows, window, axis);
    if (!sizes || sizes->formula == window.size) return;
    std::string what(axis);
    what.append(" ").append(std::to_string(window.size)).append(" is derived as ");
    warn(Kind::input_size_lost, "shape", what.append(std::to_string(sizes->formula)),
         "a shape of six dimensions, with the input's");
  }

  void audit_weight(const GraphNode& node, const Parameters& p, std::uint64_t in_channels) {
    const std::optional<std::uint64_t> elements = element_count(input(node, 1).shape);
    const std::uint64_t right = p.out_channels * in_channels * p.kernel_h * p.kernel_w;
    if (p.out_channels == 0 || !elements || *elements == right) return;
    warn(Kind::weight_does_not_fit, "inputs/1", std::to_string(*elements) + " weights",
         std::to_string(right) + ": out_channels x in_channels x kernel_h x kernel_w");
  }

  const Graph& graph_;
  std::size_t at_ = 0;
  std::vector<GraphWarning> warnings_;
};

}  // namespace

std::span<const GraphWarningKind> graph_warning_kinds() { return kKinds; }

std::vector<GraphWarning> audit_graph(std::string_view text) {
  constexpr GraphDialect kAnyDialect{"any", true, false, false, false};
  const GraphResult<Graph> graph = import_json(text, kAnyDialect);
  if (graph) return Auditor(*graph).run();
  std::vector<GraphWarning> warnings;
  for (const Error& error : graph.error().kept())
    warnings.push_back({&kKinds[static_cast<std::size_t>(Kind::unsound)], error.what, error.where, error.right});
  return warnings;
}

}  // namespace packcheck
