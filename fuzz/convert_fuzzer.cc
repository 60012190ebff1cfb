// Conversions between number formats:
// for all formats and numbers: widening is exact, narrowing rounds as declared.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"format.*"});
  return *target;
}
