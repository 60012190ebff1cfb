// The GGUF reader. Source of the rules: docs/gguf.md and src/gguf.cpp of ggml.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include "core/file/byte_cursor.h"
#include "core/file/checks.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kMostKeyBytes = 65535;
constexpr std::string_view kAlignmentKey = "general.alignment";

class GgufReader {
 public:
  GgufReader(std::span<const std::uint8_t> file, const FileRules& rules)
      : in_(file), size_(file.size()), rules_(rules) {}

  Result<TensorFile> read() {
    file_.kind = FileKind::gguf;
    header();
    const std::uint64_t tensors = count("tensors", 16 + word_);
    const std::uint64_t entries = count("metadata entries", 5 + word_);
    for (std::uint64_t i = 0; i < entries && in_.ok(); ++i) entry();
    alignment();
    for (std::uint64_t i = 0; i < tensors && in_.ok(); ++i) tensor();
    if (!in_.ok()) return tl::unexpected(in_.error());
    place_data();
    if (!in_.ok()) return tl::unexpected(in_.error());
    if (rules_.duplicates_last_wins) keep_last_of_equals(file_);
    if (rules_.overlap_unchecked) return std::move(file_);
    if (Result<void> apart = check_overlap(file_); !apart) return tl::unexpected(apart.error());
    return std::move(file_);
  }

 private:
  void header() {
    if (in_.take(4, "the letters GGUF") != "GGUF" && in_.ok()) in_.fail(0, "no GGUF file", "the letters GGUF");
    const std::uint64_t version = in_.number(4, "the version");
    if (!in_.ok()) return;
    if (version != 0 && (version & 0xFFFF) == 0)
      in_.fail(4, "a big-endian file", "a little-endian one; convert it with gguf_convert_endian.py");
    else if (version < 1 || version > 3)
      in_.fail(4, "version " + std::to_string(version), "1, 2 or 3");
    file_.version = static_cast<std::uint32_t>(version);
    word_ = version == 1 ? 4 : 8;
  }

  /// A count of things of at least `least` bytes each: more than fit the rest of the file are refused before
  /// anything is allocated.
  std::uint64_t count(const std::string& of, std::uint64_t least) {
    const std::size_t at = in_.at();
    const std::uint64_t number = in_.number(word_, "the number of " + of);
    if (rules_.reserves_first && number > file_.tensors.max_size()) file_.tensors.reserve(number);
    // Both counts of the header precede what they count.
    if (number <= in_.left() / std::max<std::uint64_t>(least, 1)) return number;
    in_.fail(at, std::to_string(number) + " " + of + " in the " + std::to_string(in_.left()) + " bytes that are left",
             "at least " + std::to_string(least) + " bytes for each");
    return 0;
  }

  std::string_view string(std::string_view what) {
    const std::size_t at = in_.at();
    std::uint64_t length = in_.number(word_, "a length");
    if (rules_.strings_clamped) length = std::min<std::uint64_t>(length, in_.left());
    const std::string_view text = in_.take(length, what);
    if (in_.ok() && !is_utf8(text)) in_.fail(at, std::string(what) + " that is no UTF-8", "UTF-8");
    return text;
  }

  ValueType type() {
    const std::size_t at = in_.at();
    const std::uint64_t number = in_.number(4, "a type");
    const std::uint64_t types = file_.version == 1 ? static_cast<std::uint64_t>(ValueType::u64) : kValueTypes;
    if (number < types) return static_cast<ValueType>(number);
    in_.fail(at, "metadata of type " + std::to_string(number), "0 to " + std::to_string(types - 1));
    return ValueType::u8;
  }

  void entry() {
    in_.set_owner("metadata entry " + std::to_string(file_.metadata.size()));
    const std::size_t at = in_.at();
    const std::string_view key = string("a key");
    if (in_.ok() && (key.empty() || key.size() > kMostKeyBytes))
      in_.fail(at, "a key of " + std::to_string(key.size()) + " bytes", "1 to 65535 bytes");
    in_.set_owner("metadata " + quoted(key));
    if (in_.ok() && !keys_.insert(key).second && !rules_.duplicates_last_wins)
      in_.fail(at, "duplicate key " + quoted(key), "each key once");
    const ValueType kind = type();
    file_.metadata.push_back({std::string(key), value(kind, 0)});
    in_.set_owner({});
  }

  MetadataValue value(ValueType kind, unsigned depth) {
    MetadataValue v;
    v.type = kind;
    if (kind == ValueType::string) v.bytes = string("a string");
    if (kind == ValueType::array) array(v, depth + 1);
    if (const std::size_t size = value_type_bytes(kind); size != 0) v.bytes = numbers(kind, 1);
    return v;
  }

  std::string_view numbers(ValueType kind, std::uint64_t many) {
    const std::size_t at = in_.at();
    const std::string_view bytes = in_.take(many * value_type_bytes(kind), value_type_name(kind));
    if (kind != ValueType::boolean) return bytes;
    const auto wrong = std::find_if(bytes.begin(), bytes.end(), [](char c) { return c != 0 && c != 1; });
    if (wrong != bytes.end())
      in_.fail(at + static_cast<std::size_t>(wrong - bytes.begin()),
               "a bool of " + std::to_string(static_cast<unsigned char>(*wrong)), "0 or 1");
    return bytes;
  }

  void array(MetadataValue& v, unsigned depth) {
    if (depth > kDeepestArray)
      return in_.fail(in_.at(), "arrays nested deeper than " + std::to_string(kDeepestArray), "a flatter array");
    v.element_type = type();
    const std::size_t size = value_type_bytes(v.element_type);
    const std::size_t least = size != 0 ? size : v.element_type == ValueType::string ? word_ : 4 + word_;
    const std::uint64_t many = count("elements", least);
    if (size != 0) v.bytes = numbers(v.element_type, many);
    for (std::uint64_t i = 0; size == 0 && i < many && in_.ok(); ++i)
      v.elements.push_back(value(v.element_type, depth));
  }

  void alignment() {
    file_.alignment = kDefaultAlignment;
    if (rules_.alignment_is_32) return;
    const MetadataValue* found = nullptr;
    for (const MetadataEntry& e : file_.metadata)
      if (e.key == kAlignmentKey) found = &e.value;
    if (found == nullptr || !in_.ok()) return;
    in_.set_owner("metadata 'general.alignment'");
    if (found->type != ValueType::u32)
      return in_.fail(in_.at(), "an alignment of type " + std::string(value_type_name(found->type)), "u32");
    std::uint32_t bytes = load_little_endian<std::uint32_t>(reinterpret_cast<const std::uint8_t*>(found->bytes.data()));
    if (bytes == 0 && rules_.zero_alignment_is_1) bytes = 1;
    if (!std::has_single_bit(bytes))
      in_.fail(in_.at(), "an alignment of " + std::to_string(bytes), "a power of two, such as 32");
    file_.alignment = std::max<std::uint32_t>(bytes, 1);
    in_.set_owner({});
  }

  void tensor() {
    FileTensor t;
    in_.set_owner("tensor " + std::to_string(file_.tensors.size()));
    const std::size_t at = in_.at();
    t.name = string("a name");
    in_.set_owner("tensor " + quoted(t.name));
    if (t.name.size() > kMostNameBytes)
      in_.fail(at, "a name of " + std::to_string(t.name.size()) + " bytes", "at most 64 bytes");
    if (in_.ok() && !names_.insert(t.name).second && !rules_.duplicates_last_wins)
      in_.fail(at, "duplicate name " + quoted(t.name), "each name once");
    dimensions(t);
    const std::size_t type_at = in_.at();
    const std::uint64_t number = in_.number(4, "a type");
    const StoredType* stored = gguf_type_numbered(static_cast<std::uint32_t>(number));
    if (stored == nullptr) in_.fail(type_at, "unknown type " + std::to_string(number), "a type of ggml, 0 to 42");
    t.offset = in_.number(8, "an offset");
    if (!in_.ok()) return;
    const Result<std::uint64_t> bytes = stored_bytes(*stored, t.shape, {}, rules_);
    if (!bytes) return in_.fail(type_at, bytes.error().what, bytes.error().right);
    t.bytes = *bytes;
    set_type(t, *stored);
    if (rules_.dims_as_stored) std::reverse(t.shape.begin(), t.shape.end());
    file_.tensors.push_back(std::move(t));
    in_.set_owner({});
  }

  void dimensions(FileTensor& t) {
    const std::size_t at = in_.at();
    const std::uint64_t many = in_.number(4, "the number of dimensions");
    const std::uint32_t most = rules_.many_dims ? 8 : kMostDimensions;
    if (many > most) return in_.fail(at, std::to_string(many) + " dimensions", "at most " + std::to_string(most));
    for (std::uint64_t i = 0; i < many; ++i) {
      const std::uint64_t size = in_.number(word_, "a dimension");
      t.shape.push_back(rules_.dims_as_32_bit ? size & 0xFFFFFFFF : size);
    }
    std::reverse(t.shape.begin(), t.shape.end());
  }

  /// Makes offsets absolute and holds them against the file.
  void place_data() {
    file_.data_start = (in_.at() + file_.alignment - 1) / file_.alignment * file_.alignment;
    std::uint64_t end = file_.data_start;
    for (FileTensor& t : file_.tensors) {
      const std::string where = "tensor " + quoted(t.name);
      in_.set_owner(where);
      if (t.offset % file_.alignment != 0 && !rules_.unaligned_accepted)
        return in_.fail(in_.at(), "offset " + std::to_string(t.offset),
                        "a multiple of the alignment " + std::to_string(file_.alignment));
      if (!fits(t))
        return in_.fail(in_.at(),
                        std::to_string(t.bytes) + " bytes at offset " + std::to_string(t.offset) +
                            " of data that start at byte " + std::to_string(file_.data_start) + " of " +
                            std::to_string(size_),
                        "data within the file");
      t.offset += file_.data_start;
      end = std::max(end, t.offset + t.bytes);
    }
    in_.set_owner({});
    const std::uint64_t padded = (end + file_.alignment - 1) / file_.alignment * file_.alignment;
    if (size_ > padded && !rules_.end_unchecked)
      in_.fail(static_cast<std::size_t>(padded), std::to_string(size_ - padded) + " bytes after the last tensor",
               "nothing after its padding");
  }

  bool fits(const FileTensor& t) const {
    if (rules_.end_unchecked) return true;
    if (rules_.range_check_wraps) return file_.data_start + t.offset + t.bytes <= size_;
    return file_.data_start <= size_ && t.offset <= size_ - file_.data_start &&
           t.bytes <= size_ - file_.data_start - t.offset;
  }

  ByteCursor in_;
  std::uint64_t size_;
  const FileRules& rules_;
  std::size_t word_ = 8;  ///< bytes of a count, a length and a dimension
  TensorFile file_;
  std::unordered_set<std::string_view> keys_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Result<TensorFile> read_gguf(std::span<const std::uint8_t> file, const FileRules& rules) {
  return GgufReader(file, rules).read();
}

}  // namespace packcheck
