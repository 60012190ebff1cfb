// properties/source.h: where a generator takes its choices from.
//
// A generator is written once, draw(Source&), and asks for typed choices. The source decides: at
// random, from a fuzzer's bytes, by enumeration, or from a recorded list. The simplest choice is
// always 0, and a list that runs out gives 0, so that shorter lists of smaller choices are simpler
// cases and every shrunk case is valid by construction.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/format/format.h"

namespace packcheck {

/// One answered question: `value` in 0..bound-1; bound 0 stands for 2^64.
struct Choice {
  std::uint64_t value;
  std::uint64_t bound;
  friend bool operator==(const Choice&, const Choice&) = default;
};
using Choices = std::vector<Choice>;

class Source {
 public:
  virtual ~Source() = default;

  /// A number in 0..bound-1, bound >= 1.
  std::uint64_t below(std::uint64_t bound) { return record(bound); }
  /// `count` bits, 1..64.
  std::uint64_t bits(unsigned count) { return record(count >= 64 ? 0 : std::uint64_t{1} << count); }
  /// One in `odds`, the simple answer being no.
  bool once_in(std::uint64_t odds) { return below(odds) == odds - 1; }
  template <class T, std::size_t N>
  const T& pick(const T (&list)[N]) {
    return list[below(N)];
  }
  /// The bits of a number: small integers, simple fractions, special values, subnormals, ulp
  /// neighbours of special values, ties for narrower formats, uniform exponents, uniform bits. For an
  /// integer format: small integers, limits, powers of two, ties for floating formats, uniform bits.
  std::uint64_t float_in(Format format);

  /// Everything asked so far, in order.
  [[nodiscard]] const Choices& recorded() const { return recorded_; }

 private:
  virtual std::uint64_t choose(std::uint64_t bound) = 0;
  std::uint64_t record(std::uint64_t bound) {
    const std::uint64_t value = choose(bound);
    recorded_.push_back({value, bound});
    return value;
  }
  Choices recorded_;
};

/// Uniform choices from a seed.
class RandomSource final : public Source {
 public:
  explicit RandomSource(std::uint64_t seed) : random_(seed) {}

 private:
  std::uint64_t choose(std::uint64_t bound) override;
  std::mt19937_64 random_;
};

/// Choices from a fuzzer's bytes: as many bytes as the bound needs, little-endian, modulo the bound.
class BytesSource final : public Source {
 public:
  explicit BytesSource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

 private:
  std::uint64_t choose(std::uint64_t bound) override;
  std::span<const std::uint8_t> bytes_;
};

/// Replays a list; a value past the bound is cut to the bound's last.
class RecordedSource final : public Source {
 public:
  explicit RecordedSource(Choices choices) : choices_(std::move(choices)) {}

 private:
  std::uint64_t choose(std::uint64_t bound) override;
  Choices choices_;
  std::size_t next_ = 0;
};

/// The choices after `previous` in counting order (the last choice counts fastest), or nothing when
/// every case was visited. Start with an empty list and feed back what the draw recorded.
[[nodiscard]] bool advance(Choices& previous);

/// Lists that are simpler than `choices`: shorter first, then smaller, simplest first.
[[nodiscard]] std::vector<Choices> simpler(const Choices& choices);

/// A well mixed 64-bit seed from a seed and a name, so that no two laws see the same random numbers.
[[nodiscard]] std::uint64_t derived_seed(std::uint64_t seed, std::string_view name);

}  // namespace packcheck
