#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/encoding/fp4.h"
#include "core/encoding/k_quants.h"
#include "core/encoding/q4_0.h"
#include "core/encoding/q4_1.h"
#include "core/encoding/q5.h"
#include "core/encoding/q8_0.h"
#include "core/encoding/ternary.h"
#include "core/environment.h"

namespace packcheck {
namespace {

constexpr BlockRules kPlain{};
constexpr BlockRules kHalfUp{.code = CodeRounding::half_up};
constexpr BlockRules kSkainetQ4{
    .code = CodeRounding::half_up, .overflow = CodeOverflow::saturate, .scale = ScaleRule::skainet_private};

template <std::size_t N>
using Fields = std::array<ScaleField, N>;
using enum ScaleFormat;

constexpr Fields<1> kHalf0{{{f16, 0, 2}}};
constexpr Fields<2> kTwoHalves{{{f16, 0, 2}, {f16, 2, 2}}};
constexpr Fields<1> kSingle0{{{f32, 0, 4}}};
constexpr Fields<3> kQ2K{{{packed_4_bit, 0, 16}, {f16, 80, 2}, {f16, 82, 2}}};
constexpr Fields<2> kQ3K{{{packed_6_bit, 96, 12}, {f16, 108, 2}}};
constexpr Fields<3> kQ4K{{{f16, 0, 2}, {f16, 2, 2}, {packed_6_bit, 4, 12}}};
constexpr Fields<2> kQ6K{{{int8, 192, 16}, {f16, 208, 2}}};
constexpr Fields<1> kTq1{{{f16, 52, 2}}};
constexpr Fields<1> kTq2{{{f16, 64, 2}}};
constexpr Fields<2> kIq4Xs{{{f16, 0, 2}, {packed_6_bit, 2, 6}}};
constexpr Fields<1> kMx{{{e8m0, 0, 1}}};
constexpr Fields<1> kNv{{{ue4m3, 0, 4}}};

// clang-format off
constexpr std::array<Encoding, 21> kEncodings{{
    {"q8_0", "ggml", 32, 34, true, kPlain, q8_0_quantize_block, q8_0_dequantize_block, kHalf0, q8_0_bound_block},
    {"q4_0", "ggml", 32, 18, true, kHalfUp, q4_0_quantize_block, q4_0_dequantize_block, kHalf0, q4_0_bound_block},
    {"q4_0", "skainet", 32, 18, true, kSkainetQ4, q4_0_quantize_block, q4_0_dequantize_block, kHalf0, q4_0_bound_block},
    {"q4_1", "ggml", 32, 20, true, kHalfUp, q4_1_quantize_block, q4_1_dequantize_block, kTwoHalves, q4_1_bound_block},
    {"q5_0", "ggml", 32, 22, true, kHalfUp, q5_0_quantize_block, q5_0_dequantize_block, kHalf0, q5_0_bound_block},
    {"q5_1", "ggml", 32, 24, true, kHalfUp, q5_1_quantize_block, q5_1_dequantize_block, kTwoHalves, q5_1_bound_block},
    {"q8_1", "ggml", 32, 36, true, kPlain, q8_1_quantize_block, q8_1_dequantize_block, kTwoHalves, q8_0_bound_block},
    {"q8_K", "ggml", 256, 292, false, kPlain, nullptr, q8_k_dequantize_block, kSingle0, nullptr},
    {"q2_K", "ggml", 256, 84, false, kPlain, nullptr, q2_k_dequantize_block, kQ2K, nullptr},
    {"q3_K", "ggml", 256, 110, false, kPlain, nullptr, q3_k_dequantize_block, kQ3K, nullptr},
    {"q4_K", "ggml", 256, 144, false, kPlain, nullptr, q4_k_dequantize_block, kQ4K, nullptr},
    {"q5_K", "ggml", 256, 176, false, kPlain, nullptr, q5_k_dequantize_block, kQ4K, nullptr},
    {"q6_K", "ggml", 256, 210, false, kPlain, nullptr, q6_k_dequantize_block, kQ6K, nullptr},
    {"tq1_0", "ggml", 256, 54, true, kPlain, tq1_0_quantize_block, tq1_0_dequantize_block, kTq1, tq_bound_block},
    {"tq2_0", "ggml", 256, 66, true, kPlain, tq2_0_quantize_block, tq2_0_dequantize_block, kTq2, tq_bound_block},
    {"q1_0", "ggml", 128, 18, true, kPlain, q1_0_quantize_block, q1_0_dequantize_block, kHalf0, q1_0_bound_block},
    {"q2_0", "ggml", 64, 18, true, kPlain, q2_0_quantize_block, q2_0_dequantize_block, kHalf0, q2_0_bound_block},
    {"iq4_nl", "ggml", 32, 18, false, kPlain, nullptr, iq4_nl_dequantize_block, kHalf0, nullptr},
    {"iq4_xs", "ggml", 256, 136, false, kPlain, nullptr, iq4_xs_dequantize_block, kIq4Xs, nullptr},
    {"mxfp4", "ggml", 32, 17, true, kPlain, mxfp4_quantize_block, mxfp4_dequantize_block, kMx, mxfp4_bound_block},
    {"nvfp4", "ggml", 64, 36, false, kPlain, nullptr, nvfp4_dequantize_block, kNv, nullptr},
}};
// clang-format on

Error wrong_size(const Encoding& e, std::string_view what, std::size_t is, std::size_t right) {
  return Error{std::string(what) + " holds " + std::to_string(is), e.id(), std::to_string(right)};
}

/// Every encoding: "q8_0:ggml, q4_0:ggml, q4_0:skainet".
std::string known_ids() {
  std::string known;
  for (const Encoding& e : kEncodings) known += (known.empty() ? "" : ", ") + e.id();
  return known;
}

/// The number of letters to insert, delete or replace to make `a` of `b`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// The encoding of that name without its dialect, or the one that is at most two letters away; else empty.
std::string nearest_id(std::string_view id) {
  std::string nearest;
  std::size_t fewest = 3;
  if (id.size() > 32) return nearest;
  for (const Encoding& e : kEncodings) {
    if (e.name == id) return e.id();
    const std::size_t edits = edits_between(id, e.id());
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = e.id();
  }
  return nearest;
}

}  // namespace

std::span<const Encoding> all_encodings() { return kEncodings; }

std::string_view scale_format_name(ScaleFormat format) {
  static constexpr std::array<std::string_view, 7> kNames{"f16",  "f32",          "e8m0",        "ue4m3",
                                                          "int8", "packed 4-bit", "packed 6-bit"};
  return kNames[static_cast<std::size_t>(format)];
}

Result<const Encoding*> encoding_named(std::string_view id) {
  for (const Encoding& e : kEncodings)
    if (e.id() == id) return &e;
  const std::string nearest = nearest_id(id);
  const std::string known = "one of " + known_ids();
  return refuse("unknown encoding '" + std::string(id) + "'", {}, nearest.empty() ? known : nearest + ", or " + known);
}

Result<std::size_t> encoded_bytes(const Encoding& e, std::size_t count) {
  if (count % e.block_size != 0)
    return refuse(std::to_string(count) + " elements", e.id(), "a multiple of " + std::to_string(e.block_size));
  const std::size_t blocks = count / e.block_size;
  if (blocks > std::numeric_limits<std::size_t>::max() / e.block_bytes)
    return refuse(std::to_string(count) + " elements", e.id(), "a size that fits in memory");
  return blocks * e.block_bytes;
}

Result<std::size_t> decoded_count(const Encoding& e, std::size_t bytes) {
  if (bytes % e.block_bytes != 0)
    return refuse(std::to_string(bytes) + " bytes", e.id(), "a multiple of " + std::to_string(e.block_bytes));
  return bytes / e.block_bytes * e.block_size;
}

Result<void> quantize(const Encoding& e, std::span<const float> values, std::span<std::uint8_t> blocks) {
  const Result<std::size_t> bytes = encoded_bytes(e, values.size());
  if (!bytes) return tl::unexpected(bytes.error());
  if (blocks.size() != *bytes) return tl::unexpected(wrong_size(e, "block buffer", blocks.size(), *bytes));
  if (!e.quantizes) return refuse("no quantizer", e.id(), "an encoding with one; `packcheck encodings` tells");
  const ExactEnvironment exact;
  for (std::size_t i = 0; i < values.size() / e.block_size; ++i)
    e.quantize_block(e.rules, &values[i * e.block_size], &blocks[i * e.block_bytes]);
  return {};
}

Result<void> dequantize(const Encoding& e, std::span<const std::uint8_t> blocks, std::span<float> values) {
  const Result<std::size_t> count = decoded_count(e, blocks.size());
  if (!count) return tl::unexpected(count.error());
  if (values.size() != *count) return tl::unexpected(wrong_size(e, "value buffer", values.size(), *count));
  const ExactEnvironment exact;
  for (std::size_t i = 0; i < values.size() / e.block_size; ++i)
    if (!e.dequantize_block(e.rules, &blocks[i * e.block_bytes], &values[i * e.block_size]))
      return refuse("a code of block " + std::to_string(i) + " is refused", e.id(), "codes this decoder accepts");
  return {};
}

}  // namespace packcheck
