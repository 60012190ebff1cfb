// properties/oracles/execute_oracle.h: outputs and gradients of operators, a second time, with error bounds.
//
// Oracle for core/graph/exec*. Each element is one sum straight from the definition: an output gathers over the
// cells of its window, an input's gradient over the outputs that the cell took part in; nothing is unfolded into
// columns or folded back. Sums are long double, so that their own error is small beside the bound. Shares no code
// with the core. Proved by tests/core/exec_test.cc.
//
// The bound of a sum of n numbers, in any order, is γ(n − 1) · Σ|term| with γ(k) = k·u / (1 − k·u) and u the unit
// roundoff of the element type (Higham, Accuracy and Stability of Numerical Algorithms, 3.1); of n products, each
// rounded or fused, γ(n) · Σ|term|; a division, or a product with a reciprocal, adds two roundings. A result that is
// subnormal may lose all of the smallest normal number, since some machines flush it. An exponential and a logarithm
// may be off by one unit in the last place. tests/core/exec_bounds_test.cc comes within 5 % of each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace packcheck::oracle {

/// One node: see the table in core/graph/exec.h.
struct ExecutedNode {
  std::string op;       ///< "conv2d"
  bool single = false;  ///< f32, else f64
  std::vector<std::int64_t> attributes;
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<std::vector<double>> inputs;
};

/// A number and how far from it an implementation may be.
struct Bounded {
  long double value = 0;
  long double bound = 0;
  bool or_nan = false;  ///< a window with a NaN: systems that propagate it are right, too
};
using BoundedArray = std::vector<Bounded>;

/// The output; nothing where the node is to be refused.
[[nodiscard]] std::optional<BoundedArray> output_of(const ExecutedNode& node);
/// The gradients of the inputs that have one, in their order; nothing where the node is to be refused.
[[nodiscard]] std::optional<std::vector<BoundedArray>> gradients_of(const ExecutedNode& node,
                                                                    const std::vector<double>& upstream);
/// The shape of the output; nothing where the node is to be refused.
[[nodiscard]] std::optional<std::vector<std::int64_t>> output_shape_of(const ExecutedNode& node);

}  // namespace packcheck::oracle
