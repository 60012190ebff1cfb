#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/encoding/fast_blocks.h"
#include "core/encoding/rows.h"
#include "core/environment.h"

namespace packcheck {
namespace {

// The registry: one line per file of rows.
using Rows = std::span<const Encoding> (*)();
constexpr std::array<Rows, 6> kRows{ggml_rows, skainet_rows, mlx_rows, ocp_rows, nvidia_rows, column_rows};

std::vector<Encoding> gathered() {
  std::vector<Encoding> all;
  for (const Rows rows : kRows) all.insert(all.end(), rows().begin(), rows().end());
  return all;
}

Error wrong_size(const Encoding& e, std::string_view what, std::size_t is, std::size_t right) {
  return Error{std::string(what) + " holds " + std::to_string(is), e.id(), std::to_string(right)};
}

/// Every encoding: "q8_0:ggml, q4_0:ggml, q4_0:skainet".
std::string known_ids() {
  std::string known;
  for (const Encoding& e : all_encodings()) known += (known.empty() ? "" : ", ") + e.id();
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
  for (const Encoding& e : all_encodings()) {
    if (e.name == id) return e.id();
    const std::size_t edits = edits_between(id, e.id());
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = e.id();
  }
  return nearest;
}

}  // namespace

std::span<const Encoding> all_encodings() {
  static const std::vector<Encoding> encodings = gathered();
  return encodings;
}

std::string_view blocking_name(Blocking blocking) {
  static constexpr std::array<std::string_view, 3> kNames{"volume", "row", "tensor"};
  return kNames[static_cast<std::size_t>(blocking)];
}

std::size_t position_of_byte(const Encoding& e, std::size_t blocks, std::size_t block, std::size_t at) {
  if (e.planes[0] == 0) return block * e.block_bytes + at;
  std::size_t before = 0;  // bytes per block in planes that come first
  for (const std::size_t plane : e.planes) {
    if (at < plane) {
      const std::size_t start = e.rules.planes == PlaneOrder::declared ? before : e.block_bytes - before - plane;
      return start * blocks + block * plane + at;
    }
    at -= plane;
    before += plane;
  }
  return blocks * e.block_bytes;
}

std::string_view scale_format_name(ScaleFormat format) {
  static constexpr std::array<std::string_view, 9> kNames{"f16",   "f32",  "bf16",         "e8m0",        "e4m3fn",
                                                          "ue4m3", "int8", "packed 4-bit", "packed 6-bit"};
  return kNames[static_cast<std::size_t>(format)];
}

Result<const Encoding*> encoding_named(std::string_view id) {
  for (const Encoding& e : all_encodings())
    if (e.has_id(id)) return &e;
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
  const std::size_t count = values.size() / e.block_size;
  for (std::size_t i = 0; e.accepts_block != nullptr && i < count; ++i)
    if (!e.accepts_block(&values[i * e.block_size]))
      return refuse("block " + std::to_string(i) + " has a number that becomes no code", e.id(),
                    "numbers whose product with 1/scale is not NaN");
  if (QuantizeRun* const run = fast_quantizing(e)) {
    run(e, values.data(), blocks.data(), count);
    return {};
  }
  if (e.planes[0] == 0) {
    for (std::size_t i = 0; i < count; ++i)
      e.quantize_block(e.rules, &values[i * e.block_size], &blocks[i * e.block_bytes]);
    return {};
  }
  std::vector<std::uint8_t> block(e.block_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    // What the quantizer leaves unwritten stays as it was in the array.
    for (std::size_t at = 0; at < block.size(); ++at) block[at] = blocks[position_of_byte(e, count, i, at)];
    e.quantize_block(e.rules, &values[i * e.block_size], block.data());
    for (std::size_t at = 0; at < block.size(); ++at) blocks[position_of_byte(e, count, i, at)] = block[at];
  }
  return {};
}

Result<void> dequantize(const Encoding& e, std::span<const std::uint8_t> blocks, std::span<float> values) {
  const Result<std::size_t> count = decoded_count(e, blocks.size());
  if (!count) return tl::unexpected(count.error());
  if (values.size() != *count) return tl::unexpected(wrong_size(e, "value buffer", values.size(), *count));
  const ExactEnvironment exact;
  const std::size_t whole = values.size() / e.block_size;
  if (DequantizeRun* const run = fast_dequantizing(e)) {
    run(e, blocks.data(), values.data(), whole);
    return {};
  }
  std::vector<std::uint8_t> gathered(e.planes[0] == 0 ? 0 : e.block_bytes);
  for (std::size_t i = 0; i < whole; ++i) {
    const std::uint8_t* block = &blocks[i * e.block_bytes];
    if (!gathered.empty()) {
      for (std::size_t at = 0; at < gathered.size(); ++at) gathered[at] = blocks[position_of_byte(e, whole, i, at)];
      block = gathered.data();
    }
    if (!e.dequantize_block(e.rules, block, &values[i * e.block_size]))
      return refuse("a code of block " + std::to_string(i) + " is refused", e.id(), "codes this decoder accepts");
  }
  return {};
}

}  // namespace packcheck
