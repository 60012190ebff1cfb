// Networks of mixed formats:
// for all networks: every operation rounds once, boundaries are where they are declared, and both texts say so.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"precision.*"});
  return *target;
}
