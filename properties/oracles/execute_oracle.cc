#include "properties/oracles/execute_oracle.h"

#include "properties/oracles/default_environment.h"
#include "properties/oracles/execute_sums.h"

namespace packcheck::oracle {
namespace {

// ---- linear ----

BoundedArray linear(const ExecutedNode& n) {
  const auto out = static_cast<std::size_t>(n.shapes[1][0]);
  const auto in = static_cast<std::size_t>(n.shapes[1][1]);
  BoundedArray y;
  for (std::size_t at = 0; at < n.inputs[0].size() / in * out; ++at) {
    Sum sum;
    for (std::size_t i = in; i-- > 0;) sum.add_product(n.inputs[0][at / out * in + i], n.inputs[1][at % out * in + i]);
    if (n.inputs.size() == 3) sum.add(n.inputs[2][at % out]);
    y.push_back(sum.done(n));
  }
  return y;
}

std::vector<BoundedArray> linear_gradients(const ExecutedNode& n, const std::vector<double>& g) {
  const auto out = static_cast<std::size_t>(n.shapes[1][0]);
  const auto in = static_cast<std::size_t>(n.shapes[1][1]);
  const std::size_t rows = n.inputs[0].size() / in;
  std::vector<BoundedArray> all(n.inputs.size());
  for (std::size_t at = 0; at < rows * in; ++at) {
    Sum sum;
    for (std::size_t o = 0; o < out; ++o) sum.add_product(g[at / in * out + o], n.inputs[1][o * in + at % in]);
    all[0].push_back(sum.done(n));
  }
  for (std::size_t at = 0; at < out * in; ++at) {
    Sum sum;
    for (std::size_t r = 0; r < rows; ++r) sum.add_product(g[r * out + at / in], n.inputs[0][r * in + at % in]);
    all[1].push_back(sum.done(n));
  }
  for (std::size_t o = 0; o < out && all.size() == 3; ++o) {
    Sum sum;
    for (std::size_t r = 0; r < rows; ++r) sum.add(g[r * out + o]);
    all[2].push_back(sum.done(n));
  }
  return all;
}

// ---- relu, flatten, add ----

/// The element of an operand that output element `at` takes, by the digits of `at` from the last axis.
std::size_t operand_element(const Shape& output, Shape operand, std::size_t at) {
  while (operand.size() < output.size()) operand.insert(operand.begin(), 1);
  std::vector<Int> digits(output.size());
  auto rest = static_cast<Int>(at);
  for (std::size_t i = output.size(); i-- > 0; rest /= output[i]) digits[i] = rest % output[i];
  Int element = 0;
  for (std::size_t i = 0; i < output.size(); ++i) element = element * operand[i] + (operand[i] == 1 ? 0 : digits[i]);
  return static_cast<std::size_t>(element);
}

BoundedArray add(const ExecutedNode& n, const Shape& y) {
  BoundedArray out;
  for (std::size_t at = 0; at < count_of(y); ++at) {
    Sum sum;
    for (std::size_t i = 0; i < 2; ++i) sum.add(n.inputs[i][operand_element(y, n.shapes[i], at)]);
    out.push_back(sum.done(n));
  }
  return out;
}

std::vector<BoundedArray> add_gradients(const ExecutedNode& n, const Shape& y, const std::vector<double>& g) {
  std::vector<BoundedArray> all;
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<Sum> sums(n.inputs[i].size());
    for (std::size_t at = 0; at < g.size(); ++at) sums[operand_element(y, n.shapes[i], at)].add(g[at]);
    all.emplace_back();
    for (const Sum& sum : sums) all.back().push_back(sum.done(n));
  }
  return all;
}

std::string shape_rule(const std::string& op) {
  if (op == "conv2d" || op == "maxpool2d" || op == "avgpool2d") return op + ":floor";
  if (op == "relu") return "elementwise";
  return op == "add" ? "broadcast" : op;
}

BoundedArray exactly(const std::vector<double>& numbers) {
  BoundedArray out;
  for (const double number : numbers) out.push_back({number, 0, std::isnan(number)});
  return out;
}

[[gnu::noinline]] std::optional<BoundedArray> compute_output(const ExecutedNode& n, const Shape& y) {
  if (n.op == "conv2d") return conv2d(n, y);
  if (n.op == "maxpool2d" || n.op == "avgpool2d") return pool2d(n, y);
  if (n.op == "linear") return linear(n);
  if (n.op == "add") return add(n, y);
  if (n.op == "flatten") return exactly(n.inputs[0]);
  if (n.op == "softmax_cross_entropy") {
    const auto labels = labels_of(n);
    return labels ? std::optional(cross_entropy(n, *labels)) : std::nullopt;
  }
  BoundedArray relu = exactly(n.inputs[0]);
  for (Bounded& number : relu)
    if (!(number.value > 0)) number.value = 0;
  return relu;
}

[[gnu::noinline]] std::optional<std::vector<BoundedArray>> compute_gradients(const ExecutedNode& n, const Shape& y,
                                                                             const std::vector<double>& g) {
  if (n.op == "conv2d") return conv2d_gradients(n, y, g);
  if (n.op == "maxpool2d" || n.op == "avgpool2d") return pool2d_gradients(n, y, g);
  if (n.op == "linear") return linear_gradients(n, g);
  if (n.op == "add") return add_gradients(n, y, g);
  if (n.op == "flatten") return std::vector<BoundedArray>{exactly(g)};
  if (n.op == "softmax_cross_entropy") {
    const auto labels = labels_of(n);
    return labels ? std::optional(std::vector<BoundedArray>{cross_entropy_gradient(n, *labels, g[0])}) : std::nullopt;
  }
  BoundedArray relu = exactly(g);
  for (std::size_t i = 0; i < relu.size(); ++i)
    if (!(n.inputs[0][i] > 0)) relu[i].value = 0;
  return std::vector<BoundedArray>{relu};
}

}  // namespace

std::optional<Shape> output_shape_of(const ExecutedNode& node) {
  const std::size_t most = node.op == "conv2d" || node.op == "linear"               ? 3
                           : node.op == "add" || node.op == "softmax_cross_entropy" ? 2
                                                                                    : 1;
  if (node.shapes.size() != node.inputs.size() || node.inputs.size() > most) return std::nullopt;
  if (node.op == "add" && node.inputs.size() != 2) return std::nullopt;
  std::optional<Shape> shape = inferred_shape(shape_rule(node.op), node.attributes, node.shapes);
  for (std::size_t i = 0; shape && i < node.inputs.size(); ++i)
    if (node.inputs[i].size() != count_of(node.shapes[i])) return std::nullopt;
  return shape;
}

std::optional<BoundedArray> output_of(const ExecutedNode& node) {
  const std::optional<Shape> shape = output_shape_of(node);
  if (!shape) return std::nullopt;
  const DefaultEnvironment environment;
  return compute_output(node, *shape);
}

std::optional<std::vector<BoundedArray>> gradients_of(const ExecutedNode& node, const std::vector<double>& upstream) {
  const std::optional<Shape> shape = output_shape_of(node);
  if (!shape || upstream.size() != count_of(*shape)) return std::nullopt;
  const DefaultEnvironment environment;
  return compute_gradients(node, *shape, upstream);
}

}  // namespace packcheck::oracle
