// tests/core/error_meter.h: |x - decode(quantize(x))| beside the proved bound, in exact arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/encoding/bounds.h"
#include "tests/core/samples.h"

namespace packcheck::test {

struct Tally {
  std::uint64_t measured = 0;
  std::uint64_t exceeded = 0;
  std::uint64_t nearly_reached = 0;  ///< 95 % of the bound or more
  std::uint64_t unbounded = 0;
  std::string worst;  ///< the first element that exceeds its bound
};

/// Quantizes, decodes and counts the elements of one block. Fails the test where a bounded element is not finite.
void measure_block(const Encoding& encoding, const std::vector<float>& block, Tally& tally);

/// Moves `x` by up to `most` representable numbers.
float nudged(Random& random, float x, int most);

}  // namespace packcheck::test
