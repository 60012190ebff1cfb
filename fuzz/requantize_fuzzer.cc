// Numbers and stored tensors on their way into blocks:
// for all tensors: the blocks are the declared dialect's, within their bound, or nothing is read and it is refused.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"encoding.*quantize*", "storage.requantize*", "storage.loader*"});
  return *target;
}
