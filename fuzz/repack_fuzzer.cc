// Stored tensors made dense:
// for all tensors and views: every value is kept, or nothing is read and it is refused.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"storage.repack*"});
  return *target;
}
