// properties/mutators/dice.h: the chance that a mutator takes, small and the same everywhere, so that a
// seed gives the same mutations under every compiler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace packcheck {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  /// 64 bits: splitmix64.
  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t hash = state_;
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9U;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EBU;
    return hash ^ hash >> 31;
  }
  /// 0..bound-1; 0 where the bound is 0.
  std::size_t below(std::size_t bound) { return bound < 2 ? 0 : static_cast<std::size_t>(bits() % bound); }
  bool once_in(std::size_t odds) { return below(odds) == 0; }
  template <class T, std::size_t N>
  const T& pick(const T (&list)[N]) {
    return list[below(N)];
  }
  template <class List>
  const typename List::value_type& pick(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace packcheck
