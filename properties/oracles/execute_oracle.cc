#include "properties/oracles/execute_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/oracles/default_environment.h"
#include "properties/oracles/shape_oracle.h"

namespace packcheck::oracle {
namespace {

using Real = long double;
using Int = std::int64_t;

Real unit_of(const ExecutedNode& node) { return node.single ? 0x1p-24L : 0x1p-53L; }
Real tiny_of(const ExecutedNode& node) {
  return node.single ? Real{std::numeric_limits<float>::min()} : Real{std::numeric_limits<double>::min()};
}

/// A sum under way, of numbers or of products.
struct Sum {
  Real value = 0;
  Real magnitude = 0;
  Real terms = 0;
  Real rounded = 0;  ///< roundings of each term

  void add(Real term) {
    value += term;
    magnitude += std::fabs(term);
    terms += 1;
  }
  void add_product(Real a, Real b) {
    add(a * b);
    rounded = 1;
  }
  /// Divided by `divisor` after `roundings` more; see the header for the bound.
  [[nodiscard]] Bounded done(const ExecutedNode& node, Real roundings = 0, Real divisor = 1) const {
    const Real n = (terms > 0 ? terms - 1 : terms) + rounded + roundings;
    const Real u = unit_of(node) + 0x1p-62L;  // the second part is this sum's own
    const Real lost = n > 0 ? (n + terms) * tiny_of(node) : n;
    return {value / divisor, (n * u / (1 - n * u) * magnitude + lost) / divisor, false};
  }
};

/// Index of [a, b, c, d] in an array of `shape`.
std::size_t at4(const Shape& shape, Int a, Int b, Int c, Int d) {
  return static_cast<std::size_t>(((a * shape[1] + b) * shape[2] + c) * shape[3] + d);
}
std::size_t count_of(const Shape& shape) {
  std::size_t count = 1;
  for (const Int size : shape) count *= static_cast<std::size_t>(size);
  return count;
}
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  for (Int a = 0; a < shape[0]; ++a)
    for (Int b = 0; b < shape[1]; ++b)
      for (Int c = 0; c < shape[2]; ++c)
        for (Int d = 0; d < shape[3]; ++d) visit(a, b, c, d);
}

/// Which kernel row (or column) lays output o on cell c: k with o·stride + k·dilation − padding = c, or none.
std::optional<Int> kernel_at(Int cell, Int output, Int stride, Int padding, Int dilation, Int kernel) {
  for (Int k = 0; k < kernel; ++k)
    if (output * stride + k * dilation == cell + padding) return k;
  return std::nullopt;
}

// ---- convolution ----

BoundedArray conv2d(const ExecutedNode& n, const Shape& y) {
  const Shape& x = n.shapes[0];
  const Shape& w = n.shapes[1];
  const Int per_group = w[0] / n.attributes[6];
  BoundedArray out;
  for_each_index(y, [&](Int image, Int o, Int oh, Int ow) {
    Sum sum;
    for (Int c = 0; c < w[1]; ++c)
      for (Int h = 0; h < x[2]; ++h)
        for (Int v = 0; v < x[3]; ++v) {
          const auto kh = kernel_at(h, oh, n.attributes[0], n.attributes[2], n.attributes[4], w[2]);
          const auto kw = kernel_at(v, ow, n.attributes[1], n.attributes[3], n.attributes[5], w[3]);
          if (kh && kw)
            sum.add_product(n.inputs[0][at4(x, image, o / per_group * w[1] + c, h, v)],
                            n.inputs[1][at4(w, o, c, *kh, *kw)]);
        }
    if (n.inputs.size() == 3) sum.add(n.inputs[2][static_cast<std::size_t>(o)]);
    out.push_back(sum.done(n));
  });
  return out;
}

std::vector<BoundedArray> conv2d_gradients(const ExecutedNode& n, const Shape& y, const std::vector<double>& g) {
  const Shape& x = n.shapes[0];
  const Shape& w = n.shapes[1];
  const Int per_group = w[0] / n.attributes[6];
  std::vector<std::vector<Sum>> sums;
  for (const Shape& shape : n.shapes) sums.emplace_back(count_of(shape));
  // Every pair of a cell and an output that some weight connects.
  for_each_index(x, [&](Int image, Int channel, Int h, Int v) {
    const Int group = channel / w[1];
    for (Int o = group * per_group; o < (group + 1) * per_group; ++o)
      for (Int oh = 0; oh < y[2]; ++oh)
        for (Int ow = 0; ow < y[3]; ++ow) {
          const auto kh = kernel_at(h, oh, n.attributes[0], n.attributes[2], n.attributes[4], w[2]);
          const auto kw = kernel_at(v, ow, n.attributes[1], n.attributes[3], n.attributes[5], w[3]);
          if (!kh || !kw) continue;
          const Real up = g[at4(y, image, o, oh, ow)];
          const std::size_t cell = at4(x, image, channel, h, v);
          const std::size_t weight = at4(w, o, channel % w[1], *kh, *kw);
          sums[0][cell].add_product(up, n.inputs[1][weight]);
          sums[1][weight].add_product(up, n.inputs[0][cell]);
        }
  });
  if (n.inputs.size() == 3)
    for_each_index(y, [&](Int image, Int o, Int oh, Int ow) {
      sums[2][static_cast<std::size_t>(o)].add(g[at4(y, image, o, oh, ow)]);
    });
  std::vector<BoundedArray> all;
  for (const std::vector<Sum>& one : sums) {
    all.emplace_back();
    for (const Sum& sum : one) all.back().push_back(sum.done(n));
  }
  return all;
}

// ---- pooling ----

/// The cells of the input under one window, in the order of their indices.
std::vector<std::size_t> cells_under(const ExecutedNode& n, Int image, Int channel, Int oh, Int ow) {
  const Shape& x = n.shapes[0];
  const std::vector<Int>& a = n.attributes;
  std::vector<std::size_t> cells;
  for (Int h = 0; h < x[2]; ++h)
    for (Int v = 0; v < x[3]; ++v)
      if (kernel_at(h, oh, a[2], a[4], 1, a[0]) && kernel_at(v, ow, a[3], a[5], 1, a[1]))
        cells.push_back(at4(x, image, channel, h, v));
  return cells;
}

/// Of equal ones the first. NaNs are left out, and −infinity, which is what a window of nothing gives.
std::optional<std::size_t> first_largest(const ExecutedNode& n, std::vector<std::size_t> cells) {
  const std::vector<double>& x = n.inputs[0];
  cells.erase(
      std::remove_if(cells.begin(), cells.end(), [&](std::size_t i) { return std::isnan(x[i]) || x[i] == -HUGE_VAL; }),
      cells.end());
  if (cells.empty()) return std::nullopt;
  return *std::max_element(cells.begin(), cells.end(), [&](std::size_t i, std::size_t j) { return x[i] < x[j]; });
}

BoundedArray pool2d(const ExecutedNode& n, const Shape& y) {
  BoundedArray out;
  for_each_index(y, [&](Int image, Int channel, Int oh, Int ow) {
    const std::vector<std::size_t> cells = cells_under(n, image, channel, oh, ow);
    if (n.op == "avgpool2d") {
      Sum sum;
      for (const std::size_t cell : cells) sum.add(n.inputs[0][cell]);
      out.push_back(sum.done(n, 2, cells.empty() ? 1 : static_cast<Real>(cells.size())));
      return;
    }
    const std::optional<std::size_t> best = first_largest(n, cells);
    const Real value = best ? Real{n.inputs[0][*best]} : -std::numeric_limits<Real>::infinity();
    const bool nan = std::any_of(cells.begin(), cells.end(), [&](std::size_t i) { return std::isnan(n.inputs[0][i]); });
    out.push_back({value, 0, nan});
  });
  return out;
}

std::vector<BoundedArray> pool2d_gradients(const ExecutedNode& n, const Shape& y, const std::vector<double>& g) {
  std::vector<Sum> sums(n.inputs[0].size());
  for_each_index(y, [&](Int image, Int channel, Int oh, Int ow) {
    const std::vector<std::size_t> cells = cells_under(n, image, channel, oh, ow);
    const Real up = g[at4(y, image, channel, oh, ow)];
    if (n.op == "avgpool2d") {
      for (const std::size_t cell : cells) sums[cell].add(up / static_cast<Real>(cells.size()));
    } else if (const auto best = first_largest(n, cells)) {
      sums[*best].add(up);
    }
  });
  BoundedArray of_input;
  for (const Sum& sum : sums) of_input.push_back(sum.done(n, n.op == "avgpool2d" ? 2 : 0));
  return {of_input};
}

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

// ---- softmax cross entropy ----

/// A row of logits as probabilities, and how far each may be off, relative to it. An exponential is off by u · |d|
/// for the rounding of its argument d, and by one unit in the last place of its own, 2u; the sum of C of them adds
/// (C − 1) · u, the division u. The label's own exponential is in the sum, too, and counts less the larger its share.
struct Row {
  std::vector<Real> share;
  std::vector<Real> relative;
};
Row softmax_of(const ExecutedNode& n, std::size_t row) {
  const auto classes = static_cast<std::size_t>(n.shapes[0][1]);
  const double* const z = n.inputs[0].data() + row * classes;
  const Real largest = *std::max_element(z, z + classes);
  const Real u = unit_of(n) + 0x1p-60L;
  Row out;
  std::vector<Real> exponential;
  Real sum = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    out.share.push_back(std::exp(z[c] - largest));
    exponential.push_back((largest - z[c] + 2) * u);
    sum += out.share.back();
  }
  Real mean = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    out.share[c] /= sum;
    mean += out.share[c] * exponential[c];
  }
  for (std::size_t c = 0; c < classes; ++c) {
    const Real others = mean - out.share[c] * exponential[c];
    const Real first_order = (1 - out.share[c]) * exponential[c] + others + static_cast<Real>(classes) * u;
    out.relative.push_back(first_order * (1 + 4 * (exponential[c] + mean)));
  }
  return out;
}

std::optional<std::vector<std::size_t>> labels_of(const ExecutedNode& n) {
  std::vector<std::size_t> labels;
  for (const double label : n.inputs[1]) {
    std::size_t index = 0;
    while (static_cast<Int>(index) < n.shapes[0][1] && static_cast<double>(index) != label) ++index;
    if (static_cast<Int>(index) == n.shapes[0][1]) return std::nullopt;
    labels.push_back(index);
  }
  return labels;
}

/// −log(max(p, 1e-30)) of a label. A logarithm is off by 2u of its value; the constant is rounded, too.
Bounded loss_of(const ExecutedNode& n, const Row& row, std::size_t label) {
  constexpr Real kLeast = 1e-30L;
  const Real u = unit_of(n) + 0x1p-60L;
  const Real share = row.share[label];
  const Real value = -std::log(std::max(share, kLeast));
  const bool clamped = share * (1 + row.relative[label]) < kLeast;
  const bool near = share * (1 - row.relative[label]) < kLeast * (1 + u);
  const Real first_order = (clamped ? u : row.relative[label] + (near ? u : 0)) + 2 * u * value;
  return {value, first_order * (1 + 4 * (row.relative[label] + u)), false};
}

BoundedArray cross_entropy(const ExecutedNode& n, const std::vector<std::size_t>& labels) {
  Sum sum;
  Real bound = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const Bounded loss = loss_of(n, softmax_of(n, row), labels[row]);
    sum.add(loss.value);
    bound += loss.bound;
  }
  const auto samples = static_cast<Real>(labels.size());
  Bounded mean = sum.done(n, 2, samples);
  mean.bound += bound * (1 + (samples + 4) * unit_of(n)) / samples;
  return {mean};
}

/// (share − one-hot) · upstream ÷ samples: a difference, a product and a division, or a product with a reciprocal.
BoundedArray cross_entropy_gradient(const ExecutedNode& n, const std::vector<std::size_t>& labels, Real up) {
  BoundedArray of_logits;
  const Real u = unit_of(n) + 0x1p-60L;
  const Real scale = up / static_cast<Real>(labels.size());
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const Row shares = softmax_of(n, row);
    for (std::size_t c = 0; c < shares.share.size(); ++c) {
      const Real own = c == labels[row] ? shares.share[c] - 1 : shares.share[c];
      const Real off = shares.share[c] * shares.relative[c] + 4 * u * std::fabs(own);
      of_logits.push_back({own * scale, off * (1 + 8 * u) * std::fabs(scale) + 8 * tiny_of(n), false});
    }
  }
  return of_logits;
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
