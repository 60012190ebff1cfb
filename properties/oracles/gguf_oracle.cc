// The GGUF half of the file oracle, after docs/gguf.md; what ggml's own reader does beyond that is a choice.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "properties/oracles/file_oracle.h"

namespace packcheck::oracle {
namespace {

using file_detail::Draft;
using file_detail::Refusal;

using Wide = unsigned __int128;

/// Elements and bytes of a block, by type number; bytes 0: withdrawn.
struct Block {
  const char* name;
  unsigned elements;
  unsigned bytes;
};
const std::map<std::uint32_t, Block>& blocks() {
  static const std::map<std::uint32_t, Block> table{
      {0, {"F32", 1, 4}},         {1, {"F16", 1, 2}},         {2, {"Q4_0", 32, 18}},      {3, {"Q4_1", 32, 20}},
      {6, {"Q5_0", 32, 22}},      {7, {"Q5_1", 32, 24}},      {8, {"Q8_0", 32, 34}},      {9, {"Q8_1", 32, 36}},
      {10, {"Q2_K", 256, 84}},    {11, {"Q3_K", 256, 110}},   {12, {"Q4_K", 256, 144}},   {13, {"Q5_K", 256, 176}},
      {14, {"Q6_K", 256, 210}},   {15, {"Q8_K", 256, 292}},   {16, {"IQ2_XXS", 256, 66}}, {17, {"IQ2_XS", 256, 74}},
      {18, {"IQ3_XXS", 256, 98}}, {19, {"IQ1_S", 256, 50}},   {20, {"IQ4_NL", 32, 18}},   {21, {"IQ3_S", 256, 110}},
      {22, {"IQ2_S", 256, 82}},   {23, {"IQ4_XS", 256, 136}}, {24, {"I8", 1, 1}},         {25, {"I16", 1, 2}},
      {26, {"I32", 1, 4}},        {27, {"I64", 1, 8}},        {28, {"F64", 1, 8}},        {29, {"IQ1_M", 256, 56}},
      {30, {"BF16", 1, 2}},       {34, {"TQ1_0", 256, 54}},   {35, {"TQ2_0", 256, 66}},   {39, {"MXFP4", 32, 17}},
      {40, {"NVFP4", 64, 36}},    {41, {"Q1_0", 128, 18}},    {42, {"Q2_0", 64, 18}}};
  return table;
}

enum : std::uint32_t { kUint32 = 4, kBool = 7, kString = 8, kArray = 9, kUint64 = 10, kTypes = 13 };
constexpr const char* kTypeNames[kTypes] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                            "bool", "string", "array", "u64", "i64", "f64"};
constexpr unsigned kTypeBytes[kTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr unsigned kDeepest = 32;

bool utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto at = [&](std::size_t k) -> std::uint32_t {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U;
    };
    std::size_t extra = 0;
    std::uint32_t code = at(0);
    if (code >= 0x80) {
      if (code >> 5 == 6)
        extra = 1, code &= 31;
      else if (code >> 4 == 14)
        extra = 2, code &= 15;
      else if (code >> 3 == 30)
        extra = 3, code &= 7;
      else
        return false;
    }
    for (std::size_t k = 1; k <= extra; ++k) {
      if (at(k) >> 6 != 2) return false;
      code = code << 6 | (at(k) & 63);
    }
    constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[extra] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    i += extra + 1;
  }
  return true;
}

/// Follows the structure in the order of the document.
struct Follower {
  std::span<const std::uint8_t> file;
  std::size_t at = 0;
  unsigned word = 8;
  Draft draft;
  std::uint64_t alignment = 32;

  std::uint64_t number(unsigned size) {
    if (file.size() - at < size) throw Refusal{"cut short"};
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(file[at + i]) << (8 * i);
    at += size;
    return value;
  }
  std::string text() {
    const std::uint64_t size = number(word);
    if (size > file.size() - at) throw Refusal{"a string longer than the file"};
    std::string bytes(reinterpret_cast<const char*>(file.data()) + at, static_cast<std::size_t>(size));
    at += static_cast<std::size_t>(size);
    if (!utf8(bytes)) draft.may_refuse("text that is no UTF-8");
    return bytes;
  }
  std::uint32_t type() {
    const auto value = static_cast<std::uint32_t>(number(4));
    if (value >= kTypes) throw Refusal{"an unknown metadata type"};
    if (value >= kUint64 && word == 4) draft.may_refuse("a type that version 1 lacks");
    return value;
  }

  std::string scalar(std::uint32_t kind) {
    constexpr const char* kHex = "0123456789abcdef";
    const std::uint64_t value = number(kTypeBytes[kind]);
    if (kind == kBool && value > 1) throw Refusal{"a bool that is neither 0 nor 1"};
    std::string hex = "0x";
    for (unsigned digit = kTypeBytes[kind] * 2; digit-- > 0;) hex += kHex[value >> (4 * digit) & 15];
    return hex;
  }

  /// The value's words after its type.
  std::string value(std::uint32_t kind, unsigned depth) {
    if (kind == kString) return word_of(text());
    if (kind != kArray) return scalar(kind);
    if (depth > 0) draft.may_refuse("an array of arrays");
    if (depth > kDeepest) throw std::pair{Soundness::open, "deeply nested arrays"};
    const std::uint32_t element = type();
    const std::uint64_t count = number(word);
    std::string words = std::string(kTypeNames[element]) + " " + std::to_string(count);
    for (std::uint64_t i = 0; i < count; ++i) words.append(" ").append(value(element, depth + 1));
    return words;
  }

  void metadata() {
    std::set<std::string> keys;
    const std::uint64_t count = entries;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string key = text();
      if (!keys.insert(key).second) throw Refusal{"duplicate key"};
      if (key.empty() || key.size() > 65535) draft.may_refuse("a key of unusual length");
      const std::uint32_t kind = type();
      const std::size_t start = at;
      draft.metadata.append("metadata ").append(word_of(key)).append(" ").append(kTypeNames[kind]);
      draft.metadata.append(" ").append(value(kind, 0)).append("\n");
      if (key == "general.alignment") set_alignment(kind, start);
    }
  }

  void set_alignment(std::uint32_t kind, std::size_t start) {
    if (kind != kUint32) throw Refusal{"an alignment that is no u32"};
    alignment = 0;
    for (unsigned i = 0; i < 4; ++i) alignment |= static_cast<std::uint64_t>(file[start + i]) << (8 * i);
    const bool power = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (alignment == 0)
      draft.may_refuse("an alignment of 0"), alignment = 32;
    else if (!power && alignment % 8 != 0)
      throw Refusal{"an alignment that is no power of two"};
    else if (!power || alignment < 8)
      draft.may_refuse("an unusual alignment");
  }

  struct Tensor {
    std::string name;
    std::string type;
    std::string shape;
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  std::vector<Tensor> table;
  std::uint64_t tensors = 0;
  std::uint64_t entries = 0;

  Wide up(Wide size) const { return (size + alignment - 1) / alignment * alignment; }

  void tensor_info() {
    Tensor t;
    t.name = text();
    if (t.name.size() > 64) throw Refusal{"a name of more than 64 bytes"};
    if (t.name.size() == 64) draft.may_refuse("a name of 64 bytes");
    for (const Tensor& other : table)
      if (other.name == t.name) throw Refusal{"duplicate name"};
    const std::uint64_t dimensions = number(4);
    if (dimensions > 4) throw Refusal{"more than 4 dimensions"};
    if (dimensions == 0) draft.may_refuse("a tensor without dimensions");
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 0; i < dimensions; ++i) sizes.push_back(number(word));
    const auto kind = static_cast<std::uint32_t>(number(4));
    t.offset = number(8);
    if (blocks().count(kind) == 0) throw Refusal{"an unknown or withdrawn type"};
    const Block block = blocks().at(kind);
    t.type = block.name;
    if (!sizes.empty() && sizes[0] % block.elements != 0) throw Refusal{"rows that are no whole blocks"};
    if (sizes.empty() && block.elements != 1) throw Refusal{"rows that are no whole blocks"};
    // 128 bits hold the product of the first two sizes; it must fit 64 before the next.
    Wide count = 1;
    bool zero = false;
    bool large = false;
    for (const std::uint64_t size : sizes) {
      if (size == 0) zero = true;
      if (size != 0) count *= size;
      if (count >> 64 != 0) large = true, count = 1;
    }
    const Wide bytes = count / block.elements * block.bytes;
    if ((large || bytes >> 64 != 0) && !zero) throw Refusal{"a size that does not fit 64 bits"};
    if (zero) draft.may_refuse("a dimension of 0");
    t.bytes = zero ? 0 : static_cast<std::uint64_t>(bytes);
    for (std::size_t i = sizes.size(); i-- > 0;) t.shape.append(std::to_string(sizes[i])).append(i == 0 ? "" : ",");
    table.push_back(std::move(t));
  }

  /// Every tensor aligned, inside the file, apart from the others.
  void lay_out() {
    const auto start = static_cast<std::uint64_t>(up(at));
    Wide in_order = 0;
    Wide end = 0;
    for (const Tensor& t : table) {
      if (t.offset % alignment != 0) throw Refusal{"an unaligned offset"};
      if (Wide{start} + t.offset + t.bytes > file.size()) throw Refusal{"data past the end of the file"};
      if (t.offset != in_order) draft.may_refuse("tensors in another order, or with gaps");
      in_order = up(Wide{t.offset} + t.bytes);
      end = std::max(end, Wide{t.offset} + t.bytes);
      for (const Tensor& other : table)
        if (&other != &t && other.bytes != 0 && t.bytes != 0 && other.offset < t.offset + t.bytes &&
            t.offset < other.offset + other.bytes)
          throw Refusal{"tensors that share bytes"};
      draft.add_tensor(t.name, t.type, t.shape, start + t.offset,
                       file.subspan(static_cast<std::size_t>(start + t.offset), static_cast<std::size_t>(t.bytes)));
    }
    if (file.size() < start + up(end)) draft.may_refuse("no padding after the last tensor");
    if (file.size() > start + up(end)) draft.may_refuse("bytes after the last tensor");
    draft.head.append("data_start ").append(std::to_string(start)).append("\n");
  }

  FileAnswer follow() {
    if (file.size() < 8 || file[0] != 'G' || file[1] != 'G' || file[2] != 'U' || file[3] != 'F')
      throw Refusal{"no GGUF"};
    at = 4;
    const std::uint64_t version = number(4);
    if (version != 0 && version % 65536 == 0) throw std::pair{Soundness::open, "big-endian"};
    if (version == 0 || version > 3) throw Refusal{"an unknown version"};
    if (version == 1) draft.may_refuse("version 1"), word = 4;
    tensors = number(word);
    entries = number(word);
    metadata();
    for (std::uint64_t i = 0; i < tensors; ++i) tensor_info();
    draft.head = "file gguf " + std::to_string(version) + " " + std::to_string(alignment) + "\n";
    draft.written = "file gguf " + std::to_string(version) + "\n";
    lay_out();
    return draft.finish();
  }
};

}  // namespace

FileAnswer read_gguf(std::span<const std::uint8_t> bytes) {
  try {
    return Follower{bytes, 0, 8, {}, 32, {}, 0, 0}.follow();
  } catch (const Refusal& refusal) {
    return {Soundness::unsound, refusal.reason, {}, {}};
  } catch (const std::pair<Soundness, const char*>& open) {
    return {open.first, open.second, {}, {}};
  }
}

}  // namespace packcheck::oracle
