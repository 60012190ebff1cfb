// Pooling. A window's cells that lie on the input are visited row by row.
#include <cmath>
#include <limits>
#include <optional>

#include "core/graph/exec_functions.h"

namespace packcheck {
namespace {

/// Calls visit(output index, first cell of the plane, top, left) for every window; top and left may be negative.
template <class T, class Visit>
void for_each_window(const ExecCall<T>& call, Visit visit) {
  const Dimensions& x = call.inputs[0].shape;
  const Dimensions& y = call.output_shape;
  const auto a = call.attributes;
  for (std::int64_t plane = 0; plane < x[0] * x[1]; ++plane)
    for (std::int64_t oh = 0; oh < y[2]; ++oh)
      for (std::int64_t ow = 0; ow < y[3]; ++ow)
        visit(index_of((plane * y[2] + oh) * y[3] + ow), plane * x[2] * x[3], oh * a[2] - a[4], ow * a[3] - a[5]);
}

/// Calls visit(input index), or visit(nothing) for a cell of padding, for every cell of a window.
template <class T, class Visit>
void for_each_cell(const ExecCall<T>& call, std::int64_t plane, std::int64_t top, std::int64_t left, Visit visit) {
  const Dimensions& x = call.inputs[0].shape;
  for (std::int64_t h = top; h < top + call.attributes[0]; ++h)
    for (std::int64_t w = left; w < left + call.attributes[1]; ++w) {
      const bool real = h >= 0 && h < x[2] && w >= 0 && w < x[3];
      visit(real ? std::optional(index_of(plane + h * x[3] + w)) : std::nullopt);
    }
}

/// The largest number of a window and where it is; nowhere for padding and where there is no number.
template <class T>
struct Largest {
  T value = -std::numeric_limits<T>::infinity();
  std::optional<std::size_t> at;
};

template <class T>
Largest<T> largest_of(const ExecCall<T>& call, std::int64_t plane, std::int64_t top, std::int64_t left) {
  Largest<T> largest;
  if (call.rules.start == PoolStart::zero) largest.value = T{0};
  for_each_cell(call, plane, top, left, [&](std::optional<std::size_t> cell) {
    if (!cell && call.rules.padding == PaddingCells::skipped) return;
    const T value = cell ? call.inputs[0].elements[*cell] : T{0};
    // A NaN is never larger. −infinity is a number, but the same as nothing.
    const bool larger = value > largest.value;
    if (larger || (call.rules.tie == PoolTie::last && value == largest.value)) largest = {value, cell};
  });
  return largest;
}

template <class T>
T divisor_of(const ExecCall<T>& call, std::int64_t plane, std::int64_t top, std::int64_t left) {
  std::int64_t cells = 0;
  for_each_cell(call, plane, top, left, [&](std::optional<std::size_t> cell) {
    if (cell || call.rules.divisor == PoolDivisor::whole_window) ++cells;
  });
  return static_cast<T>(cells == 0 ? 1 : cells);
}

}  // namespace

template <class T>
Result<void> maxpool2d_forward(const ExecCall<T>& call, std::span<T> output) {
  for_each_window(call, [&](std::size_t at, std::int64_t plane, std::int64_t top, std::int64_t left) {
    output[at] = largest_of(call, plane, top, left).value;
  });
  return {};
}

template <class T>
Result<void> maxpool2d_backward(const ExecCall<T>& call, std::span<const T> upstream, std::span<Tensor<T>> gradients) {
  for_each_window(call, [&](std::size_t at, std::int64_t plane, std::int64_t top, std::int64_t left) {
    const Largest<T> largest = largest_of(call, plane, top, left);
    if (largest.at) gradients[0].elements[*largest.at] += upstream[at];
  });
  return {};
}

template <class T>
Result<void> avgpool2d_forward(const ExecCall<T>& call, std::span<T> output) {
  for_each_window(call, [&](std::size_t at, std::int64_t plane, std::int64_t top, std::int64_t left) {
    T sum = 0;
    for_each_cell(call, plane, top, left, [&](std::optional<std::size_t> cell) {
      if (cell) sum += call.inputs[0].elements[*cell];
    });
    output[at] = sum / divisor_of(call, plane, top, left);
  });
  return {};
}

template <class T>
Result<void> avgpool2d_backward(const ExecCall<T>& call, std::span<const T> upstream, std::span<Tensor<T>> gradients) {
  for_each_window(call, [&](std::size_t at, std::int64_t plane, std::int64_t top, std::int64_t left) {
    const T share = upstream[at] / divisor_of(call, plane, top, left);
    for_each_cell(call, plane, top, left, [&](std::optional<std::size_t> cell) {
      if (cell) gradients[0].elements[*cell] += share;
    });
  });
  return {};
}

PACKCHECK_EXEC_INSTANCES(maxpool2d);
PACKCHECK_EXEC_INSTANCES(avgpool2d);

}  // namespace packcheck
