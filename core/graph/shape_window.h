// core/graph/shape_window.h: windows along one axis: how many, what padding, which input sizes fit.
//
// Pure integer arithmetic, wide enough (128 bits) that nothing overflows before the answer is compared
// with what an int64 holds. Sizes, kernels, strides and dilations are 1 and more, padding 0 and more.
// Proved by tests/core/shape_window_test.cc, which counts the windows of every small geometry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/graph/shape_rules.h"
#include "core/result.h"

namespace packcheck {

/// One axis of a convolution or pooling. The kernel reaches over dilation · (kernel − 1) + 1 cells.
struct Window {
  std::int64_t size = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
};

/// How many windows there are. Refuses what is out of range, by name, and a geometry without a window:
/// a kernel that reaches over more than the padded input. `where` names the operator and the axis.
[[nodiscard]] Result<std::int64_t> window_count(const Window& window, const WindowDialect& dialect,
                                                std::string_view where, const ShapeRules& rules = {});

/// Padding that makes ceil(size / stride) windows.
struct SamePadding {
  std::int64_t windows;
  std::int64_t begin;
  std::int64_t end;
};
/// `window.padding` must be 0, `mode` one of the two same_ modes.
[[nodiscard]] Result<SamePadding> same_padding(const Window& window, PaddingMode mode, std::string_view where,
                                               const ShapeRules& rules = {});

/// The input sizes that give one number of windows: a graph that carries only the output shape leaves the
/// choice open. A reader that uses (windows − 1) · stride + reach − 2 · padding takes the smallest one, and
/// addresses rows that are up to stride − 1 cells too short.
struct InputSizes {
  std::int64_t formula;   ///< what that reader derives; may be 0 or less
  std::int64_t smallest;  ///< 1 and more
  std::int64_t largest;

  [[nodiscard]] bool ambiguous() const { return smallest != largest; }
  /// "223 or 224; 223 is derived, so that the last row or column of 224 is lost".
  [[nodiscard]] std::string text() const;
};
/// Which sizes give `windows` windows under floor division; `window.size` is not read. Refuses where none does.
[[nodiscard]] Result<InputSizes> input_sizes(std::int64_t windows, const Window& window, std::string_view where,
                                             const ShapeRules& rules = {});

/// The input sizes with `windows` windows in any dialect, SAME padding among them: all from smallest to largest.
struct SizeRange {
  std::int64_t smallest;
  std::int64_t largest;

  /// "27 or 28", "5 to 8", "28, the only input size".
  [[nodiscard]] std::string text() const;
};
/// `window.size` is not read, `window.padding` must be 0 for SAME. Refuses where no size has that many. More input
/// never means fewer windows, so that the two ends are found by halving.
[[nodiscard]] Result<SizeRange> sizes_giving(std::int64_t windows, const Window& window, const WindowDialect& dialect,
                                             std::string_view where);

/// Cells [begin, end) of one bin of adaptive pooling.
struct Bin {
  std::int64_t begin;
  std::int64_t end;
};
enum class BinRounding : std::uint8_t {
  floor_ceil,  ///< PyTorch: begin = floor(i · size / bins), end = ceil((i + 1) · size / bins)
  floor_floor  ///< yishape-math: both rounded down; a bin may be empty
};
/// Bin `index` of `bins` over `size` cells.
[[nodiscard]] Result<Bin> adaptive_bin(std::int64_t size, std::int64_t bins, std::int64_t index, BinRounding rounding,
                                       std::string_view where, const ShapeRules& rules = {});

}  // namespace packcheck
