// The fuzz engine inside packcheck: mutated inputs, reproducible from the seed. The libFuzzer
// targets in fuzz/ feed the same functions with coverage feedback.
#include <algorithm>

#include "properties/engines/engines.h"
#include "properties/engines/from_bytes.h"
#include "properties/mutators/mutators.h"
#include "subjects/calls.h"

namespace packcheck {
namespace {

constexpr std::size_t kLongest = 4096;
constexpr std::size_t kPool = 16;
constexpr std::size_t kLongestByBytes = 128;

/// Makes inputs out of the corpus' files and of drawn cases; with an empty corpus, of drawn cases alone.
class Inputs {
 public:
  Inputs(const Hunt& hunt, std::uint64_t seed, const CorpusStore& corpus)
      : dice_(derived_seed(seed, "fuzz " + hunt.law().id + " " + hunt.variant())),
        mutator_(*hunt.law().case_type, {hunt.variant()}) {
    for (const std::string& text : corpus.wire_inputs(hunt.law().case_type->name()))
      pool_.push_back(string_to_bytes(text));
    fixed_ = pool_.size();
  }

  Bytes next() {
    if (dice_.once_in(8)) return random_bytes();
    Bytes bytes = mutator_.mutate(parent(), kLongest, dice_);
    for (std::size_t more = dice_.below(3); more > 0; --more) bytes = mutator_.mutate(bytes, kLongest, dice_);
    if (dice_.once_in(8)) bytes = mutator_.cross(bytes, parent(), kLongest, dice_);
    return bytes;
  }

  Bytes random_bytes() {
    Bytes bytes(1 + dice_.below(96));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice_.bits());
    return bytes;
  }

 private:
  /// One of the pool, which fills with drawn cases beside the corpus' files, and goes on changing.
  const Bytes& parent() {
    const bool full = pool_.size() >= fixed_ + kPool;
    if (full && !dice_.once_in(8)) return dice_.pick(pool_);
    if (!full) return pool_.emplace_back(mutator_.fresh(dice_));
    return pool_[fixed_ + dice_.below(kPool)] = mutator_.fresh(dice_);
  }

  Dice dice_;
  InputMutator mutator_;
  std::vector<Bytes> pool_;
  std::size_t fixed_ = 0;  // the first so many are the corpus' files
};

}  // namespace

void run_fuzz(Hunt& hunt, std::uint64_t seed, std::uint64_t inputs, const CorpusStore& corpus) {
  Inputs made_of(hunt, seed, corpus);
  for (std::uint64_t i = 0; i < inputs && !hunt.finished(); ++i) {
    // Changed documents are rarely sound: every third input is choices, from which a case is drawn.
    if (i % 3 == 2) {
      const ByteCase drawn = case_from_choice_bytes(hunt.law(), hunt.variant(), made_of.random_bytes());
      hunt.judge(Engine::fuzz, seed, drawn.c, &drawn.recipe);
      continue;
    }
    const Bytes bytes = made_of.next();
    const ByteCase made = case_from_bytes(hunt.law(), hunt.variant(), bytes);
    // A long document shrinks byte by byte for ever; a drawn case that breaks at the same place does not.
    const bool document = bytes.size() > kLongestByBytes && hunt.law().case_type->from_wire({}, hunt.variant());
    hunt.judge(Engine::fuzz, seed, made.c, document ? nullptr : &made.recipe);
  }
}

}  // namespace packcheck
