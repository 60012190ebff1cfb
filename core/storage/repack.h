// core/storage/repack.h: change the encoding of stored numbers without changing a single value.
//
// Widening only: dense f16 or bf16 to dense f32. It is a move of bits, so a signalling NaN keeps its
// payload and narrowing back gives the bytes that were there. Everything else is refused and names
// requantize_to, the only door through which precision may be lost. Proved by
// storage.repack_keeps_every_value over all 2^16 patterns of each source.
#pragma once

#include <cstdint>
#include <span>

#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

enum class RepackPath : std::uint8_t {
  direct,       ///< the reference
  through_bf16  ///< the faulty path: f16 goes through bf16 and loses three bits
};

/// Whether `from` can be repacked to `to`; the error names requantize_to.
[[nodiscard]] Result<void> check_repack(Format from, Format to);

/// Repacks a dense array. Refuses before reading a byte when check_repack does.
[[nodiscard]] Result<void> repack_dense(Format from, Format to, std::span<const std::uint8_t> in,
                                        std::span<std::uint8_t> out, RepackPath path = RepackPath::direct);

}  // namespace packcheck
