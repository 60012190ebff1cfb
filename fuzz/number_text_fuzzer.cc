// Text where a number should be, NaN and Infinity among it. The bytes are the text itself:
// for all texts: parse gives the nearest double, or refuses what is no JSON number.
#include "fuzz/fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packcheck::fuzz_family("text", {data, size});
  return 0;
}
