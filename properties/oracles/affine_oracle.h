// properties/oracles/affine_oracle.h: group-quantized 4-bit weights, a second time.
//
// Oracle for core/affine. It walks groups where the core walks elements, widens scales and biases by
// value, and computes scale·code + bias in double with a rounding to f32 after the product and after
// the sum. Shares nothing with the core but the name Format. Proved by tests/core/affine_test.cc
// with weights worked out by hand and with MPFR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/format/format.h"

namespace packcheck::oracle {

/// One matrix as a model file stores it, little-endian, row-major.
struct GroupedWeights {
  std::size_t out_features;
  std::size_t in_features;
  std::size_t scale_columns;             ///< groups per row
  Format scale_format;                   ///< bf16, f16 or f32
  std::span<const std::uint8_t> codes;   ///< two per byte, the first in the low half
  std::span<const std::uint8_t> scales;  ///< out_features · scale_columns numbers
  std::span<const std::uint8_t> biases;  ///< as scales
};

/// The weights, out_features · in_features of them. Nothing where the shapes and sizes disagree, the
/// groups don't divide a row, a row has an odd number of codes, or scales are doubles (they have no
/// exact f32). Every NaN is as good as another.
[[nodiscard]] std::optional<std::vector<float>> affine_weights(const GroupedWeights& weights);

}  // namespace packcheck::oracle
