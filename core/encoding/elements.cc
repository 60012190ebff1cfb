#include "core/encoding/elements.h"

#include <algorithm>
#include <cmath>

namespace packcheck {
namespace {

/// An integer element has this many fraction bits.
constexpr int kFractionBits = 6;

Rounding rounding_of(CodeRounding rounding) {
  if (rounding == CodeRounding::truncate) return Rounding::toward_zero;
  return rounding == CodeRounding::half_away ? Rounding::nearest_away : Rounding::nearest_even;
}

}  // namespace

unsigned element_of(const ElementShape& shape, CodeRounding rounding, double number) {
  if (!shape.integer)
    return static_cast<unsigned>(convert(Format::f64, shape.format, std::bit_cast<std::uint64_t>(number),
                                         {.rounding = rounding_of(rounding), .saturating = true}));
  const double scaled = std::ldexp(number, kFractionBits);
  double whole = std::nearbyint(scaled);
  if (rounding == CodeRounding::half_away) whole = std::round(scaled);
  if (rounding == CodeRounding::truncate) whole = std::trunc(scaled);
  return static_cast<unsigned>(static_cast<int>(std::clamp(whole, -127.0, 127.0))) & 0xFF;
}

double number_of_element(const ElementShape& shape, unsigned code) {
  if (shape.integer) return std::ldexp(static_cast<double>(static_cast<std::int8_t>(code)), -kFractionBits);
  return std::bit_cast<double>(convert(shape.format, Format::f64, code));
}

double largest_element(const ElementShape& shape) {
  return number_of_element(shape, shape.integer ? 127U : static_cast<unsigned>(spec(shape.format).largest_finite()));
}

double element_error(const ElementShape& shape, double v) {
  const double largest = largest_element(shape);
  if (v > largest) return v - largest;
  if (v == 0.0) return 0.0;
  if (shape.integer) return std::min(v, std::ldexp(1.0, -kFractionBits - 1));
  const FormatSpec& s = spec(shape.format);
  return std::min(v, std::ldexp(1.0, std::max(std::ilogb(v), 1 - s.bias()) - s.significand_bits - 1));
}

float largest_magnitude(std::span<const float> values) {
  float largest = 0.0F;
  for (const float x : values)
    if (largest < std::fabs(x)) largest = std::fabs(x);
  return largest;
}

std::uint8_t e4m3fn_scale(ScaleOverflow overflow, float number) {
  return static_cast<std::uint8_t>(convert(Format::f32, Format::e4m3fn, std::bit_cast<std::uint32_t>(number),
                                           {.saturating = overflow == ScaleOverflow::saturates}));
}

float number_of_e4m3fn(std::uint8_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(Format::e4m3fn, Format::f32, code)));
}

}  // namespace packcheck
