// Any law of the registry, its cases drawn from the bytes: a new row is fuzzed without a new target.
#include "fuzz/fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packcheck::fuzz_any_law({data, size});
  return 0;
}
