// Faulty twins of group-quantized weights.
#include "subjects/reference/twin_families.h"

namespace packcheck {

std::vector<Twin> affine_twins() {
  return {
      {"bf16_scales_read_as_f32", "indexes the BF16 scales of a model file as float32 (MarkBase)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.scales = ScaleReading::bytes_as_f32; }},
      {"group_size_misread", "takes the number of scale columns for the group size (MarkBase)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.group = GroupReading::scale_columns; }},
      {"group_size_not_passed", "launches a kernel without its group size, which then reads what was there (MarkBase)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.group = GroupReading::not_passed; }},
      {"code_width_global", "reads codes of every tensor as 4 bits wide, whatever the tensor has (Ollama)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.width = CodeWidth::global_4; }},
      {"codes_read_as_float32", "takes 8-bit codes for the float32 numbers that the weights once were (TensorFlow.js)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.width = CodeWidth::logical_dtype; }},
      {"row_strides_not_passed", "reads the first row's codes for every row, as a kernel without strides (candle)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.row = RowReading::first; }},
      {"group_size_minus_one", "divides by the group size -1 that stands for a whole row (vLLM)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.group = GroupReading::minus_one; }},
      {"block_size_is_scale_shape", "takes the shape of the scales for that of a block (compressed-tensors)",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.block = BlockReading::scale_shape; }},
      {"block_size_from_scale_rows", "divides the rows by those of the scales, though the last block is cut off",
       "affine.dequantize_reads_scales_in_their_dtype_and_group",
       [](ReferenceRules& r) { r.affine.block = BlockReading::rows_per_scale; }},
  };
}

}  // namespace packcheck
