// Convolution as yishape-math runs it: im2col, a matrix product, col2im. Columns are ordered c, kh, kw, as the
// weights are.
#include <algorithm>

#include "core/graph/exec_functions.h"

namespace packcheck {
namespace {

/// Sizes of one convolution. Input and output channels are those of one group.
struct Geometry {
  std::int64_t images, groups, channels, height, width;
  std::int64_t out_channels, out_height, out_width;
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w, dilation_h, dilation_w;
  std::int64_t row;  ///< input cells from one row to the next, as the reader believes

  [[nodiscard]] std::int64_t positions() const { return out_height * out_width; }
  [[nodiscard]] std::int64_t columns() const { return channels * kernel_h * kernel_w; }
  [[nodiscard]] std::size_t matrix() const { return index_of(positions() * columns()); }
};

template <class T>
Geometry geometry_of(const ExecCall<T>& call) {
  const Dimensions& x = call.inputs[0].shape;
  const Dimensions& w = call.inputs[1].shape;
  const Dimensions& y = call.output_shape;
  const auto a = call.attributes;
  Geometry g{x[0], a[6], w[1], x[2], x[3], w[0] / a[6], y[2], y[3], w[2],
             w[3], a[0], a[1], a[2], a[3], a[4],        a[5], x[3]};
  if (call.rules.input_row == InputRow::derived_from_output)
    g.row = std::max<std::int64_t>(
        1, (g.out_width - 1) * g.stride_w + g.dilation_w * (g.kernel_w - 1) + 1 - 2 * g.padding_w);
  return g;
}

/// Calls visit(column matrix index, input index) for every cell of every window that lies on the input.
template <class Visit>
void for_each_cell(const Geometry& g, std::int64_t image, std::int64_t group, ColumnOrder2d order, Visit visit) {
  for (std::int64_t oh = 0; oh < g.out_height; ++oh)
    for (std::int64_t ow = 0; ow < g.out_width; ++ow)
      for (std::int64_t c = 0; c < g.channels; ++c)
        for (std::int64_t kh = 0; kh < g.kernel_h; ++kh)
          for (std::int64_t kw = 0; kw < g.kernel_w; ++kw) {
            const std::int64_t h = oh * g.stride_h - g.padding_h + kh * g.dilation_h;
            const std::int64_t w = ow * g.stride_w - g.padding_w + kw * g.dilation_w;
            if (h < 0 || h >= g.height || w < 0 || w >= g.width) continue;
            const std::int64_t column = order == ColumnOrder2d::channel_first ? (c * g.kernel_h + kh) * g.kernel_w + kw
                                                                              : (kh * g.kernel_w + kw) * g.channels + c;
            const std::int64_t plane = (image * g.groups + group) * g.channels + c;
            visit(index_of((oh * g.out_width + ow) * g.columns() + column),
                  index_of(plane * g.height * g.width + h * g.row + w));
          }
}

/// Calls visit(output index, weight row, position) for one group of one image.
template <class Visit>
void for_each_output(const Geometry& g, std::int64_t image, std::int64_t group, Visit visit) {
  for (std::int64_t o = 0; o < g.out_channels; ++o) {
    const std::int64_t channel = group * g.out_channels + o;
    const std::int64_t plane = image * g.groups * g.out_channels + channel;
    for (std::int64_t p = 0; p < g.positions(); ++p)
      visit(index_of(plane * g.positions() + p), index_of(channel), index_of(p));
  }
}

}  // namespace

template <class T>
Result<void> conv2d_forward(const ExecCall<T>& call, std::span<T> output) {
  const Geometry g = geometry_of(call);
  const std::vector<T>& x = call.inputs[0].elements;
  const std::vector<T>& weight = call.inputs[1].elements;
  const std::size_t terms = index_of(g.columns());
  for (std::int64_t image = 0; image < g.images; ++image)
    for (std::int64_t group = 0; group < g.groups; ++group) {
      std::vector<T> columns(g.matrix(), T{0});
      for_each_cell(g, image, group, call.rules.columns,
                    [&](std::size_t to, std::size_t from) { columns[to] = x[from]; });
      for_each_output(g, image, group, [&](std::size_t at, std::size_t channel, std::size_t position) {
        T sum = 0;
        for (std::size_t k = 0; k < terms; ++k) sum += columns[position * terms + k] * weight[channel * terms + k];
        output[at] = call.inputs.size() == 3 ? sum + call.inputs[2].elements[channel] : sum;
      });
    }
  return {};
}

template <class T>
Result<void> conv2d_backward(const ExecCall<T>& call, std::span<const T> upstream, std::span<Tensor<T>> gradients) {
  const Geometry g = geometry_of(call);
  const std::vector<T>& x = call.inputs[0].elements;
  const std::vector<T>& weight = call.inputs[1].elements;
  const std::size_t terms = index_of(g.columns());
  std::vector<T>& of_weight = gradients[1].elements;
  for (std::int64_t image = 0; image < g.images; ++image)
    for (std::int64_t group = 0; group < g.groups; ++group) {
      std::vector<T> columns(g.matrix(), T{0});
      std::vector<T> of_columns(g.matrix(), T{0});
      for_each_cell(g, image, group, call.rules.columns,
                    [&](std::size_t to, std::size_t from) { columns[to] = x[from]; });
      for_each_output(g, image, group, [&](std::size_t at, std::size_t channel, std::size_t position) {
        for (std::size_t k = 0; k < terms; ++k) {
          of_weight[channel * terms + k] += upstream[at] * columns[position * terms + k];
          of_columns[position * terms + k] += upstream[at] * weight[channel * terms + k];
        }
        if (gradients.size() == 3 && call.rules.bias == BiasGradient::summed)
          gradients[2].elements[channel] += upstream[at];
      });
      std::vector<T>& of_input = gradients[0].elements;
      for_each_cell(g, image, group, call.rules.columns, [&](std::size_t from, std::size_t to) {
        of_input[to] = call.rules.folding == Folding::adds ? of_input[to] + of_columns[from] : of_columns[from];
      });
    }
  return {};
}

PACKCHECK_EXEC_INSTANCES(conv2d);

}  // namespace packcheck
