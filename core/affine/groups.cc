#include "core/affine/groups.h"

#include <algorithm>

#include "core/format/convert.h"

namespace packcheck {

bool is_affine_width(unsigned bits) {
  return std::find(kAffineWidths.begin(), kAffineWidths.end(), bits) != kAffineWidths.end();
}

std::vector<GroupChoice> group_choices(std::span<const std::uint64_t> weight_shape,
                                       std::span<const std::uint64_t> scales_shape) {
  std::vector<GroupChoice> choices;
  if (weight_shape.empty() || weight_shape.size() != scales_shape.size()) return choices;
  if (!std::equal(weight_shape.begin(), weight_shape.end() - 1, scales_shape.begin())) return choices;
  const std::uint64_t words = weight_shape.back();
  const std::uint64_t columns = scales_shape.back();
  std::uint64_t row_bits = 0;
  if (words == 0 || columns == 0 || __builtin_mul_overflow(words, std::uint64_t{32}, &row_bits)) return choices;
  if (row_bits % columns != 0) return choices;
  for (const unsigned bits : kAffineWidths)
    for (const unsigned group : kAffineGroups)
      if (row_bits / columns == std::uint64_t{bits} * group) choices.push_back({bits, group, columns * group});
  return choices;
}

std::uint64_t first_row_out_of_bounds(const ScaleWalk& walk) {
  if (walk.reads == 0) return walk.rows;
  if (walk.reads > walk.capacity) return 0;
  if (walk.stride == 0) return walk.rows;
  return std::min(walk.rows, (walk.capacity - walk.reads) / walk.stride + 1);
}

ScaleWalk read_as_f32(std::uint64_t rows, std::uint64_t columns, Format format) {
  // rows · columns scales exist, so that neither product overflows.
  return {rows, columns, columns, rows * columns * spec(format).bytes() / sizeof(float)};
}

ScaleWalk read_columns_as_group(std::uint64_t rows, std::uint64_t in_features, std::uint64_t columns,
                                std::uint64_t capacity) {
  return {rows, in_features / columns, (in_features - 1) / columns + 1, capacity};
}

std::uint64_t rows_wrong_as_f32(std::span<const std::uint8_t> scales, Format format, std::uint64_t columns,
                                std::uint64_t begin, std::uint64_t end) {
  const FormatSpec& single = spec(Format::f32);
  std::uint64_t wrong = 0;
  for (std::uint64_t row = begin; row < end; ++row) {
    for (std::uint64_t i = row * columns; i < (row + 1) * columns; ++i) {
      const std::uint64_t own = convert(format, Format::f32, load_element(spec(format), scales, i));
      if (own == load_element(single, scales, i)) continue;
      ++wrong;
      break;
    }
  }
  return wrong;
}

}  // namespace packcheck
