// core/graph/exec_functions.h: the two functions of each row in exec.cc. For the .cc files of the executor
// alone. Shapes and counts are checked before they are called; gradients come zeroed, shaped as the inputs.
#pragma once

#include "core/graph/exec.h"

namespace packcheck {

template <class T>
struct ExecCall {
  std::span<const std::int64_t> attributes;
  std::span<const Tensor<T>> inputs;
  const Dimensions& output_shape;
  const ExecRules& rules;
};
template <class T>
using Forward = Result<void> (*)(const ExecCall<T>&, std::span<T> output);
template <class T>
using Backward = Result<void> (*)(const ExecCall<T>&, std::span<const T> upstream, std::span<Tensor<T>> gradients);

#define PACKCHECK_EXEC_FUNCTIONS(name)                           \
  template <class T>                                             \
  Result<void> name##_forward(const ExecCall<T>&, std::span<T>); \
  template <class T>                                             \
  Result<void> name##_backward(const ExecCall<T>&, std::span<const T>, std::span<Tensor<T>>)

PACKCHECK_EXEC_FUNCTIONS(conv2d);         // exec_conv2d.cc
PACKCHECK_EXEC_FUNCTIONS(maxpool2d);      // exec_pool2d.cc
PACKCHECK_EXEC_FUNCTIONS(avgpool2d);      // exec_pool2d.cc
PACKCHECK_EXEC_FUNCTIONS(linear);         // exec_dense.cc
PACKCHECK_EXEC_FUNCTIONS(relu);           // exec_dense.cc
PACKCHECK_EXEC_FUNCTIONS(flatten);        // exec_dense.cc
PACKCHECK_EXEC_FUNCTIONS(add);            // exec_dense.cc
PACKCHECK_EXEC_FUNCTIONS(cross_entropy);  // exec_dense.cc
#undef PACKCHECK_EXEC_FUNCTIONS

/// In the .cc file of the functions: both element types.
#define PACKCHECK_EXEC_INSTANCES(name)                                                                             \
  template Result<void> name##_forward(const ExecCall<float>&, std::span<float>);                                  \
  template Result<void> name##_forward(const ExecCall<double>&, std::span<double>);                                \
  template Result<void> name##_backward(const ExecCall<float>&, std::span<const float>, std::span<Tensor<float>>); \
  template Result<void> name##_backward(const ExecCall<double>&, std::span<const double>, std::span<Tensor<double>>)

/// A size that was checked, as an index.
[[nodiscard]] constexpr std::size_t index_of(std::int64_t size) { return static_cast<std::size_t>(size); }

}  // namespace packcheck
