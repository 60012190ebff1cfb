#include "core/graph/shape_infer.h"

#include <array>
#include <limits>

#include "core/graph/shape_arithmetic.h"
#include "core/graph/shape_functions.h"

namespace packcheck {
namespace {

using Names = std::string_view;
constexpr std::array<Names, 7> kConv2d{"stride_h",   "stride_w",   "padding_h", "padding_w",
                                       "dilation_h", "dilation_w", "groups"};
constexpr std::array<Names, 6> kDepthwise{"stride_h", "stride_w", "padding_h", "padding_w", "dilation_h", "dilation_w"};
constexpr std::array<Names, 6> kPool2d{"kernel_h", "kernel_w", "stride_h", "stride_w", "padding_h", "padding_w"};
constexpr std::array<Names, 2> kAdaptive{"output_h", "output_w"};
constexpr std::array<Names, 3> kBin{"input_size", "output_size", "index"};
constexpr std::array<Names, 4> kSame{"size", "kernel", "stride", "dilation"};
constexpr std::array<Names, 5> kInputSize{"output_size", "kernel", "stride", "padding", "dilation"};
constexpr std::array<Names, 1> kAxis{"axis"};
constexpr std::array<Names, 1> kKeep{"keep_dimensions"};
constexpr std::array<Names, 1> kTrailing{"trailing_axes"};
constexpr std::span<const Names> kNone{};

constexpr WindowDialect kFloor{};
constexpr WindowDialect kJava{.quotient = Quotient::truncate};
constexpr WindowDialect kJavaPool{.quotient = Quotient::truncate, .zero_stride = ZeroStride::kernel_height};
constexpr WindowDialect kCeil{.quotient = Quotient::ceil};
constexpr WindowDialect kPytorchCeil{.quotient = Quotient::ceil_last_inside, .limit = PaddingLimit::half_kernel};
constexpr WindowDialect kSameUpper{.padding = PaddingMode::same_upper};
constexpr WindowDialect kSameLower{.padding = PaddingMode::same_lower};

using F = ShapeFamily;
constexpr auto kOperators = std::to_array<ShapeOperator>({
    {"conv2d", "floor", F::convolution, kConv2d, false, 2, 3, infer_conv2d, kFloor},
    {"conv2d", "java", F::convolution, kConv2d, false, 2, 3, infer_conv2d, kJava},
    {"conv2d", "same_upper", F::convolution, kConv2d, false, 2, 3, infer_conv2d, kSameUpper},
    {"conv2d", "same_lower", F::convolution, kConv2d, false, 2, 3, infer_conv2d, kSameLower},
    {"conv2d", "export_6d", F::convolution, kConv2d, false, 2, 3, infer_export_6d, kFloor},
    {"depthwise_conv2d", "floor", F::convolution, kDepthwise, false, 2, 3, infer_depthwise_conv2d, kFloor},
    {"maxpool2d", "floor", F::pooling, kPool2d, false, 1, 1, infer_pool2d, kFloor},
    {"maxpool2d", "java", F::pooling, kPool2d, false, 1, 1, infer_pool2d, kJavaPool},
    {"maxpool2d", "ceil", F::pooling, kPool2d, false, 1, 1, infer_pool2d, kCeil},
    {"maxpool2d", "pytorch_ceil", F::pooling, kPool2d, false, 1, 1, infer_pool2d, kPytorchCeil},
    {"avgpool2d", "floor", F::pooling, kPool2d, false, 1, 1, infer_pool2d, kFloor},
    {"avgpool2d", "java", F::pooling, kPool2d, false, 1, 1, infer_pool2d, kJavaPool},
    {"avgpool2d", "pytorch_ceil", F::pooling, kPool2d, false, 1, 1, infer_pool2d, kPytorchCeil},
    {"adaptive_avgpool2d", "", F::other, kAdaptive, false, 1, 1, infer_adaptive_pool2d},
    {"adaptive_bin", "floor_ceil", F::adaptive, kBin, false, 0, 0, infer_adaptive_bin, kFloor, BinRounding::floor_ceil},
    {"adaptive_bin", "floor_floor", F::adaptive, kBin, false, 0, 0, infer_adaptive_bin, kFloor,
     BinRounding::floor_floor},
    {"linear", "", F::other, kNone, false, 2, 3, infer_linear},
    {"matmul", "", F::other, kNone, false, 2, 2, infer_matmul},
    {"reduce", "", F::other, kKeep, true, 1, 1, infer_reduce},
    {"concat", "", F::other, kAxis, false, 1, kMostShapes, infer_concat},
    {"broadcast", "", F::other, kNone, false, 1, kMostShapes, infer_broadcast},
    {"elementwise", "", F::other, kNone, false, 1, kMostShapes, infer_elementwise},
    {"flatten", "", F::other, kAxis, false, 1, 1, infer_flatten},
    {"softmax_cross_entropy", "", F::other, kNone, false, 2, 2, infer_cross_entropy},
    {"batchnorm2d", "", F::other, kNone, false, 1, 5, infer_batchnorm2d},
    {"layernorm", "", F::other, kTrailing, false, 1, 3, infer_layernorm},
    {"element_count", "", F::other, kNone, false, 1, 1, infer_element_count},
    {"same_padding", "upper", F::padding, kSame, false, 0, 0, infer_same_padding, kSameUpper},
    {"same_padding", "lower", F::padding, kSame, false, 0, 0, infer_same_padding, kSameLower},
    {"input_size", "floor", F::input_size, kInputSize, false, 0, 0, infer_input_size, kFloor},
});

std::string known_ids() {
  std::string ids;
  for (const ShapeOperator& row : kOperators) ids.append(ids.empty() ? "" : ", ").append(row.id());
  return ids;
}

std::string text_of_names(const ShapeOperator& op) {
  std::string names = std::to_string(op.attributes.size());
  for (std::size_t i = 0; i < op.attributes.size(); ++i) names.append(i == 0 ? ": " : ", ").append(op.attributes[i]);
  return op.more_attributes ? names + ", then axes" : names;
}

std::string text_of_counts(const ShapeOperator& op) {
  const std::string least = std::to_string(op.least_shapes);
  std::string text = op.least_shapes == op.most_shapes ? least : least + " to " + std::to_string(op.most_shapes);
  if (op.family == ShapeFamily::convolution || op.op == "linear") text.append(": input, weight and, if any, bias");
  return text;
}

}  // namespace

std::span<const ShapeOperator> all_shape_operators() { return kOperators; }

Result<const ShapeOperator*> shape_operator_named(std::string_view id) {
  for (const ShapeOperator& row : kOperators)
    if (row.id() == id || row.op == id) return &row;
  return refuse("unknown shape rule '" + std::string(id) + "'", {}, "one of " + known_ids());
}

std::string shape_text(const Dimensions& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
  return text.append("]");
}

Result<std::int64_t> element_count(const Dimensions& shape, std::string_view where, const ShapeRules& rules) {
  if (shape.size() > kMostAxes) return refuse(std::to_string(shape.size()) + " axes", std::string(where), "at most 16");
  Wide count = 1;
  for (const std::int64_t size : shape) {
    if (size < 1) return refuse("shape " + shape_text(shape), std::string(where), "sizes of 1 and more");
    count = in_width(count * size, rules);
    if (count > std::numeric_limits<std::int64_t>::max())
      return refuse("the elements of " + shape_text(shape) + " overflow", std::string(where), "at most 2^63 - 1");
  }
  return static_cast<std::int64_t>(count);
}

Result<Dimensions> infer_shape(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const std::size_t attributes = q.attributes.size();
  const bool too_many =
      op.more_attributes ? attributes > op.attributes.size() + kMostAxes : attributes > op.attributes.size();
  if (attributes < op.attributes.size() || too_many)
    return refuse(std::to_string(attributes) + " attributes", op.id(), text_of_names(op));
  if (q.shapes.size() < op.least_shapes || q.shapes.size() > op.most_shapes)
    return refuse(std::to_string(q.shapes.size()) + " shapes", op.id(), text_of_counts(op));
  for (const Dimensions& shape : q.shapes)
    if (const auto count = element_count(shape, op.id()); !count) return tl::unexpected(count.error());
  return op.infer(op, q, rules);
}

Result<void> check_rank(const Dimensions& shape, std::size_t rank, std::string_view name, const ShapeOperator& op,
                        std::string_view axes) {
  if (shape.size() == rank) return {};
  return refuse(std::string(name).append(" is ").append(shape_text(shape)), op.id(),
                std::to_string(rank).append(" axes: ").append(axes));
}

Result<void> check_size(std::int64_t is, std::int64_t right, std::string_view name, const ShapeOperator& op,
                        std::string_view because) {
  if (is == right) return {};
  return refuse(std::string(name).append(" is ").append(std::to_string(is)), op.id(),
                std::to_string(right).append(", ").append(because));
}

Result<std::size_t> checked_axis(std::int64_t axis, std::size_t rank, const ShapeOperator& op) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis >= -count && axis < count) return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
  const std::string right =
      rank == 0 ? "a shape with axes" : std::to_string(-count) + " to " + std::to_string(count - 1);
  return refuse("axis " + std::to_string(axis), op.id(), right);
}

}  // namespace packcheck
