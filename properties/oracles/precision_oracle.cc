#include "properties/oracles/precision_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "properties/oracles/default_environment.h"
#include "properties/oracles/precision_steps.h"

namespace packcheck::oracle {
namespace {

std::uint64_t bits_of(double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

double slope(const std::string& name, double x) {
  if (name == "hard_tanh") return std::fabs(x) < 1 ? 1 : 0;
  if (x > 0) return 1;
  return name == "relu" ? 0 : 0.125;
}

std::string operator_text(std::string op, LayerFormat format) {
  if (format == LayerFormat::f32 && op != "convert") return op;
  return op.append(":").append(layer_format_name(format));
}
std::string activation_operator(const std::string& name) {
  if (name == "leaky_relu") return "leakyRelu";
  return name == "hard_tanh" ? "hardTanh" : name;
}

/// Goes through a layout and back.
class Walk {
 public:
  Walk(std::vector<NetworkStep> steps, bool casts) : steps_(std::move(steps)), casts_(casts) {}

  std::vector<NetworkRow> run(const NetworkDescription& d) {
    rows_of_batch_ = d.rows();
    upstream_ = numbers_of(d.format, d.upstream);
    const std::vector<double> x = numbers_of(d.format, d.input);
    add_row("input", d.format, x);
    settle(0, from(0, d.format, x));
    return std::move(rows_);
  }

 private:
  using Gradient = std::optional<std::vector<double>>;

  void settle(std::size_t row, const Gradient& gradient) {
    rows_[row].has_gradient = gradient.has_value();
    if (gradient) rows_[row].gradient = *gradient;
  }
  std::size_t add_row(const std::string& op, LayerFormat format, std::vector<double> values) {
    rows_.push_back({operator_text(op, format), std::move(values), false, {}});
    return rows_.size() - 1;
  }

  /// Does the rest from `at` on with x, and gives the gradient of x.
  Gradient from(std::size_t at, LayerFormat format, const std::vector<double>& x) {
    if (at == steps_.size()) return upstream_;
    const NetworkStep& step = steps_[at];
    if (step.what == NetworkStep::What::dense) return dense(at, x);
    std::vector<double> y;
    const bool is_cast = step.what == NetworkStep::What::cast;
    for (const double one : x)
      y.push_back(is_cast ? fit(step.format, one) : activated(step.activation, step.format, one));
    const std::size_t row = add_row(is_cast ? "convert" : activation_operator(step.activation), step.format, y);
    Gradient gradient = from(at + 1, step.format, y);
    settle(row, gradient);
    if (!gradient || (is_cast && !casts_)) return std::nullopt;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double& one = (*gradient)[i];
      if (is_cast)
        one = fit(format, one);
      else if (slope(step.activation, x[i]) != 1)
        one = slope(step.activation, x[i]) == 0 ? 0 : fit(step.format, one / 8.0L);
    }
    return gradient;
  }

  Gradient dense(std::size_t at, const std::vector<double>& x) {
    const NetworkStep& step = steps_[at];
    const LayerFormat f = step.format;
    const std::size_t weight_row = add_row("weight", f, step.weights);
    const std::size_t bias_row = step.bias ? add_row("bias", f, *step.bias) : 0;
    const std::size_t in = x.size() / rows_of_batch_;
    std::vector<double> y;
    for (std::size_t at_row = 0; at_row < rows_of_batch_; ++at_row)
      for (std::size_t o = 0; o < step.size; ++o) {
        double sum = 0;
        for (std::size_t i = 0; i < in; ++i) {
          const double product = fit(f, static_cast<long double>(step.weights[o * in + i]) * x[at_row * in + i]);
          sum = fit(f, static_cast<long double>(sum) + product);
        }
        y.push_back(step.bias ? fit(f, static_cast<long double>(sum) + (*step.bias)[o]) : sum);
      }
    const std::size_t row = add_row("linear", f, y);
    const Gradient gradient = from(at + 1, f, y);
    settle(row, gradient);
    if (!gradient) return std::nullopt;
    const auto g = [&](std::size_t at_row, std::size_t o) -> long double {
      return (*gradient)[at_row * step.size + o];
    };
    std::vector<double> of_weights;
    std::vector<double> of_bias;
    for (std::size_t o = 0; o < step.size; ++o) {
      of_bias.push_back(over_rows(f, [&](std::size_t at_row) { return g(at_row, o); }));
      for (std::size_t i = 0; i < in; ++i)
        of_weights.push_back(
            over_rows(f, [&](std::size_t at_row) { return fit(f, g(at_row, o) * x[at_row * in + i]); }));
    }
    if (step.bias) settle(bias_row, of_bias);
    settle(weight_row, of_weights);
    std::vector<double> of_x;
    for (std::size_t at_row = 0; at_row < rows_of_batch_; ++at_row)
      for (std::size_t i = 0; i < in; ++i) {
        double sum = 0;
        for (std::size_t o = 0; o < step.size; ++o)
          sum = fit(f, static_cast<long double>(sum) + fit(f, g(at_row, o) * step.weights[o * in + i]));
        of_x.push_back(sum);
      }
    return of_x;
  }
  /// The sum of what each row of the batch gives, from the first on.
  template <class Contribution>
  double over_rows(LayerFormat f, Contribution contribution) const {
    auto sum = static_cast<double>(contribution(0));
    for (std::size_t at_row = 1; at_row < rows_of_batch_; ++at_row)
      sum = fit(f, static_cast<long double>(sum) + contribution(at_row));
    return sum;
  }

  std::vector<NetworkStep> steps_;
  bool casts_;
  std::size_t rows_of_batch_ = 1;
  std::vector<double> upstream_;
  std::vector<NetworkRow> rows_;
};

[[gnu::noinline]] NetworkResult run_in(const NetworkDescription& d, bool casts) {
  const DefaultEnvironment environment;
  NetworkLayout layout(d);
  NetworkResult result;
  result.boundaries = layout.boundaries;
  for (NetworkBoundary& boundary : result.boundaries) {
    boundary.inputs *= d.rows();
    boundary.outputs *= d.rows();
    boundary.bytes *= d.rows();
  }
  result.rows = Walk(std::move(layout.steps), casts).run(d);
  return result;
}

/// Every format f32; weights the same numbers.
std::vector<NetworkItem> widened_items(const std::vector<NetworkItem>& items, LayerFormat around, std::size_t& size) {
  const auto recoded = [](LayerFormat from, const std::vector<std::uint64_t>& codes) {
    TaggedCodes wide;
    for (const double number : numbers_of(from, codes)) wide.codes.push_back(f32_code(number));
    return wide;
  };
  std::vector<NetworkItem> wide;
  for (NetworkItem item : items) {
    const LayerFormat own = item.format.value_or(around);
    if (item.kind == NetworkItem::Kind::dense) {
      TaggedCodes weights;
      for (const double number : weights_of(item, own, size)) weights.codes.push_back(f32_code(number));
      item.weights = std::move(weights);
      if (item.bias) item.bias = recoded(own, item.bias->codes);
      size = item.units;
    }
    if (item.kind == NetworkItem::Kind::stage) item.inside = widened_items(item.inside, own, size);
    if (item.format) item.format = LayerFormat::f32;
    wide.push_back(std::move(item));
  }
  return wide;
}

}  // namespace

NetworkResult run_network(const NetworkDescription& description, bool casts) { return run_in(description, casts); }

Nodes network_nodes(const NetworkDescription& d) {
  Nodes nodes;
  const auto add = [&](std::string op, std::vector<std::uint32_t> shape) -> Node& {
    Node& node = nodes.emplace_back();
    node.id = static_cast<std::uint32_t>(nodes.size() - 1);
    node.op = std::move(op);
    node.shape = std::move(shape);
    return node;
  };
  const auto leaf = [&](const char* tag, LayerFormat format, std::vector<std::uint32_t> shape,
                        const std::vector<double>& numbers) {
    std::vector<std::uint64_t>& data = add(operator_text(tag, format), std::move(shape)).data.emplace();
    for (const double number : numbers) data.push_back(bits_of(number));
    return nodes.back().id;
  };
  const DefaultEnvironment environment;
  std::uint32_t size = d.inputs;
  const auto rows = static_cast<std::uint32_t>(d.rows());
  std::uint32_t last = leaf("input", d.format, {rows, size}, numbers_of(d.format, d.input));
  for (const NetworkStep& step : NetworkLayout(d).steps) {
    std::vector<std::uint32_t> inputs{last};
    std::string op = step.what == NetworkStep::What::cast ? "convert" : activation_operator(step.activation);
    const auto next = static_cast<std::uint32_t>(step.size);
    if (step.what == NetworkStep::What::dense) {
      op = "linear";
      inputs.push_back(leaf("weight", step.format, {next, size}, step.weights));
      if (step.bias) inputs.push_back(leaf("bias", step.format, {next}, *step.bias));
    }
    size = next;
    Node& node = add(operator_text(op, step.format), {rows, size});
    node.inputs = std::move(inputs);
    last = node.id;
  }
  return nodes;
}

NetworkDescription widened(const NetworkDescription& d) {
  const DefaultEnvironment environment;
  NetworkDescription wide = d;
  wide.format = LayerFormat::f32;
  std::size_t size = d.inputs;
  wide.items = widened_items(d.items, d.format, size);
  for (std::uint64_t& code : wide.input) code = f32_code(number_of_code(d.format, code));
  for (std::uint64_t& code : wide.upstream) code = f32_code(number_of_code(d.format, code));
  return wide;
}

NetworkDescription inside_equal_stage(const NetworkDescription& d) {
  NetworkDescription wrapped = d;
  NetworkItem stage;
  stage.kind = NetworkItem::Kind::stage;
  stage.name = "all";
  stage.format = d.format;
  stage.inside = d.items;
  wrapped.items = {std::move(stage)};
  return wrapped;
}

}  // namespace packcheck::oracle
