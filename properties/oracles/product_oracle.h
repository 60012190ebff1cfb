// properties/oracles/product_oracle.h: products with packed weights, exactly.
//
// Oracle for core/affine/matmul.h and the laws of affine_matmul and affine_gate_up. A dot product is added up as a
// whole number of 2^-320ths, 640 bits long: no rounding at all. What a kernel may answer is everything within a bound
// that holds for any order of f32 sums, whether it decodes weights (x · (s·q + b)) or sums by groups (s·Σ q·x + b·Σ x),
// with or without fused operations. Shares nothing with the core but the name Format.
// Proved by tests/core/product_oracle_test.cc against GMP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/format/format.h"

namespace packcheck::oracle {

/// A sum of numbers m · 2^e without rounding.
class ExactSum {
 public:
  /// Adds m · 2^exponent, or takes it away. m < 2^57, exponent in -320..250; at most 2^20 numbers.
  void add(std::uint64_t m, int exponent, bool negative);
  /// The sum, cut off below the 64th bit or so: at most 2^-60 of it is missing.
  [[nodiscard]] double value() const;
  /// |sum - number|, cut off likewise. `number` is finite.
  [[nodiscard]] double distance(float number) const;

 private:
  static constexpr std::size_t kPieces = 20;
  std::array<std::int64_t, kPieces> pieces_{};  ///< of 2^(32·i - 320)
};

/// A request as a kernel gets it: any sizes.
struct PackedProduct {
  std::uint64_t rows;
  std::uint64_t in_features;
  std::uint64_t out_features;
  std::uint64_t group_size;
  std::uint64_t bits;
  Format scale_format;
  std::span<const float> x;
  std::span<const std::uint8_t> codes;
  std::span<const std::uint8_t> scales;
  std::span<const std::uint8_t> biases;
};

/// What is wrong with a request: every index that some output needs must be in its buffer, no buffer may hold more, and
/// bits, group and dtype must be MLX's. Empty: nothing.
[[nodiscard]] std::string unsoundness(const PackedProduct& product);

enum class ExpectedKind : std::uint8_t {
  bounded,    ///< a number within `bound` of `sum`
  any_nan,    ///< a NaN went in
  no_number,  ///< an infinity went in: NaN or infinite
  open        ///< an intermediate may overflow: whatever
};

struct ExpectedElement {
  ExpectedKind kind = ExpectedKind::bounded;
  ExactSum sum;
  double bound = 0.0;

  [[nodiscard]] bool accepts(float answer) const;
};

/// y[row][output] of a sound request.
[[nodiscard]] ExpectedElement expected_element(const PackedProduct& product, std::size_t row, std::size_t output);

/// The same with weights that were decoded with a rounding after s·q and one after + b: the sum is that of x with
/// `weights` (the row of them), and the bound takes in those two roundings. What is not finite is as it is packed.
[[nodiscard]] ExpectedElement expected_decoded(const PackedProduct& product, std::size_t row, std::size_t output,
                                               std::span<const float> weights);

}  // namespace packcheck::oracle
