// Faulty twins of products with packed weights.
#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

constexpr std::string_view kBound = "affine.matmul_is_within_its_bound_of_the_exact_product";
constexpr std::string_view kFused = "affine.gate_up_gives_what_two_products_give";

}  // namespace

std::vector<Twin> product_twins() {
  return {
      {"product_scales_as_f32",
       "indexes BF16 scales as float32 in the product, past the buffer or at wrong numbers (MarkBase)", kBound,
       [](ReferenceRules& r) { r.product.scales = ProductScales::bytes_as_f32; }},
      {"product_half_scales_shifted", "widens F16 scales as if they were BF16, by 16 bits (1bit-MONSTER's issue 677)",
       kBound, [](ReferenceRules& r) { r.product.scales = ProductScales::half_as_bfloat; }},
      {"product_columns_as_group", "takes the second dimension of the scales for the group size (MarkBase)", kBound,
       [](ReferenceRules& r) { r.product.group = ProductGroup::scale_columns; }},
      {"product_group_from_outputs", "derives the group size from out_features", kBound,
       [](ReferenceRules& r) { r.product.group = ProductGroup::out_per_column; }},
      {"fallback_without_group_size",
       "launches the kernel of one matrix without its group size, and that of two with it (MarkBase)", kFused,
       [](ReferenceRules& r) { r.product.group = ProductGroup::not_passed; }},
      {"product_without_in_features", "launches the kernel without in_features, which is then 64", kBound,
       [](ReferenceRules& r) { r.product.features = ProductFeatures::not_passed; }},
      {"product_x_not_reset", "goes on in x from one output to the next", kBound,
       [](ReferenceRules& r) { r.product.input = ProductInput::not_reset; }},
      {"product_row_stride_zero", "reads the first row of weights for every output (candle's PR 3856)", kBound,
       [](ReferenceRules& r) { r.product.row = ProductRow::first; }},
      {"product_scales_transposed", "indexes the scales by group, then output (vLLM's PR 47116)", kBound,
       [](ReferenceRules& r) { r.product.layout = ProductLayout::by_group; }},
      {"product_high_nibble_first", "takes the high nibble of a byte for the first code", kBound,
       [](ReferenceRules& r) { r.product.codes = ProductCodes::high_first; }},
      {"product_code_cut_at_word", "drops the part of a code of 3, 5 or 6 bits that lies in the next word", kBound,
       [](ReferenceRules& r) { r.product.codes = ProductCodes::within_word; }},
      {"product_codes_per_word", "packs 32 / bits codes of 3, 5 or 6 bits a word and leaves the rest of it", kBound,
       [](ReferenceRules& r) { r.product.codes = ProductCodes::per_word; }},
      {"product_bias_dropped", "multiplies scale and code, and forgets the bias", kBound,
       [](ReferenceRules& r) { r.product.bias = ProductBias::dropped; }},
      {"product_bias_per_row", "uses the first bias of a row for all of its groups", kBound,
       [](ReferenceRules& r) { r.product.bias = ProductBias::per_row; }},
      {"product_last_group_dropped", "goes in steps of 64 columns, rounded down", kBound,
       [](ReferenceRules& r) { r.product.tail = ProductTail::whole_steps; }},
      {"product_last_tile_dropped", "computes tiles of outputs, rounded down (MLX's issue 4250)", kBound,
       [](ReferenceRules& r) { r.product.outputs = ProductOutputs::whole_tiles; }},
      {"product_sum_in_half", "rounds every partial sum to F16", kBound,
       [](ReferenceRules& r) { r.product.sum = ProductSum::half; }},
      {"gate_and_up_swapped", "gives the products of gate and up in each other's place", kFused,
       [](ReferenceRules& r) { r.product.pair = ProductPair::swapped; }},
      {"product_of_narrow_weights",
       "rounds each decoded weight to the dtype of the scales, where its own decoder keeps it in F32 (MLX on a CPU)",
       "affine.matmul_is_the_product_of_decoded_weights",
       [](ReferenceRules& r) { r.product.weights = ProductWeights::scale_format; }},
      {"product_unchecked", "multiplies what does not fit together", "affine.matmul_refuses_what_leaves_its_buffers",
       [](ReferenceRules& r) { r.product.checks = ProductChecks::at_the_index; }},
      {"product_rows_mixed", "takes the largest magnitude of all rows of x for a common scale",
       "affine.matmul_takes_each_row_alone", [](ReferenceRules& r) { r.product.input = ProductInput::common_scale; }},
  };
}

}  // namespace packcheck
