// core/graph/shape_arithmetic.h: sums and products of sizes that do not overflow. For the .cc files of
// the shape rules alone.
#pragma once

#include <cstdint>

#include "core/graph/shape_rules.h"

namespace packcheck {

/// Holds any product of two int64 numbers, and the sum of a few.
using Wide = __int128;

/// `value` as the rules' arithmetic keeps it: exactly, the low 32 bits, or the double nearest to it.
[[nodiscard]] inline Wide in_width(Wide value, const ShapeRules& rules) {
  if (rules.arithmetic == SizeArithmetic::exact) return value;
  if (rules.arithmetic == SizeArithmetic::in_doubles) return static_cast<Wide>(static_cast<double>(value));
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<unsigned __int128>(value)));
}

}  // namespace packcheck
