// Convolution and pooling: each output and gradient as one sum over its window.
#include <algorithm>

#include "properties/oracles/execute_sums.h"

namespace packcheck::oracle {
namespace {

/// Index of [a, b, c, d] in an array of `shape`.
std::size_t at4(const Shape& shape, Int a, Int b, Int c, Int d) {
  return static_cast<std::size_t>(((a * shape[1] + b) * shape[2] + c) * shape[3] + d);
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

}  // namespace

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

}  // namespace packcheck::oracle
