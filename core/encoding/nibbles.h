// core/encoding/nibbles.h: where the 4-bit codes of a 32-element block sit.
#pragma once

#include "core/encoding/encoding.h"

namespace packcheck {

/// The two element indices in code byte `j` (0..15): low nibble, high nibble.
struct NibblePair {
  int low;
  int high;
};

inline NibblePair elements_of_byte(NibbleOrder order, int j) {
  if (order == NibbleOrder::interleaved) return {2 * j, 2 * j + 1};
  return {j, j + 16};
}

}  // namespace packcheck
