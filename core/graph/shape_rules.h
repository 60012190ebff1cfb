// core/graph/shape_rules.h: the choices in which systems derive shapes differently, as data.
//
// A dialect says how one system counts windows; a row of the table in shape_infer.cc names it
// ("conv2d:java"). ShapeRules says what the reference does in every dialect: each default is right, each
// other value is a documented bug of a real system, for the faulty twins. Proved by
// tests/core/shape_window_test.cc, shape_infer_test.cc and the shape.* laws.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace packcheck {

/// Sizes of a tensor, outermost first; none for a scalar.
using Dimensions = std::vector<std::int64_t>;

/// How (padded size − reach) ÷ stride becomes a whole number. The count of windows is one more.
enum class Quotient : std::uint8_t {
  floor,            ///< toward minus infinity: whole windows only (PyTorch, ONNX)
  truncate,         ///< toward zero, as Java and C divide: −1 / 2 is 0, so a kernel too large counts once
  ceil,             ///< toward plus infinity: a last window may hang over the end, or lie beyond it
  ceil_last_inside  ///< ceil, but the last window must start inside the input or its left padding (PyTorch)
};

/// What a pooling stride of 0 means.
enum class ZeroStride : std::uint8_t {
  refused,
  kernel_height  ///< yishape-math: stride > 0 ? stride : kernel height, for both axes
};

/// Who says how many cells of padding there are.
enum class PaddingMode : std::uint8_t {
  given,       ///< the caller, the same number on both sides
  same_upper,  ///< as many as give ceil(size / stride) windows, an odd one at the end (ONNX, TensorFlow)
  same_lower   ///< the same with an odd one at the beginning
};

/// The largest padding that is allowed.
enum class PaddingLimit : std::uint8_t {
  any,
  half_kernel  ///< PyTorch's pooling: no window consists of padding alone
};

struct WindowDialect {
  Quotient quotient = Quotient::floor;
  ZeroStride zero_stride = ZeroStride::refused;
  PaddingMode padding = PaddingMode::given;
  PaddingLimit limit = PaddingLimit::any;
};

enum class DilationUse : std::uint8_t { used, ignored };
enum class PaddingSides : std::uint8_t { both, one };
enum class StridePlace : std::uint8_t { own, swapped_with_padding, height_and_width_swapped };
enum class WidthKernel : std::uint8_t { own, height };
enum class SizeArithmetic : std::uint8_t {
  exact,
  wraps_32,   ///< as a C int on most machines, or JavaScript's >> 0
  in_doubles  ///< past 2^53 every second integer is another (JavaScript; JSON numbers read as doubles)
};
enum class ExportedShape : std::uint8_t { output, input };
enum class InputSize : std::uint8_t { all_candidates, formula };
enum class SamePads : std::uint8_t { keep_sum, symmetric, other_side };
enum class GroupUse : std::uint8_t { divides_channels, ignored };
enum class BinEnd : std::uint8_t { declared, floor };
enum class ConcatAxis : std::uint8_t { declared, first };
enum class Alignment : std::uint8_t { last_axis, first_axis };
enum class ReducedAxes : std::uint8_t { declared, always_kept };
enum class MatmulOrder : std::uint8_t { declared, right_transposed };

/// What the reference does in every dialect.
struct ShapeRules {
  std::optional<Quotient> quotient = std::nullopt;  ///< in place of the dialect's; none: the dialect's
  std::optional<ZeroStride> zero_stride = std::nullopt;
  DilationUse dilation = DilationUse::used;
  PaddingSides padding = PaddingSides::both;
  StridePlace stride = StridePlace::own;
  WidthKernel width_kernel = WidthKernel::own;
  SizeArithmetic arithmetic = SizeArithmetic::exact;
  ExportedShape exported = ExportedShape::output;  ///< yishape-math: the input shape exported as the output shape
  InputSize input_size = InputSize::all_candidates;
  SamePads same_pads = SamePads::keep_sum;  ///< symmetric: each side gets half, rounded up (onnxruntime's JSEP)
  GroupUse groups = GroupUse::divides_channels;
  BinEnd bin_end = BinEnd::declared;
  ConcatAxis concat_axis = ConcatAxis::declared;
  Alignment alignment = Alignment::last_axis;
  ReducedAxes reduced_axes = ReducedAxes::declared;
  MatmulOrder matmul = MatmulOrder::declared;
  friend bool operator==(const ShapeRules&, const ShapeRules&) = default;
};

}  // namespace packcheck
