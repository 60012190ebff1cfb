// Group-quantized weights and products with them:
// for all weights: scales and biases are those of the right group, and sums are within the bound of the exact ones.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"affine.*"});
  return *target;
}
