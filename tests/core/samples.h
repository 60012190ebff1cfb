// tests/core/samples.h: deterministic numbers and blocks for the tests of the core and the oracles.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/format/convert.h"

namespace packcheck::test {

inline constexpr std::array<Format, 4> kFormats{Format::f64, Format::f32, Format::f16, Format::bf16};
/// The formats that MPFR can stand for: infinities and NaN codes of IEEE 754.
inline constexpr std::array<Format, 7> kIeeeFormats{Format::f64,  Format::f32,  Format::f16, Format::bf16,
                                                    Format::e5m2, Format::e4m3, Format::e3m4};
inline constexpr std::array<Rounding, 6> kRoundings{Rounding::nearest_even, Rounding::nearest_away,
                                                    Rounding::nearest_up,   Rounding::toward_zero,
                                                    Rounding::upward,       Rounding::downward};

/// splitmix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  /// A number in [0, limit); `limit` is positive.
  std::uint64_t below(std::uint64_t limit) { return bits() % limit; }
  bool coin() { return (bits() & 1) != 0; }

 private:
  std::uint64_t state_;
};

/// "0x7F800001"
std::string hex(std::uint64_t bits);

/// Codes where converters go wrong, as TestFloat chooses them: exponents at and around the limits of
/// every format, times significands with one, two or a run of bits set or missing, times both signs.
/// Zeros, subnormals and infinities are among them; NaNs are too.
std::vector<std::uint64_t> edge_codes(Format format);
/// Random codes: half of them any bits, half with an exponent that all formats have.
std::vector<std::uint64_t> random_codes(Format format, std::size_t count, std::uint64_t seed);

/// A block of `size` floats for each kind of trouble a quantizer can meet, `rounds` times with other
/// numbers: ordinary weights, any bits, zeros of both signs, subnormals, scales whose reciprocal
/// overflows, scales at the overflow of half, code ties, equal extremes of both signs, one NaN or
/// infinity or several.
std::vector<std::vector<float>> sample_blocks(std::size_t rounds, std::uint64_t seed, std::size_t size = 32);

}  // namespace packcheck::test
