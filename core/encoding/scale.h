// core/encoding/scale.h: how a block's f32 scale is stored as a half, and scales are read back.
#pragma once

#include <bit>
#include <cstdint>

#include "core/encoding/encoding.h"
#include "core/format/convert.h"

namespace packcheck {

/// SKaiNET's Q4_0Quantizer half encoder: ties away from zero, subnormal results truncated,
/// everything from 65520 up and NaN to infinity (facts: seed-systems 1.1).
inline std::uint16_t skainet_private_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t fraction = bits & 0x7FFFFF;
  const int exponent = static_cast<int>(bits >> 23 & 0xFF) - 127 + 15;
  if (exponent >= 31) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (exponent < -10) return static_cast<std::uint16_t>(sign);
  if (exponent <= 0) return static_cast<std::uint16_t>(sign | (fraction | 0x800000) >> (14 - exponent));
  const std::uint32_t kept = (static_cast<std::uint32_t>(exponent) << 10 | fraction >> 13) + (fraction >> 12 & 1);
  return static_cast<std::uint16_t>(sign | kept);
}

inline void store_scale(ScaleRule rule, float scale, std::uint8_t* at) {
  const std::uint16_t half =
      rule == ScaleRule::skainet_private
          ? skainet_private_half(scale)
          : static_cast<std::uint16_t>(convert(Format::f32, Format::f16, std::bit_cast<std::uint32_t>(scale)));
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
