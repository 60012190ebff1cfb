// core/encoding/fast_blocks.h: whole runs of blocks as loops for the vectoriser, at the level of core/simd.h.
//
// The block functions of each family are the rule; a loop here stands for one of them under one set of
// BlockRules, and is taken only for rows with exactly that function and those rules, so that dialects and
// faulty twins go their own way. Blocks whose scale is infinite or NaN, and blocks of numbers where the order
// of comparisons shows, are handed to the block function. Proved by tests/core/fast_path_test.cc: every row
// of the tables below, at every level, against the block function. Callers hold an ExactEnvironment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/encoding/encoding.h"

namespace packcheck {

/// Decodes `count` blocks at `blocks` into count · block_size floats.
using DequantizeRun = void(const Encoding& encoding, const std::uint8_t* blocks, float* values, std::size_t count);
/// Encodes count · block_size floats into `count` blocks.
using QuantizeRun = void(const Encoding& encoding, const float* values, std::uint8_t* blocks, std::size_t count);

/// The fast form of a row's decoder at the level in use; null where there is none.
[[nodiscard]] DequantizeRun* fast_dequantizing(const Encoding& encoding);
/// The fast form of a row's quantizer at the level in use; null where there is none.
[[nodiscard]] QuantizeRun* fast_quantizing(const Encoding& encoding);

}  // namespace packcheck
