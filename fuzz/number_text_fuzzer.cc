// Text where a number should be, NaN and Infinity among it. The bytes are the text itself:
// for all texts: parse gives the nearest double, or refuses what is no JSON number.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = documents_target("text");
  return *target;
}
