// Prints one line per operation and environment: its name and a digest of all answers. Built at -O0 and -O3
// and with every compiler; the lines must be the same (compare_answers.cmake, ci/test).
#include <cstdint>
#include <cstdio>

#include "tests/core/answers.h"

int main() {
  using namespace packcheck::test;
  make_inputs();
  for (const Operation& operation : answering_operations())
    for (const Mode& mode : kModes)
      for (const bool flush : kFlushing) {
        std::string answer;
        in_environment(mode, flush, [&] { answer = operation.answers(); });
        std::uint64_t digest = 0xCBF29CE484222325;  // FNV-1a
        for (const char c : answer) digest = (digest ^ static_cast<std::uint8_t>(c)) * 0x100000001B3;
        std::printf("%s, %s%s: %016llx of %zu bytes\n", operation.name, mode.name, flush ? ", flushing" : "",
                    static_cast<unsigned long long>(digest), answer.size());
      }
  return 0;
}
