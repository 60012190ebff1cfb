// core/audit: what the bytes of a model file say about its numbers, before anybody loads it.
//
//   element_statistics.*  dense tensors: NaN, infinities, subnormals, with their first positions; magnitudes
//   block_statistics.*    block encodings: scales, blocks of zeros, codes that no quantizer writes
//   packed_weights.*      weights packed in groups beside their scales: do shapes, dtypes and sizes agree?
//   audit.*               a whole file: a row for each tensor, and the warnings
//
// Pure functions over bytes that the caller has; a caller that maps a file hears which bytes are done with, so
// that memory stays flat. Change a statistic here and in the plain loop that its test holds it against.
// Proved by tests/core/audit_statistics_test.cc (every level of core/simd.h against a loop over
// core/format/format.h) and tests/core/audit_test.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "core/format/format.h"

namespace packcheck {

inline constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

/// How many elements are of one kind, and the index of the first.
struct Occurrences {
  std::uint64_t count = 0;
  std::uint64_t first = kNowhere;

  friend bool operator==(const Occurrences&, const Occurrences&) = default;
};

/// Of a dense tensor of one scalar format.
struct ElementStatistics {
  std::uint64_t elements = 0;
  Occurrences nan;
  Occurrences infinite;
  Occurrences subnormal;
  /// Magnitude bits (without the sign) of the largest finite number; 0 where there is none but zeros.
  std::uint64_t largest = 0;
  /// Magnitude bits of the finite number next to zero that is none; kNowhere where there is none.
  std::uint64_t smallest = kNowhere;

  friend bool operator==(const ElementStatistics&, const ElementStatistics&) = default;
};

/// Whether elements of this format can be looked at: floating formats and powers of two of whole bytes.
[[nodiscard]] bool has_element_statistics(Format format);

/// Adds the elements of `bytes`, little-endian, at any alignment, which follow those already in `statistics`.
/// Bytes after the last whole element are not looked at. The format must have statistics.
void add_elements(Format format, std::span<const std::uint8_t> bytes, ElementStatistics& statistics);

}  // namespace packcheck
