// Small integers packed in doubles, which are subnormal, and their way through text:
// for all fields: unpack(pack(fields)) = fields, parse(print(double)) = double, bit for bit.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = laws_target({"params.*", "text.packed_double_survives_text"});
  return *target;
}
