// core/affine/groups.h: what shapes tell about weights packed in groups, and what happens to a reader that
// takes them for something else.
//
// A matrix of packed words [out, words] (32 bits each) and its scales [out, columns] fix bits · group alone:
// 32·words/columns. Often several pairs fit, (4,64), (8,32) and (2,128) for one, and only the model's
// configuration tells. Source of the allowed widths and groups: MLX, mlx/ops.cpp (validate_quantized_input).
// Proved by tests/core/affine_shapes_test.cc: every choice against a search over all of them, and the
// misreadings against a walk over every index.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/format/format.h"

namespace packcheck {

inline constexpr std::array<unsigned, 6> kAffineWidths{2, 3, 4, 5, 6, 8};
inline constexpr std::array<unsigned, 3> kAffineGroups{32, 64, 128};
[[nodiscard]] bool is_affine_width(unsigned bits);

/// One way to read a packed matrix.
struct GroupChoice {
  unsigned bits;
  unsigned group;
  std::uint64_t in_features;  ///< group · columns = 32 · words / bits

  friend bool operator==(const GroupChoice&, const GroupChoice&) = default;
};

/// Every pair of MLX's widths and groups that the shapes allow, by width. Both shapes are row-major with the
/// words or columns last; what comes before must be equal. None: shapes that do not go together, no columns, and
/// bits · group that no pair has.
[[nodiscard]] std::vector<GroupChoice> group_choices(std::span<const std::uint64_t> weight_shape,
                                                     std::span<const std::uint64_t> scales_shape);

/// How a kernel walks over scales: row o reads `reads` of them from o · stride.
struct ScaleWalk {
  std::uint64_t rows;
  std::uint64_t stride;
  std::uint64_t reads;
  std::uint64_t capacity;  ///< scales that the buffer holds, as the kernel counts them
};
/// The first row that reads past the buffer; `rows` where none does.
[[nodiscard]] std::uint64_t first_row_out_of_bounds(const ScaleWalk& walk);

/// Scales of a narrower format indexed as float32: as many bytes hold fewer of them.
[[nodiscard]] ScaleWalk read_as_f32(std::uint64_t rows, std::uint64_t columns, Format format);
/// The number of scale columns taken for the group size: a kernel derives in_features / columns scales per row.
/// `capacity` as above; columns is at least 1 and at most in_features.
[[nodiscard]] ScaleWalk read_columns_as_group(std::uint64_t rows, std::uint64_t in_features, std::uint64_t columns,
                                              std::uint64_t capacity);

/// Rows `begin` to `end` (excluded) of which any scale, read as float32, is another number than its own. `scales` holds
/// rows of `columns` elements of `format`.
[[nodiscard]] std::uint64_t rows_wrong_as_f32(std::span<const std::uint8_t> scales, Format format,
                                              std::uint64_t columns, std::uint64_t begin, std::uint64_t end);

}  // namespace packcheck
