// The fuzz engine inside packcheck: mutated byte strings, reproducible from the seed. The libFuzzer
// targets in fuzz/ feed the same functions with coverage feedback.
#include <algorithm>
#include <random>

#include "properties/engines/engines.h"
#include "properties/engines/from_bytes.h"
#include "subjects/calls.h"

namespace packcheck {
namespace {

constexpr std::size_t kLongest = 512;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return bound < 2 ? 0 : static_cast<std::size_t>(random_() % bound); }

  Bytes random_bytes() {
    Bytes bytes(1 + below(96));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random_());
    return bytes;
  }

  /// A new input: a seed with a few small changes, or random bytes.
  Bytes next(const std::vector<Bytes>& seeds) {
    Bytes bytes = seeds.empty() || below(4) == 0 ? random_bytes() : seeds[below(seeds.size())];
    for (std::size_t changes = below(4); changes > 0; --changes) change(bytes);
    if (bytes.size() > kLongest) bytes.resize(kLongest);
    return bytes;
  }

 private:
  void change(Bytes& bytes) {
    static constexpr std::uint8_t kEdges[] = {0x00, 0x01, 0x7C, 0x7F, 0x80, 0xFF, 0x88, '0', '9', '-', '.', 'e'};
    const std::size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at, bytes.size()));
    const std::uint8_t edge = kEdges[below(std::size(kEdges))];
    const std::size_t kind = bytes.empty() ? 3 : below(5);
    if (kind == 0) *place ^= static_cast<std::uint8_t>(1U << below(8));
    if (kind == 1) *place = edge;
    if (kind == 2) bytes.erase(place);
    if (kind == 3) bytes.insert(place, edge);
    if (kind == 4) *place = static_cast<std::uint8_t>(random_());
  }

  std::mt19937_64 random_;
};

}  // namespace

void run_fuzz(Hunt& hunt, std::uint64_t seed, std::uint64_t inputs, const CorpusStore& corpus) {
  std::vector<Bytes> seeds;
  for (const std::string& text : corpus.wire_inputs(hunt.law().case_type->name()))
    seeds.push_back(string_to_bytes(text));
  Mutator mutator(derived_seed(seed, "fuzz " + hunt.law().id + " " + hunt.variant()));
  for (std::uint64_t i = 0; i < inputs && !hunt.finished(); ++i) {
    // Random bytes are rarely a file: every other input is choices, from which a sound one is drawn.
    const ByteCase made = i % 2 == 0 ? case_from_bytes(hunt.law(), hunt.variant(), mutator.next(seeds))
                                     : case_from_choice_bytes(hunt.law(), hunt.variant(), mutator.random_bytes());
    hunt.judge(Engine::fuzz, seed, made.c, &made.recipe);
  }
}

}  // namespace packcheck
