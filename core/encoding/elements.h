// core/encoding/elements.h: the elements of microscaling blocks, shared by microscaling.cc, mlx_microscaling.cc
// and nvfp4_tensor.cc.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "core/encoding/encoding.h"
#include "core/format/convert.h"

namespace packcheck {

[[nodiscard]] inline unsigned element_width(const ElementShape& shape) {
  return shape.integer ? 8U : static_cast<unsigned>(spec(shape.format).width());
}

/// The element for `number`, saturating. An integer is at most 127 of either sign; halves go to even unless
/// `rounding` says otherwise.
[[nodiscard]] unsigned element_of(const ElementShape& shape, CodeRounding rounding, double number);
/// The number of an element, exactly.
[[nodiscard]] double number_of_element(const ElementShape& shape, unsigned code);
/// The largest number of an element.
[[nodiscard]] double largest_element(const ElementShape& shape);

/// How far the nearest element may be from a number of magnitude `v`: half the spacing there, v itself where that
/// is less, and what lies above the largest.
[[nodiscard]] double element_error(const ElementShape& shape, double v);

/// The largest magnitude; NaN never wins.
[[nodiscard]] float largest_magnitude(std::span<const float> values);

/// An e4m3fn block scale, nearest even; above 448 as `overflow` says. A NaN becomes NaN.
[[nodiscard]] std::uint8_t e4m3fn_scale(ScaleOverflow overflow, float number);
[[nodiscard]] float number_of_e4m3fn(std::uint8_t code);

}  // namespace packcheck
