// Encoded blocks, any bytes. The bytes are the blocks themselves:
// for all blocks: they decode, and to the numbers that a second implementation gives.
#include "fuzz/fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packcheck::fuzz_family("blocks", {data, size});
  return 0;
}
