// properties/oracles/affine_oracle.h: group-quantized weights of 2 to 8 bits, a second time.
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
  std::size_t scale_columns;  ///< groups per row
  Format scale_format;        ///< bf16, f16 or f32
  std::span<const std::uint8_t>
      codes;  ///< each row one little-endian number; code i its digits of weight 2^(i·bits) up
  std::span<const std::uint8_t> scales;  ///< a number for each group of each row, or for each block
  std::span<const std::uint8_t> biases;  ///< as scales
  int bits = 4;                          ///< of a code
  std::size_t block_rows = 1;            ///< rows that a block covers, and features; 0: groups divide the row
  std::size_t block_columns = 0;
};

/// The weights, out_features · in_features of them. Nothing where the shapes and sizes disagree, the
/// groups don't divide a row, a row is no whole bytes, codes have another width than 2, 3, 4, 5, 6
/// or 8 bits, or scales are doubles (they have no exact f32). Every NaN is as good as another.
[[nodiscard]] std::optional<std::vector<float>> affine_weights(const GroupedWeights& weights);

}  // namespace packcheck::oracle
