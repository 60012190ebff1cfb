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
  };
}

}  // namespace packcheck
