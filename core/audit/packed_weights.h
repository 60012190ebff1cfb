// core/audit/packed_weights.h: weights packed in groups, found by their names, and whether what belongs together
// agrees. See element_statistics.h.
//
// Source of the layouts: MLX mlx/ops.cpp (weight, scales, biases), AutoGPTQ and GPTQModel (qweight, qzeros, scales,
// g_idx), AutoAWQ (the same names, packed along the outputs), compressed-tensors (weight_packed, weight_scale,
// weight_shape).
#pragma once

#include "core/audit/audit.h"

namespace packcheck {

/// Adds what it finds. A companion that is missing is a note: models in several files may have it elsewhere.
void audit_packed_weights(const TensorFile& file, std::span<const std::uint8_t> bytes, const DoneWith& done_with,
                          FileAudit& audit);

}  // namespace packcheck
