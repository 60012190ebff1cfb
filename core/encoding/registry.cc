#include <array>
#include <limits>

#include "core/encoding/encoding.h"
#include "core/encoding/q4_0.h"
#include "core/encoding/q8_0.h"
#include "core/environment.h"

namespace packcheck {
namespace {

constexpr BlockRules kGgmlQ8{};
constexpr BlockRules kGgmlQ4{.code = CodeRounding::half_up};
constexpr BlockRules kSkainetQ4{
    .code = CodeRounding::half_up, .overflow = CodeOverflow::saturate, .scale = ScaleRule::skainet_private};

constexpr std::array<Encoding, 3> kEncodings{{
    {"q8_0", "ggml", 32, 34, true, kGgmlQ8, q8_0_quantize_block, q8_0_dequantize_block},
    {"q4_0", "ggml", 32, 18, true, kGgmlQ4, q4_0_quantize_block, q4_0_dequantize_block},
    {"q4_0", "skainet", 32, 18, true, kSkainetQ4, q4_0_quantize_block, q4_0_dequantize_block},
}};

Error wrong_size(const Encoding& e, std::string_view what, std::size_t is, std::size_t right) {
  return Error{std::string(what) + " holds " + std::to_string(is), e.id(), std::to_string(right)};
}

}  // namespace

std::span<const Encoding> all_encodings() { return kEncodings; }

Result<const Encoding*> encoding_named(std::string_view id) {
  std::string known;
  for (const Encoding& e : kEncodings) {
    if (e.id() == id) return &e;
    known += (known.empty() ? "" : ", ") + e.id();
  }
  return refuse("unknown encoding '" + std::string(id) + "'", {}, "one of " + known);
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
