// core/storage/decode.h: the numbers of stored bytes, moved or decoded without losing any.
//
// Between dense formats a number is moved: its value, a NaN's sign and payload, -0.0 stay, and moving it back gives
// the bits that were there, or it is refused. A block is decoded as its dialect decodes it. Proved by
// tests/core/change_encoding_test.cc and the storage.* laws.
#pragma once

#include <span>
#include <string_view>

#include "core/storage/storage_encoding.h"
#include "core/storage/storage_rules.h"

namespace packcheck {

/// Whether every code of `from` survives a move to `to` and back bit for bit. Found by moving all codes where there
/// are at most 2^16; of the wider formats f32 and i32 survive in f64, and each in itself.
[[nodiscard]] bool holds_every_value(Format from, Format to);

/// Moves an array of whole elements. Refuses the first that does not survive, by index and bits, in `speaker`'s name.
[[nodiscard]] Result<std::vector<std::uint8_t>> move_elements(Format from, Format to,
                                                              std::span<const std::uint8_t> elements,
                                                              std::string_view speaker, const StorageRules& rules = {});

/// The numbers as little-endian f32, from `bytes` in the order of gather(). Bit for bit what the dialect's decoder
/// gives; for a dense encoding, whose every number an f32 must hold, moved.
[[nodiscard]] Result<std::vector<std::uint8_t>> decode_f32(const StorageEncoding& encoding,
                                                           std::span<const std::uint8_t> bytes,
                                                           std::string_view speaker, const StorageRules& rules = {});

/// Encodes f32 values, the inverse of decode_f32() but for what the encoding loses. The row has a quantizer.
[[nodiscard]] Result<std::vector<std::uint8_t>> encode_f32(const Encoding& row, std::span<const std::uint8_t> singles,
                                                           const StorageRules& rules = {});

}  // namespace packcheck
