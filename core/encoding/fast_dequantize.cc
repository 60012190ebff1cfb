#include <array>

#include "core/encoding/decode_portable.h"
#include "core/encoding/fast_blocks.h"
#include "core/encoding/k_quants.h"
#include "core/encoding/q4_0.h"
#include "core/encoding/q4_1.h"
#include "core/encoding/q5.h"
#include "core/encoding/q8_0.h"
#include "core/simd.h"
#if defined(__x86_64__)
#include "core/encoding/decode_avx2.h"
#endif

namespace packcheck {
namespace {

using portable::Byte;

template <class Block>
[[gnu::always_inline]] inline void decode_all(const Encoding& e, const Byte* blocks, float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, blocks += Block::kBytes, values += Block::kSize)
    if (!Block::decode(blocks, values)) e.dequantize_block(e.rules, blocks, values);
}

template <class Block>
void decode_plain(const Encoding& e, const Byte* blocks, float* values, std::size_t count) {
  decode_all<Block>(e, blocks, values, count);
}
#if defined(__x86_64__)
template <class Block>
PACKCHECK_AVX2 void decode_avx2(const Encoding& e, const Byte* blocks, float* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, blocks += Block::kBytes, values += Block::kSize)
    if (!Block::decode(blocks, values)) e.dequantize_block(e.rules, blocks, values);
}
#endif

/// Stores bound these loops: AVX-512 is no faster, and compilers arrange its wide ones badly.
struct Row {
  bool (*stands_for)(const BlockRules&, const Byte*, float*);
  BlockRules rules;
  DequantizeRun* plain;
  DequantizeRun* avx2;
};

#if defined(__x86_64__)
template <class Block, class Avx2Block = Block>
consteval Row row(bool (*stands_for)(const BlockRules&, const Byte*, float*), const BlockRules& rules) {
  return {stands_for, rules, decode_plain<Block>, decode_avx2<Avx2Block>};
}
#else
namespace avx2 = portable;
template <class Block, class Avx2Block = Block>
consteval Row row(bool (*stands_for)(const BlockRules&, const Byte*, float*), const BlockRules& rules) {
  return {stands_for, rules, decode_plain<Block>, decode_plain<Block>};
}
#endif

constexpr BlockRules kPlain{};
constexpr BlockRules kHalfUp{.code = CodeRounding::half_up};

constexpr std::array<Row, 11> kRows{
    {row<portable::Q8_0>(q8_0_dequantize_block, kPlain), row<portable::Q8_1>(q8_1_dequantize_block, kPlain),
     row<portable::Q4_0, avx2::Q4_0>(q4_0_dequantize_block, kHalfUp),
     row<portable::Q4_1, avx2::Q4_1>(q4_1_dequantize_block, kHalfUp),
     row<portable::Q5_0>(q5_0_dequantize_block, kHalfUp), row<portable::Q5_1>(q5_1_dequantize_block, kHalfUp),
     row<portable::Q2K>(q2_k_dequantize_block, kPlain), row<portable::Q3K>(q3_k_dequantize_block, kPlain),
     row<portable::Q4K, avx2::Q4K>(q4_k_dequantize_block, kPlain),
     row<portable::Q5K, avx2::Q5K>(q5_k_dequantize_block, kPlain),
     row<portable::Q6K, avx2::Q6K>(q6_k_dequantize_block, kPlain)}};

}  // namespace

DequantizeRun* fast_dequantizing(const Encoding& e) {
  if (e.planes[0] != 0) return nullptr;
  for (const Row& row : kRows)
    if (row.stands_for == e.dequantize_block && row.rules == e.rules)
      return version_for_level(row.plain, row.avx2, row.avx2);
  return nullptr;
}

}  // namespace packcheck
