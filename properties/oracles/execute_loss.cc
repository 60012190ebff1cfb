// Softmax cross entropy, with the bound of its exponentials and its logarithm.
#include <algorithm>

#include "properties/oracles/execute_sums.h"

namespace packcheck::oracle {
namespace {

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

}  // namespace

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

}  // namespace packcheck::oracle
