// core/affine: group-quantized weights (MLX affine layout), decoded.
//
// w[o][i] = scale[o][g]·q[o][i] + bias[o][g], g = i / group, both products rounded to f32 (the
// multiplication, then the addition; no FMA). Codes of 2, 3, 4, 5, 6 or 8 bits are a little-endian bit
// stream per row: element i at bits i·bits … of the row's bytes. Scales and biases have their own dtype
// (BF16 in most published models) and are widened exactly before they are used. The group size is what
// the shapes say: in_features / scale_columns. Blocks of weights, several rows high, may share a scale: then their size
// is declared, because shapes do not tell it where the last block is cut off; g becomes the block of o and i, and there
// are ceil(out_features / block_rows) · ceil(in_features / block_columns) scales. Source: MLX, mlx/ops.cpp and
// mlx/backend/cpu/quantized.cpp; of blocks: compressed-tensors (strategy "block") and the checkpoints with
// weight_block_size. Proved by affine.dequantize_reads_scales_in_their_dtype_and_group. What shapes alone tell:
// groups.h.
#pragma once

#include <cstdint>
#include <span>

#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

/// One weight matrix as a model file stores it.
struct AffineWeights {
  std::size_t out_features = 0;
  std::size_t in_features = 0;
  std::size_t scale_columns = 0;         ///< groups per row: the second dimension of `scales`
  Format scale_format = Format::bf16;    ///< dtype of `scales` and `biases`
  std::span<const std::uint8_t> codes;   ///< out_features rows of in_features · bits / 8 bytes
  std::span<const std::uint8_t> scales;  ///< out_features · scale_columns elements, row-major
  std::span<const std::uint8_t> biases;  ///< as scales
  unsigned bits = 4;                     ///< of a code
  std::size_t block_rows = 1;            ///< rows that share scales
  std::size_t block_columns = 0;         ///< features that share a scale; 0: in_features / scale_columns
};

enum class ScaleReading : std::uint8_t {
  own_format,   ///< the reference
  bytes_as_f32  ///< MarkBase before its fix: whatever the file holds is indexed as float32
};
enum class GroupReading : std::uint8_t {
  features_per_column,  ///< group = in_features / scale_columns
  scale_columns,        ///< MarkBase before its fix: group = scale_columns
  not_passed,           ///< its fallback kernel before its fix: no such argument; what is there, here 64
  minus_one             ///< one group a row, called -1, divides a kernel's 64 features: a stride of -64 (vLLM)
};
enum class BlockReading : std::uint8_t {
  declared,
  scale_shape,    ///< the shape of the scales is taken for that of a block (compressed-tensors)
  rows_per_scale  ///< ceil(rows / rows of scales), which is another number where the last block is cut off
};
enum class RowReading : std::uint8_t {
  own,
  first  ///< strides that are not passed are 0: every row reads the codes of the first (candle)
};
enum class CodeWidth : std::uint8_t {
  own,           ///< the tensor's
  global_4,      ///< one width for the whole model, though some tensors have another (Ollama)
  logical_dtype  ///< the codes' bytes are taken for float32 numbers, which the weights once were (TensorFlow.js)
};

struct AffineRules {
  ScaleReading scales = ScaleReading::own_format;
  GroupReading group = GroupReading::features_per_column;
  CodeWidth width = CodeWidth::own;
  BlockReading block = BlockReading::declared;
  RowReading row = RowReading::own;
  friend bool operator==(const AffineRules&, const AffineRules&) = default;
};

/// Decodes every weight into `out` (out_features · in_features floats, row-major).
/// Refuses shapes that disagree with the byte sizes, in_features that scale_columns does not divide (blocks: columns of
/// scales that are not ceil(in_features / block_columns)), block_rows of 0,
/// other code widths, rows that are no whole bytes, other dtypes of scales than bf16, f16 and f32, sizes that
/// overflow, and a scale index past the buffer.
[[nodiscard]] Result<void> affine_dequantize(const AffineWeights& weights, std::span<float> out,
                                             const AffineRules& rules = {});

}  // namespace packcheck
