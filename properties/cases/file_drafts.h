// properties/cases/file_drafts.h: how tensor files are drawn, a kind in a file of its own. For files.cc alone.
//
// A draft of the header is drawn first and changed before it becomes bytes, so that a change stands alone: every
// length and offset around it still fits. What a file is worth is the oracle's to say, not this generator's.
#pragma once

#include <string>
#include <string_view>

#include "properties/cases/cases.h"
#include "properties/source.h"

namespace packcheck {

inline constexpr std::uint64_t kPast32 = std::uint64_t{1} << 32;

/// `change`: 1 and 2 change the draft (the header, one tensor); anything else leaves the file sound.
[[nodiscard]] Bytes draw_gguf_file(Source& source, std::uint64_t change);
/// The same: 1 changes the text of the header, 2 one entry.
[[nodiscard]] Bytes draw_safetensors_file(Source& source, std::uint64_t change);

// What both kinds are made of.
inline void put(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }
inline void put(Bytes& out, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}
inline std::uint64_t up(std::uint64_t size, std::uint64_t alignment) {
  return alignment == 0 ? size : (size + alignment - 1) / alignment * alignment;
}

/// Names: plain, empty, and what must be escaped or is more than ASCII.
inline std::string draw_name(Source& source, std::size_t index) {
  static constexpr std::string_view kPrefixes[] = {"w",    "blk.0.attn_q.weight",      "",
                                                   "a b%", "\xC3\xA9\xF0\x9F\x98\x80", "\"\\/\t"};
  return std::string(source.once_in(3) ? source.pick(kPrefixes) : "t") + std::to_string(index);
}

inline Bytes draw_data(Source& source, std::uint64_t size) {
  const std::uint64_t step = source.bits(4);
  Bytes data(size);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * step + 1);
  return data;
}

}  // namespace packcheck
