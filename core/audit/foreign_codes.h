// core/audit/foreign_codes.h: codes of a block that a file's quantizers never write, found among the others as fast as
// memory gives them. Inlined into the loop over blocks of block_statistics.cc, which bench/audit_bench.cc measures.
// Layouts: facts of the GGUF encodings (core/encoding). Proved by tests/core/audit_statistics_test.cc.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/format/format.h"

namespace packcheck {

/// What a file's quantizers never write.
enum class Foreign : std::uint8_t {
  none,
  extreme,       ///< -128 among 32 signed bytes
  fourth_of_16,  ///< 3 among 2-bit codes in so many bytes
  fourth_of_64,
  trits  ///< bytes that are no five (or four) digits of base 3
};

/// tq1_0 writes ceil(n·256/243): those bytes b have 243·b mod 256 < 243. The last four hold n divisible by 3.
constexpr bool is_trit_byte(unsigned byte) { return byte * 243 % 256 < 243; }
consteval std::array<std::uint8_t, 256> foreign_last_bytes() {
  std::array<std::uint8_t, 256> foreign{};
  for (unsigned byte = 0; byte < 256; ++byte) foreign[byte] = is_trit_byte(byte) && byte * 243 / 256 % 3 == 0 ? 0 : 1;
  return foreign;
}
constexpr std::array<std::uint8_t, 256> kForeignLastByte = foreign_last_bytes();
[[gnu::always_inline]] inline unsigned foreign_last_trits(const std::uint8_t* codes) {
  return 0U + kForeignLastByte[codes[48]] + kForeignLastByte[codes[49]] + kForeignLastByte[codes[50]] +
         kForeignLastByte[codes[51]];
}

using SixteenBytes [[gnu::vector_size(16)]] = std::uint8_t;

/// Whether any of 48 bytes is no trit byte: 243·b mod 256 >= 243 says that 13·b mod 256 is in 1…13. Sums, because no
/// processor multiplies bytes.
[[gnu::always_inline]] inline bool may_have_foreign_trits(const std::uint8_t* codes) {
  std::array<std::uint64_t, 2> found{};
  for (std::size_t i = 0; i < 48; i += sizeof(SixteenBytes)) {
    SixteenBytes once;
    std::memcpy(&once, codes + i, sizeof once);
    const SixteenBytes twice = once + once;
    const SixteenBytes four = twice + twice;
    const auto foreign = four + four + four + once - 1 < 13;
    std::array<std::uint64_t, 2> halves{};
    std::memcpy(halves.data(), &foreign, sizeof halves);
    found[0] |= halves[0];
    found[1] |= halves[1];
  }
  return (found[0] | found[1]) != 0;
}

/// How many of the codes are foreign; `count` bytes of them.
template <Foreign kForeign>
[[gnu::always_inline]] inline std::uint64_t foreign_in(const std::uint8_t* codes, std::size_t count) {
  unsigned found = 0;
  if constexpr (kForeign == Foreign::extreme) {
    for (std::size_t i = 0; i < 32; ++i) found += codes[i] == 0x80 ? 1U : 0U;
  } else if constexpr (kForeign == Foreign::fourth_of_64) {
    for (std::size_t i = 0; i < count; i += 8) {
      const auto pairs = load_little_endian<std::uint64_t>(codes + i);
      found += static_cast<unsigned>(std::popcount(pairs & pairs >> 1 & 0x5555555555555555U));
    }
  } else if constexpr (kForeign == Foreign::trits) {
    for (std::size_t i = 0; i < 48; ++i) found += is_trit_byte(codes[i]) ? 0U : 1U;
    found += foreign_last_trits(codes);
  }
  return found;
}

/// Whether any of 8 bytes is 0.
[[gnu::always_inline]] inline bool has_zero_byte(std::uint64_t bytes) {
  return ((bytes - 0x0101010101010101U) & ~bytes & 0x8080808080808080U) != 0;
}

/// Whether foreign_in() may find one.
template <Foreign kForeign>
[[gnu::always_inline]] inline bool may_be_foreign(const std::uint8_t* codes) {
  if constexpr (kForeign == Foreign::extreme) {
    bool found = false;
    for (std::size_t i = 0; i < 32; i += 8)
      found |= has_zero_byte(load_little_endian<std::uint64_t>(codes + i) ^ 0x8080808080808080U);
    return found;
  } else if constexpr (kForeign == Foreign::fourth_of_16 || kForeign == Foreign::fourth_of_64) {
    constexpr std::size_t kCodes = kForeign == Foreign::fourth_of_16 ? 16 : 64;
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < kCodes; i += 8) {
      const auto pairs = load_little_endian<std::uint64_t>(codes + i);
      found |= pairs & pairs >> 1 & 0x5555555555555555U;
    }
    return found != 0;
  } else if constexpr (kForeign == Foreign::trits) {
    return may_have_foreign_trits(codes) || foreign_last_trits(codes) != 0;
  }
  return false;
}

}  // namespace packcheck
