// Any law of the registry: a new row is fuzzed without a new target.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"*"});
  return *target;
}
