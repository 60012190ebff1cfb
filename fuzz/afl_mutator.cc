// AFL++ does not call libFuzzer's mutators: this gives a target's mutator the functions that it does call, as a
// library for AFL_CUSTOM_MUTATOR_LIBRARY (packcheck_afl_mutators builds one for each target, NAME_afl.so).
#include <algorithm>

#include "fuzz/target.h"

namespace {

struct AflMutator {
  packcheck::Dice dice;
  packcheck::Bytes out;
};

}  // namespace

extern "C" void* afl_custom_init(void*, unsigned seed) { return new AflMutator{packcheck::Dice(seed), {}}; }
extern "C" void afl_custom_deinit(void* state) { delete static_cast<AflMutator*>(state); }

/// One input out of `data`, with a part of `other` now and then; at most `longest` bytes, which stay ours.
extern "C" std::size_t afl_custom_fuzz(void* state, std::uint8_t* data, std::size_t size, std::uint8_t** result,
                                       std::uint8_t* other, std::size_t other_size, std::size_t longest) {
  auto& [dice, out] = *static_cast<AflMutator*>(state);
  const packcheck::Bytes bytes(data, data + size);
  const bool cross = other != nullptr && dice.once_in(4);
  out = cross ? packcheck::fuzz_target().cross(bytes, {other, other + other_size}, longest, dice)
              : packcheck::fuzz_target().mutate(bytes, longest, dice);
  out.resize(std::min(out.size(), longest));
  *result = out.data();
  return out.size();
}
