// Operators with windows: convolution, pooling, and the questions about one axis of them.
#include <utility>

#include "core/graph/shape_functions.h"

namespace packcheck {
namespace {

/// Windows along both axes of an operator.
struct Windows {
  Window h;
  Window w;
};

Result<std::int64_t> count_along(const Window& window, const ShapeOperator& op, std::string_view axis,
                                 const ShapeRules& rules) {
  const std::string where = op.id().append(" ").append(axis);
  if (op.window.padding == PaddingMode::given) return window_count(window, op.window, where, rules);
  const Result<SamePadding> same = same_padding(window, op.window.padding, where, rules);
  if (!same) return tl::unexpected(same.error());
  return same->windows;
}

/// `shape` with its last two sizes replaced by the numbers of windows; refuses what has too many elements.
Result<Dimensions> with_windows(Dimensions shape, Windows windows, const ShapeOperator& op, const ShapeRules& rules) {
  if (rules.width_kernel == WidthKernel::height) windows.w.kernel = windows.h.kernel;
  if (rules.stride == StridePlace::height_and_width_swapped) std::swap(windows.h.stride, windows.w.stride);
  const ZeroStride zero = rules.zero_stride.value_or(op.window.zero_stride);
  if (zero == ZeroStride::kernel_height) {
    if (windows.h.stride <= 0) windows.h.stride = windows.h.kernel;
    if (windows.w.stride <= 0) windows.w.stride = windows.h.kernel;
  }
  const Result<std::int64_t> h = count_along(windows.h, op, "height", rules);
  if (!h) return tl::unexpected(h.error());
  const Result<std::int64_t> w = count_along(windows.w, op, "width", rules);
  if (!w) return tl::unexpected(w.error());
  shape[2] = *h;
  shape[3] = *w;
  if (const auto count = element_count(shape, op.id() + " output"); !count) return tl::unexpected(count.error());
  return shape;
}

Result<Dimensions> convolve(const ShapeOperator& op, const ShapeQuestion& q, std::int64_t groups,
                            const ShapeRules& rules) {
  const Dimensions& input = q.shapes[0];
  const Dimensions& weight = q.shapes[1];
  if (auto ok = check_rank(input, 4, "input", op, "[N, C, H, W]"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_rank(weight, 4, "weight", op, "[O, C/groups, kH, kW]"); !ok) return tl::unexpected(ok.error());
  if (groups == 0) groups = input[1];  // depthwise
  if (groups < 1 || input[1] % groups != 0 || weight[0] % groups != 0)
    return refuse(std::to_string(groups) + " groups", op.id(),
                  "a divisor of the " + std::to_string(input[1]) + " input channels and the " +
                      std::to_string(weight[0]) + " output channels");
  const std::int64_t parts = rules.groups == GroupUse::ignored ? 1 : groups;
  if (auto ok = check_size(weight[1], input[1] / parts, "weight's input channels", op, "input channels / groups"); !ok)
    return tl::unexpected(ok.error());
  if (q.shapes.size() == 3) {
    if (auto ok = check_rank(q.shapes[2], 1, "bias", op, "[O]"); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_size(q.shapes[2][0], weight[0], "bias", op, "the output channels"); !ok)
      return tl::unexpected(ok.error());
  }
  const auto a = q.attributes;
  const Windows windows{{input[2], weight[2], a[0], a[2], a[4]}, {input[3], weight[3], a[1], a[3], a[5]}};
  return with_windows({input[0], weight[0], 0, 0}, windows, op, rules);
}

}  // namespace

Result<Dimensions> infer_conv2d(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  if (q.attributes[6] < 1) return refuse(std::to_string(q.attributes[6]) + " groups", op.id(), "1 or more");
  Result<Dimensions> output = convolve(op, q, q.attributes[6], rules);
  if (output && rules.exported == ExportedShape::input) return q.shapes[0];
  return output;
}

Result<Dimensions> infer_depthwise_conv2d(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  return convolve(op, q, 0, rules);
}

Result<Dimensions> infer_export_6d(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  if (q.attributes[6] < 1) return refuse(std::to_string(q.attributes[6]) + " groups", op.id(), "1 or more");
  const Result<Dimensions> output = convolve(op, q, q.attributes[6], rules);
  if (!output) return output;
  Dimensions exported = q.shapes[0];
  exported.insert(exported.end(), output->begin() + 2, output->end());
  return exported;
}

Result<Dimensions> infer_pool2d(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const Dimensions& input = q.shapes[0];
  if (auto ok = check_rank(input, 4, "input", op, "[N, C, H, W]"); !ok) return tl::unexpected(ok.error());
  const auto a = q.attributes;
  Result<Dimensions> output =
      with_windows(input, {{input[2], a[0], a[2], a[4], 1}, {input[3], a[1], a[3], a[5], 1}}, op, rules);
  if (output && rules.exported == ExportedShape::input) return input;
  return output;
}

Result<Dimensions> infer_adaptive_pool2d(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules&) {
  if (auto ok = check_rank(q.shapes[0], 4, "input", op, "[N, C, H, W]"); !ok) return tl::unexpected(ok.error());
  Dimensions output = q.shapes[0];
  output[2] = q.attributes[0];
  output[3] = q.attributes[1];
  if (const auto count = element_count(output, op.id() + " output"); !count) return tl::unexpected(count.error());
  return output;
}

Result<Dimensions> infer_adaptive_bin(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const auto a = q.attributes;
  const Result<Bin> bin = adaptive_bin(a[0], a[1], a[2], op.bins, op.id(), rules);
  if (!bin) return tl::unexpected(bin.error());
  return Dimensions{bin->begin, bin->end};
}

Result<Dimensions> infer_same_padding(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const auto a = q.attributes;
  const Result<SamePadding> same = same_padding({a[0], a[1], a[2], 0, a[3]}, op.window.padding, op.id(), rules);
  if (!same) return tl::unexpected(same.error());
  return Dimensions{same->windows, same->begin, same->end};
}

Result<Dimensions> infer_input_size(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const auto a = q.attributes;
  const Result<InputSizes> sizes = input_sizes(a[0], {1, a[1], a[2], a[3], a[4]}, op.id(), rules);
  if (!sizes) return tl::unexpected(sizes.error());
  return Dimensions{sizes->smallest, sizes->largest};
}

}  // namespace packcheck
