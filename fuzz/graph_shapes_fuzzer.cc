// Shapes that follow from shapes:
// for all requests: the output is the declared rule's, or the request is refused; an input is never derived where an
// output came from more than one.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"shape.*"});
  return *target;
}
