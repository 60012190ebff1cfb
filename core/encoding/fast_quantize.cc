#include <array>
#include <bit>

#include "core/encoding/fast_blocks.h"
#include "core/encoding/q4_0.h"
#include "core/encoding/q8_0.h"
#include "core/format/narrow.h"
#include "core/simd.h"

#define PACKCHECK_INLINE [[gnu::always_inline]] static inline

namespace packcheck {
namespace {

using Byte = std::uint8_t;
using u32 = std::uint32_t;
constexpr u32 kMagnitude = 0x7FFFFFFF;
constexpr u32 kLargestFinite = 0x7F7FFFFF;

PACKCHECK_INLINE u32 magnitude_of(float value) { return std::bit_cast<u32>(value) & kMagnitude; }

/// The largest magnitude of 32 numbers, as bits: bits of magnitudes are ordered as the magnitudes are.
PACKCHECK_INLINE u32 largest_magnitude(const float* __restrict values) {
  u32 largest = 0;
  for (int i = 0; i < 32; ++i) {
    const u32 magnitude = magnitude_of(values[i]);
    largest = largest > magnitude ? largest : magnitude;
  }
  return largest;
}

PACKCHECK_INLINE bool is_finite(float value) { return magnitude_of(value) <= kLargestFinite; }
PACKCHECK_INLINE float inverse_of(float scale) { return scale != 0.0F ? 1.0F / scale : 0.0F; }

PACKCHECK_INLINE void store_half(float scale, Byte* at) {
  const u32 half = narrow_single<Format::f16>(std::bit_cast<u32>(scale), false);
  at[0] = static_cast<Byte>(half);
  at[1] = static_cast<Byte>(half >> 8);
}

// Each struct encodes one block: `encode` gives false, having written nothing, for a block with an infinity or a
// NaN, and for one whose 1/d overflows: there codes leave their range.

struct Q8_0 {
  static constexpr std::size_t kBytes = 34;
  PACKCHECK_INLINE bool encode(const float* __restrict values, Byte* __restrict block) {
    const u32 largest = largest_magnitude(values);
    if (largest > kLargestFinite) return false;
    const float scale = std::bit_cast<float>(largest) / 127.0F;
    const float inverse = inverse_of(scale);
    if (!is_finite(inverse)) return false;
    store_half(scale, block);
    for (int i = 0; i < 32; ++i) {
      const float scaled = values[i] * inverse;
      // roundf: the single below 1/2, with the sign, then toward zero. 1/2 itself would take 0.49999997 to 1.
      const u32 sign = std::bit_cast<u32>(scaled) & ~kMagnitude;
      const float shifted = scaled + std::bit_cast<float>(sign | 0x3EFFFFFF);
      block[2 + i] = static_cast<Byte>(static_cast<int>(shifted));
    }
    return true;
  }
};

struct Q4_0 {
  static constexpr std::size_t kBytes = 18;
  PACKCHECK_INLINE bool encode(const float* __restrict values, Byte* __restrict block) {
    const u32 largest = largest_magnitude(values);
    if (largest > kLargestFinite) return false;
    // The first of the elements with that magnitude gives its sign; without it 0 would be -0.
    int first = 0;
    while (magnitude_of(values[first]) != largest) ++first;
    const float extreme = largest == 0 ? 0.0F : values[first];
    const float scale = extreme / -8.0F;
    const float inverse = inverse_of(scale);
    if (!is_finite(inverse)) return false;
    store_half(scale, block);
    std::array<Byte, 32> codes;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (unsigned i = 0; i < 32; ++i) {
      const int code = static_cast<int>(values[i] * inverse + 8.5F);
      codes[i] = static_cast<Byte>(code < 15 ? code : 15);
    }
    for (unsigned j = 0; j < 16; ++j) block[2 + j] = static_cast<Byte>(codes[j] | codes[16 + j] << 4);
    return true;
  }
};

template <class Block>
[[gnu::always_inline]] inline void encode_all(const Encoding& e, const float* values, Byte* blocks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, blocks += Block::kBytes, values += 32)
    if (!Block::encode(values, blocks)) e.quantize_block(e.rules, values, blocks);
}

template <class Block>
void encode_plain(const Encoding& e, const float* values, Byte* blocks, std::size_t count) {
  encode_all<Block>(e, values, blocks, count);
}
#if defined(__x86_64__)
template <class Block>
PACKCHECK_AVX2 void encode_avx2(const Encoding& e, const float* values, Byte* blocks, std::size_t count) {
  encode_all<Block>(e, values, blocks, count);
}
#endif

struct Row {
  void (*stands_for)(const BlockRules&, const float*, Byte*);
  BlockRules rules;
  QuantizeRun* plain;
  QuantizeRun* avx2;
};

template <class Block>
consteval Row row(void (*stands_for)(const BlockRules&, const float*, Byte*), const BlockRules& rules) {
#if defined(__x86_64__)
  return {stands_for, rules, encode_plain<Block>, encode_avx2<Block>};
#else
  return {stands_for, rules, encode_plain<Block>, encode_plain<Block>};
#endif
}

constexpr BlockRules kPlain{};
constexpr BlockRules kHalfUp{.code = CodeRounding::half_up};
constexpr std::array<Row, 2> kRows{{row<Q8_0>(q8_0_quantize_block, kPlain), row<Q4_0>(q4_0_quantize_block, kHalfUp)}};

}  // namespace

QuantizeRun* fast_quantizing(const Encoding& e) {
  if (e.planes[0] != 0) return nullptr;
  for (const Row& row : kRows)
    if (row.stands_for == e.quantize_block && row.rules == e.rules)
      return version_for_level(row.plain, row.avx2, row.avx2);
  return nullptr;
}

}  // namespace packcheck
