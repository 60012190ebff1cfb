#include "core/precision/run.h"

#include <bit>
#include <cmath>

#include "core/environment.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

using Numbers = std::vector<double>;

double to_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::vector<std::uint64_t> bits_of(const Numbers& numbers) {
  std::vector<std::uint64_t> bits;
  bits.reserve(numbers.size());
  for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
  return bits;
}
Numbers numbers_of(std::span<const std::uint64_t> bits) {
  Numbers numbers;
  numbers.reserve(bits.size());
  for (const std::uint64_t one : bits) numbers.push_back(to_double(one));
  return numbers;
}

/// Rounds to a format; results stay doubles.
class Rounder {
 public:
  Rounder(Format dtype, const PrecisionRules& rules) : dtype_(dtype) {
    if (dtype == Format::bf16 && rules.bf16 == Bf16Rounding::truncated) rules_.rounding = Rounding::toward_zero;
  }

  [[nodiscard]] double cast(double value) const {
    const std::uint64_t code = convert(Format::f64, dtype_, std::bit_cast<std::uint64_t>(value), rules_);
    return to_double(convert(dtype_, Format::f64, code));
  }
  /// Of the result of an operation.
  [[nodiscard]] double round(double value) const {
    if (std::isnan(value)) return to_double(0x7FF8000000000000);
    return cast(value);
  }

 private:
  Format dtype_;
  ConvertRules rules_;
};

class Executor {
 public:
  Executor(const Graph& graph, std::span<const TypedNode> nodes, AutogradPhase phase, const PrecisionRules& rules)
      : graph_(graph),
        nodes_(nodes),
        phase_(phase),
        rules_(rules),
        values_(nodes.size()),
        gradients_(nodes.size()),
        claims_(nodes.size(), false) {}

  [[gnu::noinline]] void forward() {
    const ExactEnvironment exact;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      switch (nodes_[i].op) {
        case TypedOperator::leaf: values_[i] = numbers_of(*node.data); break;
        case TypedOperator::linear: linear(i); break;
        case TypedOperator::convert: cast(i); break;
        default: activate(i);
      }
    }
  }

  [[gnu::noinline]] void backward(std::span<const std::uint64_t> upstream) {
    const ExactEnvironment exact;
    gradients_.back() = numbers_of(upstream);
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!gradients_[i]) continue;
      switch (nodes_[i].op) {
        case TypedOperator::leaf: break;
        case TypedOperator::linear: linear_backward(i); break;
        case TypedOperator::convert: cast_backward(i); break;
        default: activate_backward(i);
      }
    }
  }

  /// Which tensors a framework would say gradients reach.
  void claim() {
    claims_.back() = true;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const bool stops = nodes_[i].op == TypedOperator::convert && phase_ == AutogradPhase::boundary_stops &&
                         rules_.claimed == ClaimedGradient::own;
      if (!claims_[i] || stops) continue;
      for (const std::uint32_t input : graph_.nodes[i].inputs) claims_[input] = true;
    }
  }

  [[nodiscard]] std::vector<NodeRun> rows() const {
    std::vector<NodeRun> rows;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      NodeRun& row = rows.emplace_back();
      row.op = graph_.nodes[i].op;
      row.values = bits_of(values_[i]);
      row.claims_gradient = claims_[i];
      if (gradients_[i]) row.gradient = bits_of(*gradients_[i]);
    }
    return rows;
  }

 private:
  [[nodiscard]] std::uint32_t input(std::size_t i, std::size_t k = 0) const { return graph_.nodes[i].inputs[k]; }
  [[nodiscard]] const Numbers& x_of(std::size_t i) const { return values_[input(i)]; }
  /// Numbers of one row of a linear node's x.
  [[nodiscard]] std::size_t inputs_of(std::size_t i) const { return graph_.nodes[input(i, 1)].shape[1]; }

  /// What operations of a node round to. A faulty framework keeps its narrow numbers as f32 until the stage ends.
  [[nodiscard]] Rounder rounding_of(std::size_t i) const {
    const bool late = rules_.rounding == StageRounding::end_of_stage;
    return {late ? Format::f32 : nodes_[i].dtype, rules_};
  }

  void linear(std::size_t i) {
    const Rounder to = rounding_of(i);
    const Numbers& x = x_of(i);
    const Numbers& weight = values_[input(i, 1)];
    const std::size_t in = inputs_of(i);
    Numbers& y = values_[i];
    for (std::size_t row = 0; row < x.size(); row += in) {
      const double* const of_row = &x[rules_.batch == BatchRows::first ? 0 : row];
      for (std::size_t o = 0; o < weight.size() / in; ++o) {
        double sum = 0;
        for (std::size_t k = 0; k < in; ++k) sum = to.round(sum + to.round(of_row[k] * weight[o * in + k]));
        if (graph_.nodes[i].inputs.size() == 3) sum = to.round(sum + values_[input(i, 2)][o]);
        y.push_back(sum);
      }
    }
  }

  void cast(std::size_t i) {
    const Rounder from(nodes_[input(i)].dtype, rules_);
    const Rounder to(nodes_[i].dtype, rules_);
    for (const double x : x_of(i)) {
      const double late = rules_.rounding == StageRounding::end_of_stage ? from.cast(x) : x;
      values_[i].push_back(rules_.boundary == BoundaryRounding::rounds ? to.cast(late) : late);
    }
  }

  void activate(std::size_t i) {
    const Rounder to = rounding_of(i);
    for (const double x : x_of(i)) {
      double y = x;
      switch (nodes_[i].op) {
        case TypedOperator::relu: y = x > 0 || std::isnan(x) ? x : 0.0; break;
        case TypedOperator::leaky_relu: y = x < 0 ? x * 0.125 : (x == 0 ? 0.0 : x); break;
        default: y = x < -1 ? -1.0 : (x > 1 ? 1.0 : x);
      }
      values_[i].push_back(to.round(y));
    }
  }

  /// Adds a contribution to the gradient of a node.
  void give(std::uint32_t node, const Numbers& contribution) {
    if (!gradients_[node]) {
      gradients_[node] = contribution;
      return;
    }
    const Rounder to(nodes_[node].dtype, rules_);
    for (std::size_t k = 0; k < contribution.size(); ++k)
      (*gradients_[node])[k] = to.round((*gradients_[node])[k] + contribution[k]);
  }

  void linear_backward(std::size_t i) {
    const Rounder to = rounding_of(i);
    const Numbers upstream = *gradients_[i];
    const Numbers& x = x_of(i);
    const Numbers& weight = values_[input(i, 1)];
    const std::size_t in = inputs_of(i);
    const std::size_t out = weight.size() / in;
    Numbers of_x(x.size(), 0.0);
    Numbers of_weight(weight.size());
    Numbers of_bias(out);
    const auto add = [&](double& sum, bool first, double one) { sum = first ? one : to.round(sum + one); };
    for (std::size_t row = 0; row < upstream.size() / out; ++row)
      for (std::size_t o = 0; o < out; ++o) {
        const double u = upstream[row * out + o];
        add(of_bias[o], row == 0, u);
        for (std::size_t k = 0; k < in; ++k) {
          double& one = of_x[row * in + k];
          one = to.round(one + to.round(u * weight[o * in + k]));
          add(of_weight[o * in + k], row == 0, to.round(u * x[row * in + k]));
        }
      }
    if (graph_.nodes[i].inputs.size() == 3) give(input(i, 2), of_bias);
    give(input(i, 1), of_weight);
    give(input(i), of_x);
  }

  void cast_backward(std::size_t i) {
    if (phase_ == AutogradPhase::boundary_stops && rules_.stopped == StoppedGradient::stops) return;
    const Rounder to(nodes_[input(i)].dtype, rules_);
    Numbers of_x = *gradients_[i];
    if (rules_.upstream == UpstreamCast::rounds)
      for (double& one : of_x) one = to.cast(one);
    give(input(i), of_x);
  }

  void activate_backward(std::size_t i) {
    const Rounder to = rounding_of(i);
    Numbers of_x = *gradients_[i];
    for (std::size_t k = 0; k < of_x.size(); ++k) {
      const double x = x_of(i)[k];
      switch (nodes_[i].op) {
        case TypedOperator::relu: of_x[k] = x > 0 ? of_x[k] : 0.0; break;
        case TypedOperator::leaky_relu: of_x[k] = x > 0 ? of_x[k] : to.round(of_x[k] * 0.125); break;
        default: of_x[k] = x > -1 && x < 1 ? of_x[k] : 0.0;
      }
    }
    give(input(i), of_x);
  }

  const Graph& graph_;
  std::span<const TypedNode> nodes_;
  AutogradPhase phase_;
  const PrecisionRules& rules_;
  std::vector<Numbers> values_;
  std::vector<std::optional<Numbers>> gradients_;
  std::vector<bool> claims_;
};

}  // namespace

std::vector<std::uint64_t> widened(Format dtype, std::span<const std::uint64_t> codes) {
  std::vector<std::uint64_t> bits;
  bits.reserve(codes.size());
  for (const std::uint64_t code : codes) bits.push_back(convert(dtype, Format::f64, code));
  return bits;
}

Result<std::vector<NodeRun>> run_typed(const Graph& graph, std::span<const std::uint64_t> upstream, AutogradPhase phase,
                                       const PrecisionRules& rules) {
  const Result<std::vector<TypedNode>> nodes = typed_nodes(graph);
  if (!nodes) return tl::unexpected(nodes.error());
  const std::uint64_t outputs = element_count(graph.nodes.back().shape).value_or(0);
  if (upstream.size() != outputs)
    return refuse(std::to_string(upstream.size()) + " upstream gradients", "the graph's output",
                  std::to_string(outputs));
  const Format dtype = nodes->back().dtype;
  for (const std::uint64_t bits : upstream)
    if (!is_nan_double(bits) && convert(dtype, Format::f64, convert(Format::f64, dtype, bits)) != bits)
      return refuse("an upstream gradient that the output's format does not hold", "the graph's output",
                    std::string("numbers of ").append(spec(dtype).name));
  Executor executor(graph, *nodes, phase, rules);
  executor.forward();
  executor.backward(upstream);
  executor.claim();
  return executor.rows();
}

}  // namespace packcheck
