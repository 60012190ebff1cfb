// core/audit/block_statistics.h: what the bytes of a block-encoded tensor say. See element_statistics.h.
#pragma once

#include "core/audit/element_statistics.h"
#include "core/encoding/encoding.h"

namespace packcheck {

/// Of a tensor in one block encoding. A position is the number of a block.
struct BlockStatistics {
  std::uint64_t blocks = 0;
  // Scales and minima that are floats; scales that are integers of a few bits are codes here.
  Occurrences scale_nan;
  Occurrences scale_infinite;  ///< overflow: a half past 65504, for one
  Occurrences scale_subnormal;
  Occurrences scale_zero;
  std::uint64_t largest_scale = 0;          ///< magnitude bits, finite; 0 where there is none but zeros
  std::uint64_t smallest_scale = kNowhere;  ///< magnitude bits, finite and not zero; kNowhere where there is none
  /// Blocks whose numbers are all zeros: by their scales, or because their codes are alike and mean zero. A block
  /// of a K-quant of which a part is zero by its sub-scales and another by its codes is not among them.
  Occurrences zero_blocks;
  /// Blocks whose scales are zero and whose codes are not those of zeros: their numbers were too small for the
  /// scale (underflow). Only of encodings with one scale and a code for zero.
  Occurrences lost_blocks;
  /// Codes (tq1_0: bytes) that no quantizer of the format writes: -128 of q8_0 and q8_1, the fourth code of tq2_0
  /// and q2_0, bytes of tq1_0 that are no ceil(number·256/243). Decoders disagree about some.
  Occurrences foreign_codes;

  friend bool operator==(const BlockStatistics&, const BlockStatistics&) = default;
};

/// Whether blocks of this encoding can be looked at: those whose bytes lie together.
[[nodiscard]] bool has_block_statistics(const Encoding& encoding);
/// The format of its floating scales; f16 where there are none.
[[nodiscard]] Format scale_format_of(const Encoding& encoding);

/// Adds the blocks of `bytes`, which follow those already in `statistics`. Bytes after the last whole block
/// are not looked at. The encoding must have statistics.
void add_blocks(const Encoding& encoding, std::span<const std::uint8_t> bytes, BlockStatistics& statistics);

}  // namespace packcheck
