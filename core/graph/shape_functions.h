// core/graph/shape_functions.h: the functions of the rows in shape_infer.cc. For the .cc files of the
// shape rules alone.
#pragma once

#include "core/graph/shape_infer.h"

namespace packcheck {

using ShapeFunction = Result<Dimensions>(const ShapeOperator&, const ShapeQuestion&, const ShapeRules&);

// shape_windows.cc
ShapeFunction infer_conv2d, infer_depthwise_conv2d, infer_export_6d, infer_pool2d, infer_adaptive_pool2d,
    infer_adaptive_bin, infer_same_padding, infer_input_size;
// shape_operators.cc
ShapeFunction infer_linear, infer_matmul, infer_reduce, infer_concat, infer_broadcast, infer_elementwise, infer_flatten,
    infer_cross_entropy, infer_batchnorm2d, infer_layernorm, infer_element_count;

/// Refuses a shape of another rank. `name` says which input: "input", "weight".
[[nodiscard]] Result<void> check_rank(const Dimensions& shape, std::size_t rank, std::string_view name,
                                      const ShapeOperator& op, std::string_view axes);
/// Refuses a size other than `right`; `because` says where that comes from.
[[nodiscard]] Result<void> check_size(std::int64_t is, std::int64_t right, std::string_view name,
                                      const ShapeOperator& op, std::string_view because);
/// An axis in 0..rank−1 from one in −rank..rank−1.
[[nodiscard]] Result<std::size_t> checked_axis(std::int64_t axis, std::size_t rank, const ShapeOperator& op);

}  // namespace packcheck
