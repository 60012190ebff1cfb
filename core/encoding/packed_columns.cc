#include "core/encoding/packed_columns.h"

#include <array>

#include "core/encoding/scale.h"

namespace packcheck {
namespace {

constexpr std::size_t kRows = 32;
constexpr std::size_t kColumns = 8;
constexpr std::size_t kZeros = kRows * kColumns / 2;
constexpr std::size_t kScales = kZeros + 4;

/// The column of each nibble of a word, from the low end.
constexpr std::array<std::size_t, kColumns> kEvenThenOdd{0, 2, 4, 6, 1, 3, 5, 7};

std::uint32_t word_at(const std::uint8_t* bytes, std::size_t index) {
  return load_little_endian<std::uint32_t>(bytes + 4 * index);
}

/// The codes of a word whose nibbles are columns, by column.
std::array<int, kColumns> columns_of(ColumnOrder order, std::uint32_t word) {
  std::array<int, kColumns> codes{};
  for (std::size_t i = 0; i < kColumns; ++i)
    codes[order == ColumnOrder::even_then_odd ? kEvenThenOdd[i] : i] = static_cast<int>(word >> 4 * i & 15);
  return codes;
}

struct Columns {
  std::array<int, kColumns> zeros{};
  std::array<float, kColumns> scales{};

  Columns(const BlockRules& rules, const std::uint8_t* block)
      : zeros(columns_of(rules.columns, word_at(block + kZeros, 0))) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      if (rules.zero == ZeroPoint::one_less) ++zeros[c];
      scales[c] = load_scale(block + kScales + 2 * c);
    }
  }
  [[nodiscard]] float value(std::size_t column, int code) const {
    return static_cast<float>(code - zeros[column]) * scales[column];
  }
};

}  // namespace

[[gnu::noinline]] bool gptq_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const Columns columns(rules, block);
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t c = 0; c < kColumns; ++c)
      values[row * kColumns + c] =
          columns.value(c, static_cast<int>(word_at(block, row / 8 * kColumns + c) >> row % 8 * 4 & 15));
  return true;
}

[[gnu::noinline]] bool awq_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const Columns columns(rules, block);
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::array<int, kColumns> codes = columns_of(rules.columns, word_at(block, row));
    for (std::size_t c = 0; c < kColumns; ++c) values[row * kColumns + c] = columns.value(c, codes[c]);
  }
  return true;
}

}  // namespace packcheck
