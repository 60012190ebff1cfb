// NaN and infinities on their way into JSON, as single numbers and in graphs:
// for all doubles: the text is a JSON number, or there is none; for all graphs: the text is strict JSON of the graph.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target =
      laws_target({"text.print*", "graph.export*", "graph.unsound_bytes*", "graph.import_inverts_export"});
  return *target;
}
