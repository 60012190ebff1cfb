// GGUF files, any bytes. The bytes are the file itself:
// for all files: the reader lists what a second reader lists, or refuses what that one calls unsound; what is
// written of a sound file is sound, and is read back whole.
#include "fuzz/target.h"

const packcheck::FuzzTarget& packcheck::fuzz_target() {
  static const auto target = documents_target("file", "gguf");
  return *target;
}
