// The block oracle's k-quants, decoded by walking the code bytes in storage order and putting each of
// their codes where it belongs. Products are exact in double; a difference of two is exact as well (both are
// multiples of 2^-24 below 2^28), and is rounded to f32 once, as the rule does.
#include <array>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

/// d·scale·code - dmin·minimum for the codes of sub-blocks of one size.
struct Affine {
  double d;
  double dmin;
  std::array<int, 16> scales{};
  std::array<int, 16> minima{};

  [[nodiscard]] double value(std::size_t sub_block, int code) const {
    return d * scales[sub_block] * code - dmin * minima[sub_block];
  }
};

void dequantize_q2_k(Block block, double* values) {
  Affine affine{half_at(block, 80), half_at(block, 82)};
  for (std::size_t i = 0; i < 16; ++i) {
    affine.scales[i] = block[i] % 16;
    affine.minima[i] = block[i] / 16;
  }
  for (std::size_t b = 0; b < 64; ++b) {
    int byte = block[16 + b];
    for (std::size_t e = b / 32 * 128 + b % 32; e < b / 32 * 128 + 128; e += 32, byte /= 4)
      values[e] = affine.value(e / 16, byte % 4);
  }
}

/// The 16 6-bit scales of q3_K: twelve bytes, as a table of four rows of four low nibbles and two high bits.
std::array<int, 16> q3_scales(Block packed) {
  std::array<int, 16> scales{};
  for (std::size_t i = 0; i < 8; ++i) {
    scales[i] = packed[i] % 16;
    scales[i + 8] = packed[i] / 16;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    int byte = packed[8 + i];
    for (std::size_t s = i; s < 16; s += 4, byte /= 4) scales[s] += 16 * (byte % 4);
  }
  for (int& scale : scales) scale -= 32;
  return scales;
}

void dequantize_q3_k(Block block, double* values) {
  const std::array<int, 16> scales = q3_scales(block.subspan(96, 12));
  const double d = half_at(block, 108);
  for (std::size_t b = 0; b < 64; ++b) {
    int byte = block[32 + b];
    int mask = b < 32 ? block[b % 32] % 16 : block[b % 32] / 16;
    for (std::size_t e = b / 32 * 128 + b % 32; e < b / 32 * 128 + 128; e += 32, byte /= 4, mask /= 2)
      values[e] = d * scales[e / 16] * (mask % 2 == 1 ? byte % 4 : byte % 4 - 4);
  }
}

/// Scales and minima of q4_K and q5_K: 12 bytes; the last four sub-blocks borrow the top bits of the first eight bytes.
Affine q4_scales(Block block) {
  Affine affine{half_at(block, 0), half_at(block, 2)};
  for (std::size_t i = 0; i < 4; ++i) {
    const int first = block[4 + i];
    const int second = block[8 + i];
    const int third = block[12 + i];
    affine.scales[i] = first % 64;
    affine.minima[i] = second % 64;
    affine.scales[i + 4] = third % 16 + first / 64 * 16;
    affine.minima[i + 4] = third / 16 + second / 64 * 16;
  }
  return affine;
}

void dequantize_q4_k(Block block, double* values) {
  const Affine affine = q4_scales(block);
  for (std::size_t b = 0; b < 128; ++b) {
    const int byte = block[16 + b];
    const std::size_t e = b / 32 * 64 + b % 32;
    values[e] = affine.value(e / 32, byte % 16);
    values[e + 32] = affine.value(e / 32 + 1, byte / 16);
  }
}

void dequantize_q5_k(Block block, double* values) {
  const Affine affine = q4_scales(block);
  for (std::size_t l = 0; l < 32; ++l) {
    int fifths = block[16 + l];
    for (std::size_t run = 0; run < 4; ++run, fifths /= 4) {
      const int byte = block[48 + 32 * run + l];
      values[64 * run + l] = affine.value(2 * run, byte % 16 + fifths % 2 * 16);
      values[64 * run + 32 + l] = affine.value(2 * run + 1, byte / 16 + fifths / 2 % 2 * 16);
    }
  }
}

void dequantize_q6_k(Block block, double* values) {
  const double d = half_at(block, 208);
  for (std::size_t b = 0; b < 64; ++b) {  // byte b of the high bits
    const std::size_t half = b / 32;
    const std::size_t l = b % 32;
    const std::array<int, 4> low{block[64 * half + l] % 16, block[64 * half + 32 + l] % 16, block[64 * half + l] / 16,
                                 block[64 * half + 32 + l] / 16};
    int high = block[128 + b];
    for (std::size_t k = 0; k < 4; ++k, high /= 4) {
      const std::size_t e = 128 * half + 32 * k + l;
      values[e] = d * signed_byte(block[192 + e / 16]) * (low[k] + high % 4 * 16 - 32);
    }
  }
}

constexpr std::array<BlockFamily, 5> kFamilies{{{"q2_K:ggml", 256, 84, nullptr, dequantize_q2_k},
                                                {"q3_K:ggml", 256, 110, nullptr, dequantize_q3_k},
                                                {"q4_K:ggml", 256, 144, nullptr, dequantize_q4_k},
                                                {"q5_K:ggml", 256, 176, nullptr, dequantize_q5_k},
                                                {"q6_K:ggml", 256, 210, nullptr, dequantize_q6_k}}};

}  // namespace

std::span<const BlockFamily> k_families() { return kFamilies; }

}  // namespace packcheck::oracle
