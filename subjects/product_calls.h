// subjects/product_calls.h: products with packed weights as calls, for laws.
#pragma once

#include <string>
#include <vector>

#include "core/affine/sums.h"
#include "subjects/calls.h"

namespace packcheck {

struct PackedWeights {
  Bytes codes;
  Bytes scales;
  Bytes biases;
};

/// The arguments of affine_matmul (one matrix) and affine_gate_up (two); see core/affine/matmul.h. Nothing says that
/// they go together.
struct ProductRequest {
  std::uint64_t rows = 0;
  std::uint64_t in_features = 0;
  std::uint64_t out_features = 0;
  std::uint64_t group_size = 32;
  std::uint64_t bits = 4;
  Format scale_format = Format::bf16;
  SumOrder order = SumOrder::sequential;
  std::vector<float> x;
  std::vector<PackedWeights> weights;

  /// "affine4:f32"
  [[nodiscard]] std::string variant() const;
};

/// The arguments of a request, as the table in subjects/subject.h has them, with these matrices.
[[nodiscard]] std::vector<std::string> product_arguments(const ProductRequest& request, std::size_t first_matrix,
                                                         std::size_t matrices);

/// y = x · Wᵀ with one of the matrices: rows · out_features numbers, row-major.
[[nodiscard]] Answer<std::vector<float>> call_affine_matmul(Subject& subject, const ProductRequest& request,
                                                            std::size_t matrix = 0);
/// Both products, first that with gate.
[[nodiscard]] Answer<std::vector<float>> call_affine_gate_up(Subject& subject, const ProductRequest& request);

}  // namespace packcheck
