// safetensors files, any bytes. The bytes are the file itself:
// for all files: the reader lists what a second reader lists, or refuses what that one calls unsound; what is
// written of a sound file is sound, and is read back whole.
#include "fuzz/fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packcheck::fuzz_variant("file", "safetensors", {data, size});
  return 0;
}
