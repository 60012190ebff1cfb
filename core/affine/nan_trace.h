// core/affine/nan_trace.h: where a NaN or an infinity of a network of packed products comes from.
//
// Layers run one after another, each on the output of the one before. The first output that is not finite is traced to
// the first group of its sum in which a number is not finite, or from which on the sum may leave the numbers of f32:
// "layer0.gate, row 0, output 7680, group 0: a scale is NaN". Counting NaNs at the end tells none of this.
// Proved by tests/core/affine_nan_trace_test.cc, a test for every cause.
#pragma once

#include <string>
#include <vector>

#include "core/affine/matmul.h"

namespace packcheck {

/// What is wrong in the group. Where several are, the first of this list.
enum class NanCause : std::uint8_t {
  scale_nan,
  scale_infinite,
  bias_nan,
  bias_infinite,
  input_nan,
  input_infinite,
  product_overflow  ///< all numbers are finite; the magnitudes of the terms up to here add up past the largest f32
};
/// "a scale is NaN", "a product overflows", …
[[nodiscard]] std::string_view nan_cause_text(NanCause cause);

/// A layer: a name, the arguments of its product without rows and x, and its weights.
struct TracedLayer {
  std::string name;
  AffineProduct product;
  PackedMatrix weights;
};

struct NanTrace {
  std::size_t layer = 0;
  std::string name;     ///< of the layer
  std::size_t row = 0;  ///< of x
  std::size_t output = 0;
  std::size_t group = 0;
  NanCause cause = NanCause::product_overflow;

  [[nodiscard]] std::string text() const;
};

/// The first output that is NaN or infinite, by layer, row and output; nothing where all are finite. Refuses what
/// affine_matmul refuses, at the layer; the outputs of a layer are the inputs of the next.
[[nodiscard]] Result<std::optional<NanTrace>> trace_nan(std::span<const TracedLayer> layers, std::span<const float> x,
                                                        std::size_t rows);

}  // namespace packcheck
