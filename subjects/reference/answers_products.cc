// Products with packed weights: affine_matmul, affine_gate_up.
#include "core/affine/matmul.h"
#include "subjects/calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {
namespace {

constexpr std::size_t kMostAnswers = std::size_t{1} << 24;  ///< 64 MiB: two fit into a reply

/// The numbers of an argument, which need not be aligned.
struct ProductArguments {
  AffineProduct product;  ///< without x
  std::vector<float> x;
  std::size_t answers = 0;  ///< of one matrix
};

Result<ProductArguments> arguments_of(Arguments a) {
  const std::optional<Format> format = format_named(a[0]);
  const std::optional<SumOrder> order = sum_order_named(a[1]);
  const std::vector<std::uint64_t> shape = string_to_u64s(a[2]);
  if (!format)
    return refuse("no format '" + std::string(a[0]) + "'", "affine product, scale_format", "bf16, f16 or f32");
  if (!order)
    return refuse("no order '" + std::string(a[1]) + "'", "affine product, order",
                  "sequential, lanes, pairwise or per_group");
  if (shape.size() != 5 || a[2].size() != 5 * sizeof(std::uint64_t))
    return refuse(std::to_string(a[2].size()) + " bytes", "affine product, shape",
                  "five u64: rows, in_features, out_features, group_size, bits");
  if (a[3].size() % sizeof(float) != 0)
    return refuse(std::to_string(a[3].size()) + " bytes", "affine product, x", "whole numbers of 4 bytes");
  if (shape[4] > 8)
    return refuse("codes of " + std::to_string(shape[4]) + " bits", "affine product, bits", "at most 8");
  ProductArguments r{{shape[0], shape[1], shape[2], shape[3], static_cast<unsigned>(shape[4]), *format, *order, {}},
                     string_to_floats(a[3]),
                     0};
  if (__builtin_mul_overflow(shape[0], shape[2], &r.answers) || r.answers > kMostAnswers)
    return refuse("the shape overflows", "affine product, y", "at most " + std::to_string(kMostAnswers) + " numbers");
  return r;
}

AffineProduct product_of(const ProductArguments& r) {
  AffineProduct product = r.product;
  product.x = r.x;
  return product;
}

PackedMatrix matrix_in(Arguments a, std::size_t first) {
  return {bytes_of(a[first]), bytes_of(a[first + 1]), bytes_of(a[first + 2])};
}

}  // namespace

Reply answer_affine_matmul(const ReferenceRules& rules, Arguments a) {
  const Result<ProductArguments> r = arguments_of(a);
  if (!r) return refused(r.error());
  const PackedMatrix weights = matrix_in(a, 4);
  std::vector<float> y(r->answers);
  if (auto ok = affine_matmul(product_of(*r), weights, y, rules.product); !ok) return refused(ok.error());
  return answered(floats_to_string(y));
}

Reply answer_affine_gate_up(const ReferenceRules& rules, Arguments a) {
  const Result<ProductArguments> r = arguments_of(a);
  if (!r) return refused(r.error());
  const PackedMatrix gate = matrix_in(a, 4);
  const PackedMatrix up = matrix_in(a, 7);
  std::vector<float> gate_y(r->answers);
  std::vector<float> up_y(r->answers);
  if (auto ok = affine_gate_up(product_of(*r), gate, up, gate_y, up_y, rules.product); !ok) return refused(ok.error());
  return answered(floats_to_string(gate_y) + floats_to_string(up_y));
}

}  // namespace packcheck
