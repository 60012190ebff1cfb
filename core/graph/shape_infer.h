// core/graph/shape_infer.h: the output shape of an operator, or why there is none.
//
// Pure functions of integers. A rule is a row: an operator, the dialect where systems differ, the names of
// its attributes and a function. "conv2d:floor" counts as PyTorch and ONNX do, "conv2d:java" as
// yishape-math; "conv2d" alone means the first row of that operator. Add an operator: a function in
// shape_operators.cc or shape_windows.cc and its row in shape_infer.cc. Proved by tests/core/shape_infer_test.cc and
// the shape.* laws, whose oracle counts windows one by one and divides nowhere.
//
// | operator | attributes | shapes | answer |
// |---|---|---|---|
// | conv2d | stride h w, padding h w, dilation h w, groups | input [N,C,H,W], weight [O,C/groups,kH,kW], bias [O]? |
// [N,O,outH,outW] | | conv2d:export_6d | the same | the same | [N,C,H,W,outH,outW], from which a backend need not guess
// H and W | | depthwise_conv2d | as conv2d, without groups | weight [O,1,kH,kW], O a multiple of C | [N,O,outH,outW] |
// | maxpool2d, avgpool2d | kernel h w, stride h w, padding h w | [N,C,H,W] | [N,C,outH,outW] |
// | adaptive_avgpool2d | output h w | [N,C,H,W] | [N,C,output h,output w] |
// | adaptive_bin | input size, output size, index | none | [begin, end) of that bin |
// | linear | none | input […,in], weight [out,in], bias [out]? | […,out] |
// | matmul | none | […,m,k], […,k,n]; leading axes broadcast | […,m,n] |
// | reduce | keep_dimensions 0 or 1, then axes (none: all) | any | axes gone, or of size 1 |
// | concat | axis | one or more, equal but for the axis | sizes of the axis added up |
// | broadcast | none | one or more | sizes equal or 1, aligned at the last axis |
// | elementwise | none | one or more, all equal | that shape |
// | flatten | first axis | any but a scalar | the axes from the first one on multiplied into one |
// | softmax_cross_entropy | none | logits [N,C], labels [N] | [] |
// | batchnorm2d | none | [N,C,H,W], up to four of [C] | [N,C,H,W] |
// | layernorm | number of trailing axes | any, up to two of those axes | the first shape |
// | element_count | none | any | one number |
// | same_padding | size, kernel, stride, dilation | none | windows, padding at the begin, at the end |
// | input_size | output size, kernel, stride, padding, dilation | none | smallest and largest input size |
//
// Sizes are 1 and more, ranks at most 16; an axis may be negative, counted from the end. The elements of
// every input and of the output are at most 2^63 − 1.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/graph/shape_rules.h"
#include "core/graph/shape_window.h"
#include "core/result.h"

namespace packcheck {

inline constexpr std::size_t kMostAxes = 16;
inline constexpr std::size_t kMostShapes = 64;  ///< inputs of one operator

/// What one operator is asked for.
struct ShapeQuestion {
  std::span<const std::int64_t> attributes;
  std::span<const Dimensions> shapes;
};

/// Which rules of ShapeRules a row can be touched by.
enum class ShapeFamily : std::uint8_t { convolution, pooling, adaptive, padding, input_size, other };

/// One operator in one dialect.
struct ShapeOperator {
  std::string_view op;
  std::string_view dialect;  ///< empty where all systems agree
  ShapeFamily family;
  std::span<const std::string_view> attributes;  ///< names, in order
  bool more_attributes;                          ///< any number of axes may follow
  std::size_t least_shapes;
  std::size_t most_shapes;
  Result<Dimensions> (*infer)(const ShapeOperator&, const ShapeQuestion&, const ShapeRules&);
  WindowDialect window = {};
  BinRounding bins = BinRounding::floor_ceil;

  [[nodiscard]] std::string id() const {
    std::string name(op);
    return dialect.empty() ? name : name.append(":").append(dialect);
  }
};

[[nodiscard]] std::span<const ShapeOperator> all_shape_operators();
/// "conv2d:java", or "conv2d" for the first of its dialects. The error lists the known ones.
[[nodiscard]] Result<const ShapeOperator*> shape_operator_named(std::string_view id);

/// The answer of the table above. Refuses, with what, where and what would be right: another number of
/// attributes or shapes, sizes out of range, ranks and sizes that don't go together, and overflow.
[[nodiscard]] Result<Dimensions> infer_shape(const ShapeOperator& op, const ShapeQuestion& question,
                                             const ShapeRules& rules = {});

/// The number of elements, 1 for a scalar. Refuses sizes below 1, too many axes, and overflow.
[[nodiscard]] Result<std::int64_t> element_count(const Dimensions& shape, std::string_view where,
                                                 const ShapeRules& rules = {});
/// "[1, 3, 224, 224]".
[[nodiscard]] std::string shape_text(const Dimensions& shape);

}  // namespace packcheck
