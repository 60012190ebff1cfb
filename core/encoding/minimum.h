// core/encoding/minimum.h: what encodings with a minimum share (q4_1, q5_1).
#pragma once

#include <limits>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

/// The least element of a block and the step of `steps` codes above it. Starts from the largest
/// singles and replaces by strict comparison, so that NaN never wins, as ggml does.
struct MinimumAndStep {
  float least;
  float step;

  static MinimumAndStep of(std::span<const float> values, float steps) {
    float least = std::numeric_limits<float>::max();
    float greatest = -std::numeric_limits<float>::max();
    for (const float value : values) {
      if (value < least) least = value;
      if (value > greatest) greatest = value;
    }
    return {least, (greatest - least) / steps};
  }
};

/// truncate(scaled + 1/2), at most `largest`; 0 where the cast is undefined.
inline unsigned code_above_minimum(const BlockRules& rules, float scaled, unsigned largest) {
  const float shifted = scaled + (rules.code == CodeRounding::truncate ? 0.0F : 0.5F);
  if (!(shifted >= 0.0F && shifted < 128.0F)) return 0;
  const auto code = static_cast<unsigned>(shifted);
  return code > largest ? largest : code;
}

}  // namespace packcheck
