// core/encoding/bit_stream.h: codes of 1 to 8 bits in a run of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

/// The first bit of element `index`, counted from the lowest bit of the first byte.
inline std::size_t bit_of_element(BitPacking packing, unsigned width, std::size_t index) {
  if (packing == BitPacking::stream) return index * width;
  const std::size_t in_word = 32 / width;
  return index / in_word * 32 + index % in_word * width;
}

/// Adds the `width` bits of `code` at bit `first`, which are 0 before; bits past the end are lost.
inline void put_code(std::span<std::uint8_t> bytes, std::size_t first, unsigned code) {
  const unsigned shifted = code << first % 8;
  if (first / 8 < bytes.size()) bytes[first / 8] |= static_cast<std::uint8_t>(shifted);
  if (first / 8 + 1 < bytes.size()) bytes[first / 8 + 1] |= static_cast<std::uint8_t>(shifted >> 8);
}

/// The code of `width` bits at bit `first`; bits past the end are 0.
inline unsigned code_at(std::span<const std::uint8_t> bytes, std::size_t first, unsigned width) {
  unsigned both = first / 8 < bytes.size() ? bytes[first / 8] : 0U;
  if (first / 8 + 1 < bytes.size()) both |= static_cast<unsigned>(bytes[first / 8 + 1]) << 8;
  return both >> first % 8 & ((1U << width) - 1);
}

}  // namespace packcheck
