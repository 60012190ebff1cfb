// Graphs as JSON text. The bytes are the text itself:
// for all texts: the importer keeps every value and position, or refuses what is no sound graph; what is written of it
// is a fixed point.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = documents_target("graph_text");
  return *target;
}
