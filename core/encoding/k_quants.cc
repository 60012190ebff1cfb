#include "core/encoding/k_quants.h"

#include "core/encoding/scale.h"

namespace packcheck {
namespace {
constexpr unsigned kBlock = 256;

/// Where element e is: half of the block, quarter of the half, column.
struct Place {
  unsigned half;
  unsigned quarter;
  unsigned column;
};
constexpr Place place_of(unsigned e) { return {e / 128, e % 128 / 32, e % 32}; }

int two_bits(unsigned byte, unsigned at) { return static_cast<int>(byte >> at & 3); }
int nibble(unsigned byte, unsigned which) { return static_cast<int>(byte >> 4 * which & 15); }

/// Sub-block `i` (0..15) of q3_K, still with its offset of 32.
int scale_of_16(const std::uint8_t* bytes, unsigned i) {
  return nibble(bytes[i % 8], i / 8) | two_bits(bytes[8 + i % 4], 2 * (i / 4)) << 4;
}

struct ScaleAndMinimum {
  int scale;
  int minimum;
};

/// Sub-block `i` (0..7) of q4_K and q5_K.
ScaleAndMinimum scale_of_8(const std::uint8_t* bytes, unsigned i) {
  if (i < 4) return {bytes[i] & 63, bytes[i + 4] & 63};
  return {nibble(bytes[i + 4], 0) | bytes[i - 4] >> 6 << 4, nibble(bytes[i + 4], 1) | bytes[i] >> 6 << 4};
}

/// value = (d·scale)·code - dmin·minimum, in this order.
float affine(float d, float dmin, ScaleAndMinimum s, int code) {
  return d * static_cast<float>(s.scale) * static_cast<float>(code) - dmin * static_cast<float>(s.minimum);
}

}  // namespace

[[gnu::noinline]] bool q2_k_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float d = load_scale(block + 80);
  const float dmin = load_scale(block + 82);
  for (unsigned e = 0; e < kBlock; ++e) {
    const auto [half, quarter, column] = place_of(e);
    const unsigned scales = block[e / 16];
    const int code = two_bits(block[16 + 32 * half + column], 2 * quarter);
    values[e] = affine(d, dmin, {nibble(scales, 0), nibble(scales, 1)}, code);
  }
  return true;
}

[[gnu::noinline]] bool q3_k_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float d = load_scale(block + 108);
  for (unsigned e = 0; e < kBlock; ++e) {
    const auto [half, quarter, column] = place_of(e);
    const bool masked = (block[column] >> (4 * half + quarter) & 1) != 0;
    const int code = two_bits(block[32 + 32 * half + column], 2 * quarter) - (masked ? 0 : 4);
    values[e] = d * static_cast<float>(scale_of_16(block + 96, e / 16) - 32) * static_cast<float>(code);
  }
  return true;
}

[[gnu::noinline]] bool q4_k_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float d = load_scale(block);
  const float dmin = load_scale(block + 2);
  for (unsigned e = 0; e < kBlock; ++e) {
    const int code = nibble(block[16 + 32 * (e / 64) + e % 32], e / 32 % 2);
    values[e] = affine(d, dmin, scale_of_8(block + 4, e / 32), code);
  }
  return true;
}

[[gnu::noinline]] bool q5_k_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float d = load_scale(block);
  const float dmin = load_scale(block + 2);
  for (unsigned e = 0; e < kBlock; ++e) {
    const int fifth = block[16 + e % 32] >> (e / 32) & 1;
    const int code = nibble(block[48 + 32 * (e / 64) + e % 32], e / 32 % 2) | fifth << 4;
    values[e] = affine(d, dmin, scale_of_8(block + 4, e / 32), code);
  }
  return true;
}

[[gnu::noinline]] bool q6_k_dequantize_block(const BlockRules&, const std::uint8_t* block, float* values) {
  const float d = load_scale(block + 208);
  for (unsigned e = 0; e < kBlock; ++e) {
    const auto [half, quarter, column] = place_of(e);
    const int low = nibble(block[64 * half + 32 * (quarter % 2) + column], quarter / 2);
    const int code = (low | two_bits(block[128 + 32 * half + column], 2 * quarter) << 4) - 32;
    const auto scale = static_cast<std::int8_t>(block[192 + e / 16]);
    values[e] = d * static_cast<float>(scale) * static_cast<float>(code);
  }
  return true;
}

}  // namespace packcheck
