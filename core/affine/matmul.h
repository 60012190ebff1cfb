// core/affine/matmul.h: the product with group-quantized weights, y[r][o] = Σ_i x[r][i] · w[o][i].
//
// Weights are packed as core/affine/affine.h says; one matrix, or gate and up fused over one input. Both kernels take
// the same arguments, and every argument is checked against every buffer before anything is read: a kernel that gets
// its group size as another number, or its scales in another dtype, reads past a buffer or reads wrong numbers without
// an error (MarkBase did both). Numbers are f32, products and sums rounded one by one; SumOrder says in which order,
// and no order depends on the other rows. A NaN result is 0x7FC00000. The bound on the error is derived in
// matmul_bound.h; where a NaN comes from, nan_trace.h tells. Loops are in sums.h.
// Proved by tests/core/affine_matmul_test.cc (by hand, GMP, the oracle) and the laws affine.matmul_… and
// affine.gate_up_…; add a rule to ProductRules only with the faulty twin that needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/affine/sums.h"
#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

/// The arguments of a product, for one matrix and for two.
struct AffineProduct {
  std::size_t rows = 0;                ///< of x and y
  std::size_t in_features = 0;         ///< a multiple of group_size; 0 gives sums of nothing, +0
  std::size_t out_features = 0;        ///< rows of the weights
  std::size_t group_size = 64;         ///< 32, 64 or 128 weights share a scale and a bias
  unsigned bits = 4;                   ///< of a code: 2, 3, 4, 5, 6 or 8
  Format scale_format = Format::bf16;  ///< bf16, f16 or f32, of scales and of biases
  SumOrder order = SumOrder::lanes;
  std::span<const float> x;  ///< rows · in_features, row-major
};

/// One matrix of weights, as a model file stores it (little-endian, row-major).
struct PackedMatrix {
  std::span<const std::uint8_t> codes;   ///< out_features rows of in_features · bits / 8 bytes
  std::span<const std::uint8_t> scales;  ///< out_features · in_features / group_size elements
  std::span<const std::uint8_t> biases;  ///< as scales
};

enum class ProductScales : std::uint8_t {
  own_format,     ///< the reference
  bytes_as_f32,   ///< whatever the file holds is indexed as float32 (MarkBase before its fix)
  half_as_bfloat  ///< an f16 is widened by a shift of 16 bits (1bit-MONSTER's issue 677)
};
enum class ProductGroup : std::uint8_t {
  passed,          ///< the argument
  scale_columns,   ///< shape[1] of the scales is taken for it (MarkBase before its fix)
  out_per_column,  ///< derived from out_features instead of in_features
  not_passed       ///< to the kernel of one matrix alone, which takes 64 (MarkBase's fallback before its fix)
};
enum class ProductInput : std::uint8_t {
  own_row,      ///< row r of y comes from row r of x
  not_reset,    ///< the index into x runs on from one output to the next, in a ring
  common_scale  ///< x in F16 after a division by the power of two of the largest number of all rows
};
enum class ProductFeatures : std::uint8_t {
  passed,
  not_passed  ///< in_features is an argument that the caller forgot; the kernel takes 64
};
enum class ProductRow : std::uint8_t {
  own,
  first  ///< a stride of 0: every output reads weight row 0 (candle's PR 3856)
};
enum class ProductLayout : std::uint8_t {
  by_output,  ///< scale g of output o at o · groups + g
  by_group    ///< transposed: at g · out_features + o (vLLM's PR 47116)
};
enum class ProductCodes : std::uint8_t {
  stream,       ///< the reference: little-endian bits
  high_first,   ///< within a byte the high code comes first; for codes of 2 and 4 bits
  within_word,  ///< the part of a code that lies in the next 32-bit word is lost; for 3, 5 and 6 bits
  per_word      ///< 32 / bits codes a word, the rest of it unused; for 3, 5 and 6 bits
};
enum class ProductBias : std::uint8_t {
  per_group,
  dropped,
  per_row  ///< the first bias of a row for all of its groups
};
enum class ProductWeights : std::uint8_t {
  single,
  scale_format  ///< a decoded weight is rounded to the dtype of the scales, as MLX does on a CPU
};
enum class ProductTail : std::uint8_t {
  whole,
  whole_steps  ///< in steps of 64 columns, rounded down: a last group of 32 is dropped
};
enum class ProductOutputs : std::uint8_t {
  whole,
  whole_tiles  ///< outputs in tiles of 2, rounded down: those of the last tile stay 0 (MLX's issue 4250)
};
enum class ProductSum : std::uint8_t {
  single,
  half  ///< every partial sum is rounded to f16
};
enum class ProductPair : std::uint8_t {
  gate_then_up,
  swapped  ///< the products of the two matrices change places
};

enum class ProductChecks : std::uint8_t {
  before_reading,
  at_the_index  ///< only what would be read past a buffer is refused: shapes may disagree, buffers be too large
};

/// Every choice that a kernel makes; the defaults are right.
struct ProductRules {
  ProductScales scales = ProductScales::own_format;
  ProductGroup group = ProductGroup::passed;
  ProductInput input = ProductInput::own_row;
  ProductFeatures features = ProductFeatures::passed;
  ProductRow row = ProductRow::own;
  ProductLayout layout = ProductLayout::by_output;
  ProductCodes codes = ProductCodes::stream;
  ProductBias bias = ProductBias::per_group;
  ProductWeights weights = ProductWeights::single;
  ProductTail tail = ProductTail::whole;
  ProductOutputs outputs = ProductOutputs::whole;
  ProductSum sum = ProductSum::single;
  ProductPair pair = ProductPair::gate_then_up;
  ProductChecks checks = ProductChecks::before_reading;
  friend bool operator==(const ProductRules&, const ProductRules&) = default;
};

/// y = x · Wᵀ into `y` (rows · out_features floats, row-major).
/// Refuses, before it reads or writes: another width of codes or size of groups, in_features that are no whole groups,
/// another dtype of scales, a buffer of another size than the shapes say, and sizes that overflow. With a changed rule
/// also, at the index, what would be read past a buffer.
[[nodiscard]] Result<void> affine_matmul(const AffineProduct& product, const PackedMatrix& weights, std::span<float> y,
                                         const ProductRules& rules = {});

/// Two products of one x in one pass: `gate_y` and `up_y`, each as affine_matmul gives it, bit for bit. What a network
/// makes of the two (silu(gate) · up, say) is not part of it. Refuses what affine_matmul refuses.
[[nodiscard]] Result<void> affine_gate_up(const AffineProduct& product, const PackedMatrix& gate,
                                          const PackedMatrix& up, std::span<float> gate_y, std::span<float> up_y,
                                          const ProductRules& rules = {});

/// What both refuse: arguments that do not go together, or that leave a buffer.
[[nodiscard]] Result<void> check_product(const AffineProduct& product, const PackedMatrix& weights, std::size_t y_size);

/// Scale or bias `index` of `elements`, widened exactly.
[[nodiscard]] float scale_at(Format format, std::span<const std::uint8_t> elements, std::size_t index);

}  // namespace packcheck
