// Nodes of graphs that are run, forward and backward:
// for all nodes: outputs and gradients are those of the definition, or the node is refused.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"execute.*"});
  return *target;
}
