// The block oracle's GPTQ and AWQ blocks: 32 rows by 8 columns, codes, zero points, scales.
#include <array>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

/// Where AWQ keeps each column of a word.
constexpr std::array<std::size_t, 8> kAwqPlaces{0, 4, 1, 5, 2, 6, 3, 7};

/// Nibble `place` of the 32-bit word at `byte`, from the low end.
int nibble(Block block, std::size_t byte, std::size_t place) {
  const int both = block[byte + place / 2];
  return place % 2 == 0 ? both % 16 : both / 16;
}

void dequantize_gptq(Block block, double* values, int zero_more) {
  for (std::size_t column = 0; column < 8; ++column)
    for (std::size_t row = 0; row < 32; ++row)
      values[row * 8 + column] =
          (nibble(block, 32 * (row / 8) + 4 * column, row % 8) - nibble(block, 128, column) - zero_more) *
          half_at(block, 132 + 2 * column);
}
void dequantize_gptq_v1(Block block, double* values) { dequantize_gptq(block, values, 1); }
void dequantize_gptq_v2(Block block, double* values) { dequantize_gptq(block, values, 0); }

void dequantize_awq(Block block, double* values) {
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t column = 0; column < 8; ++column)
      values[row * 8 + column] = (nibble(block, 4 * row, kAwqPlaces[column]) - nibble(block, 128, kAwqPlaces[column])) *
                                 half_at(block, 132 + 2 * column);
}

constexpr std::array<BlockFamily, 3> kFamilies{{{"gptq_int4:v1", 256, 148, nullptr, dequantize_gptq_v1, {128, 4, 16}},
                                                {"gptq_int4:v2", 256, 148, nullptr, dequantize_gptq_v2, {128, 4, 16}},
                                                {"awq_int4:gemm", 256, 148, nullptr, dequantize_awq, {128, 4, 16}}}};

}  // namespace

std::span<const BlockFamily> column_families() { return kFamilies; }

}  // namespace packcheck::oracle
