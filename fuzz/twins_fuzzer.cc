// Faulty twins, each put to the law that must catch it. The first bytes say the twin and the variant, the rest is the
// case: for all cases: the twin answers or refuses, and what it breaks is broken again by the case's own text.
#include "fuzz/twins.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = text_target({twin_fault, draw_twin_input, {"twins", {}, mutate_twin_input, nullptr}});
  return *target;
}
