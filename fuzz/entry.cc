// libFuzzer's functions over the target that this program is built with. PACKCHECK_PLAIN_MUTATIONS=1 leaves inputs to
// libFuzzer's own changes, which know bytes alone: what bench/time_to_find compares with.
#include <algorithm>
#include <cstdlib>

#include "fuzz/counters.h"
#include "fuzz/target.h"

/// Of libFuzzer; null where another engine runs the target.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                                              std::size_t longest);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using packcheck::LawsPerInput;
  packcheck::fuzz_target().judge({data, size}, LLVMFuzzerMutate == nullptr ? LawsPerInput::all : LawsPerInput::one);
#ifdef PACKCHECK_LAZY_COUNTERS
  static bool is_hidden = false;  // libFuzzer's first input is empty, and no part of any corpus
  is_hidden ? packcheck::show_used_counters() : packcheck::hide_idle_counters();
  is_hidden = true;
#endif
  return 0;
}

#ifdef PACKCHECK_LAZY_COUNTERS  // which clang alone is asked for
#if __has_feature(address_sanitizer)
/// ASan's own defaults keep the stacks of every allocation and 256 MiB of freed memory, a fifth of an input's cost.
/// ASAN_OPTIONS overrules it: malloc_context_size=30 for the whole stacks of a finding.
extern "C" const char* __asan_default_options() { return "malloc_context_size=3:quarantine_size_mb=16"; }
#endif
#endif

namespace {

using packcheck::Bytes;
using packcheck::Dice;

bool is_plain() {
  static const bool plain = std::getenv("PACKCHECK_PLAIN_MUTATIONS") != nullptr && LLVMFuzzerMutate != nullptr;
  return plain;
}

std::size_t give(const Bytes& bytes, std::uint8_t* to, std::size_t longest) {
  const std::size_t size = std::min(bytes.size(), longest);
  std::copy_n(bytes.begin(), size, to);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t longest,
                                               unsigned seed) {
  Dice dice(seed);
  // libFuzzer's own changes know the dictionary and the constants that were compared.
  if (is_plain() || (LLVMFuzzerMutate != nullptr && size > 1 && dice.once_in(6)))
    return LLVMFuzzerMutate(data, size, longest);
  return give(packcheck::fuzz_target().mutate({data, data + size}, longest, dice), data, longest);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* other, std::size_t other_size, std::uint8_t* to,
                                                 std::size_t longest, unsigned seed) {
  Dice dice(seed);
  if (is_plain()) {
    Bytes crossed(one, one + dice.below(one_size + 1));
    crossed.insert(crossed.end(), other + dice.below(other_size + 1), other + other_size);
    return give(crossed, to, longest);
  }
  return give(packcheck::fuzz_target().cross({one, one + one_size}, {other, other + other_size}, longest, dice), to,
              longest);
}
