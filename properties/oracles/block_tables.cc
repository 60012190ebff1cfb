// The block oracle's encodings by table: 4-bit floats (mxfp4, nvfp4) and 4-bit indices (iq4_nl, iq4_xs).
#include <array>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

/// The value of a 4-bit float: sign, two exponent bits (bias 1), one fraction bit. Code 8 is ggml's +0.
double fp4_value(int code) {
  const int exponent = code / 2 % 4;
  const double magnitude = exponent == 0 ? 0.5 * (code % 2) : std::ldexp(1.0 + 0.5 * (code % 2), exponent - 1);
  return code > 8 ? -magnitude : magnitude;
}

/// ggml multiplies twice the value by half the scale, f32 both; the product is exact unless it overflows.
double fp4_product(int code, double scale) { return times(2.0 * fp4_value(code), 0.5 * scale); }

double exponent_scale(int byte) { return std::ldexp(1.0, byte - 127); }

int nearest_fp4(double x, double scale) {
  int best = 0;
  for (int code = 1; code < 16; ++code) {
    const double error = std::fabs(plus(fp4_product(code, scale), -x));
    if (error < std::fabs(plus(fp4_product(best, scale), -x))) best = code;
  }
  return best;
}

void quantize_mxfp4(std::span<const float> x, BlockWriter block) {
  float largest = 0.0F;
  for (const float v : x)
    if (std::fabs(v) > largest) largest = std::fabs(v);
  int byte = 0;
  if (largest > 0.0F) {
    const float exponent = std::floor(std::log2(largest)) + 125.0F;
    if (!(exponent > -1.0F && exponent < 256.0F)) return;  // (uint8_t) of it is undefined, and all codes with it
    byte = static_cast<int>(exponent);
  }
  block.set(0, static_cast<unsigned>(byte));
  const auto code = [&](float v) { return nearest_fp4(static_cast<double>(v), exponent_scale(byte)); };
  for (std::size_t j = 0; j < 16; ++j) block.set(1 + j, static_cast<unsigned>(code(x[j]) + 16 * code(x[j + 16])));
}

void dequantize_mxfp4(Block block, double* values) {
  const double scale = exponent_scale(block[0]);
  for (std::size_t j = 0; j < 16; ++j) {
    values[j] = fp4_product(block[1 + j] % 16, scale);
    values[j + 16] = fp4_product(block[1 + j] / 16, scale);
  }
}

/// An unsigned float of 4 exponent bits (bias 7) and 3 fraction bits. 127 is 0; 255 is not.
double ue4m3_value(int byte) {
  if (byte == 127) return 0.0;
  const int exponent = byte / 8 % 16;
  return exponent == 0 ? std::ldexp(byte % 8, -9) : std::ldexp(8 + byte % 8, exponent - 10);
}

void dequantize_nvfp4(Block block, double* values) {
  for (std::size_t b = 0; b < 32; ++b) {
    const double scale = ue4m3_value(block[b / 8]);
    values[b / 8 * 16 + b % 8] = fp4_product(block[4 + b] % 16, scale);
    values[b / 8 * 16 + b % 8 + 8] = fp4_product(block[4 + b] / 16, scale);
  }
}

constexpr std::array<int, 8> kNegative{-127, -104, -83, -65, -49, -35, -22, -10};
constexpr std::array<int, 8> kPositive{1, 13, 25, 38, 53, 69, 89, 113};
int iq4_value(unsigned index) { return index < 8 ? kNegative[index] : kPositive[index - 8]; }

void dequantize_iq4_nl(Block block, double* values) {
  const double d = half_at(block, 0);
  for (std::size_t j = 0; j < 16; ++j) {
    values[j] = d * iq4_value(block[2 + j] % 16U);
    values[j + 16] = d * iq4_value(block[2 + j] / 16U);
  }
}

void dequantize_iq4_xs(Block block, double* values) {
  int high = block[2] + 256 * block[3];
  for (std::size_t i = 0; i < 8; ++i, high /= 4) {
    const int low = i % 2 == 0 ? block[4 + i / 2] % 16 : block[4 + i / 2] / 16;
    const double scale = half_at(block, 0) * (low + high % 4 * 16 - 32);
    for (std::size_t j = 0; j < 16; ++j) {
      const unsigned byte = block[8 + 16 * i + j];
      values[32 * i + j] = scale * iq4_value(byte % 16);
      values[32 * i + 16 + j] = scale * iq4_value(byte / 16);
    }
  }
}

constexpr std::array<BlockFamily, 4> kFamilies{{{"iq4_nl:ggml", 32, 18, nullptr, dequantize_iq4_nl},
                                                {"iq4_xs:ggml", 256, 136, nullptr, dequantize_iq4_xs},
                                                {"mxfp4:ggml", 32, 17, quantize_mxfp4, dequantize_mxfp4},
                                                {"nvfp4:ggml", 64, 36, nullptr, dequantize_nvfp4}}};

}  // namespace

std::span<const BlockFamily> table_families() { return kFamilies; }

}  // namespace packcheck::oracle
