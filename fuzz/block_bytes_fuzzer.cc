// Encoded blocks, any bytes. The bytes are the blocks themselves, and the last two say the encoding:
// for all blocks: they decode, and to the numbers that a second implementation gives.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = documents_target("blocks", {}, VariantBy::last_bytes);
  return *target;
}
