// properties/oracles/execute_sums.h: sums with their bounds, and the operators by family. For the execute_*.cc files
// alone; what the bounds are is in execute_oracle.h. Proved by tests/core/exec_test.cc and exec_bounds_test.cc.
#pragma once

#include <cmath>
#include <limits>

#include "properties/oracles/execute_oracle.h"
#include "properties/oracles/shape_oracle.h"

namespace packcheck::oracle {

using Real = long double;
using Int = std::int64_t;

inline Real unit_of(const ExecutedNode& node) { return node.single ? 0x1p-24L : 0x1p-53L; }
inline Real tiny_of(const ExecutedNode& node) {
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

inline std::size_t count_of(const Shape& shape) {
  std::size_t count = 1;
  for (const Int size : shape) count *= static_cast<std::size_t>(size);
  return count;
}
// Convolution and pooling (execute_windows.cc).
[[nodiscard]] BoundedArray conv2d(const ExecutedNode& n, const Shape& y);
[[nodiscard]] std::vector<BoundedArray> conv2d_gradients(const ExecutedNode& n, const Shape& y,
                                                         const std::vector<double>& g);
[[nodiscard]] BoundedArray pool2d(const ExecutedNode& n, const Shape& y);
[[nodiscard]] std::vector<BoundedArray> pool2d_gradients(const ExecutedNode& n, const Shape& y,
                                                         const std::vector<double>& g);

// Softmax cross entropy (execute_loss.cc).
/// The labels as indices; nothing where one is no class.
[[nodiscard]] std::optional<std::vector<std::size_t>> labels_of(const ExecutedNode& n);
[[nodiscard]] BoundedArray cross_entropy(const ExecutedNode& n, const std::vector<std::size_t>& labels);
[[nodiscard]] BoundedArray cross_entropy_gradient(const ExecutedNode& n, const std::vector<std::size_t>& labels,
                                                  long double up);

}  // namespace packcheck::oracle
