// core/encoding/code_rounding.h: how a scaled number becomes an integer, where families share the rule.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/encoding/encoding.h"

namespace packcheck {

/// An integer near `scaled`; NaN and infinities stay. Needs rounding to nearest even (ExactEnvironment).
inline float rounded_code(CodeRounding rounding, float scaled) {
  switch (rounding) {
    case CodeRounding::half_away: return std::round(scaled);
    case CodeRounding::half_up: return static_cast<float>(std::floor(static_cast<double>(scaled) + 0.5));
    case CodeRounding::half_even: return std::nearbyint(scaled);
    case CodeRounding::truncate: return std::trunc(scaled);
  }
  return scaled;
}

/// Kotlin's Float.toInt of an integer: NaN gives 0, the rest saturates.
inline std::int32_t saturated_int(float integer) {
  if (std::isnan(integer)) return 0;
  if (integer >= 0x1p31F) return std::numeric_limits<std::int32_t>::max();
  if (integer < -0x1p31F) return std::numeric_limits<std::int32_t>::min();
  return static_cast<std::int32_t>(integer);
}

}  // namespace packcheck
