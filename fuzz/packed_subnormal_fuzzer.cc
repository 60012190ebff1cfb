// Small integers packed in doubles, which are subnormal, and their way through text:
// for all fields: unpack(pack(fields)) = fields, parse(print(double)) = double, bit for bit.
#include "fuzz/fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  packcheck::fuzz_family("parameters", bytes);
  packcheck::fuzz_family("words", bytes);
  packcheck::fuzz_family("number", bytes);
  return 0;
}
