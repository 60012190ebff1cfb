// core/encoding/scale.h: how a block's f32 scale is stored as a half, and scales are read back.
#pragma once

#include <bit>
#include <cstdint>

#include "core/encoding/encoding.h"
#include "core/format/convert.h"
#include "core/format/dialect.h"

namespace packcheck {

inline void store_scale(ScaleRule rule, float scale, std::uint8_t* at) {
  const ConvertRules rules = rule == ScaleRule::skainet_private ? kSkainetPrivateHalf : ConvertRules{};
  const std::uint64_t half = convert(Format::f32, Format::f16, std::bit_cast<std::uint32_t>(scale), rules);
  at[0] = static_cast<std::uint8_t>(half);
  at[1] = static_cast<std::uint8_t>(half >> 8);
}

inline float load_scale(const std::uint8_t* at) {
  const std::uint64_t half = static_cast<std::uint64_t>(at[0] | at[1] << 8);
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(Format::f16, Format::f32, half)));
}

inline void store_single(float scale, std::uint8_t* at) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(scale);
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(bits >> 8 * i);
}

/// A scale stored as a single.
inline float load_single(const std::uint8_t* at) {
  std::uint32_t bits = 0;
  for (int i = 3; i >= 0; --i) bits = bits << 8 | at[i];
  return std::bit_cast<float>(bits);
}

}  // namespace packcheck
