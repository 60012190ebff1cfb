// The safetensors reader. Source of the rules: the README of safetensors and safetensors/src/tensor.rs.
#include <algorithm>
#include <unordered_set>

#include "core/file/checks.h"
#include "core/file/header_json.h"

namespace packcheck {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::uint64_t kLengthBytes = 8;
/// What one request of a client fetches of a remote file (huggingface_hub); for a faulty twin.
constexpr std::uint64_t kFirstRequest = 100'001;

/// A tensor's entry in the header; offsets count from the start of the data.
struct Entry {
  FileTensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class SafetensorsReader {
 public:
  SafetensorsReader(std::span<const std::uint8_t> bytes, const FileRules& rules) : bytes_(bytes), rules_(rules) {}

  Result<TensorFile> read() {
    Result<std::string_view> text = header();
    if (!text) return tl::unexpected(text.error());
    HeaderJson json(*text, kLengthBytes);
    if (text->empty() || text->front() != '{')
      return refuse("a header that does not start with '{'", "byte 8", "a JSON object");
    document(json);
    json.finish();
    if (!json.ok()) return tl::unexpected(json.error());
    if (Result<void> placed = place(); !placed) return tl::unexpected(placed.error());
    if (Result<void> covered = check_cover(); !covered) return tl::unexpected(covered.error());
    for (Entry& e : entries_) file_.tensors.push_back(std::move(e.tensor));
    if (rules_.duplicates_last_wins) keep_last_of_equals(file_);
    return std::move(file_);
  }

 private:
  Result<std::string_view> header() {
    const std::uint64_t size = bytes_.size();
    if (size < kLengthBytes)
      return refuse("a file of " + std::to_string(size) + " bytes", "byte 0", "8 bytes of header length");
    const auto length = load_little_endian<std::uint64_t>(bytes_.data());
    std::uint64_t available = size - kLengthBytes;
    const bool passes = rules_.length_wraps && kLengthBytes + length <= size;
    if (length > available && !passes)
      return refuse("a header of " + std::to_string(length) + " bytes in a file of " + std::to_string(size), "byte 0",
                    "at most " + std::to_string(available) + " bytes");
    if (length > kMostHeaderBytes && !passes)
      return refuse("a header of " + std::to_string(length) + " bytes", "byte 0",
                    "at most " + std::to_string(kMostHeaderBytes));
    file_.data_start = kLengthBytes + std::min(length, available);
    if (rules_.start_rounded_to_8) file_.data_start = std::min((file_.data_start + 7) / 8 * 8, size);
    if (rules_.header_cut) available = std::min(available, kFirstRequest - kLengthBytes);
    const auto* const text = reinterpret_cast<const char*>(bytes_.data() + kLengthBytes);
    return std::string_view(text, static_cast<std::size_t>(std::min(length, available)));
  }

  void document(HeaderJson& json) {
    json.expect('{');
    if (json.next_is('}')) return;
    do {
      const std::string key = json.string();
      json.set_pointer(pointer_part(key));
      if (json.ok() && !keys_.insert(key).second && !rules_.duplicates_last_wins)
        json.fail("duplicate key " + quoted(key), "each key once");
      json.expect(':');
      if (key == kMetadataKey)
        metadata(json);
      else
        tensor(json, key);
      json.set_pointer({});
    } while (json.next_is(','));
    json.expect('}');
  }

  void metadata(HeaderJson& json) {
    std::unordered_set<std::string> keys;
    json.expect('{');
    if (json.next_is('}')) return;
    do {
      MetadataEntry entry;
      entry.key = json.string();
      json.set_pointer(pointer_part(kMetadataKey) + pointer_part(entry.key));
      if (json.ok() && !keys.insert(entry.key).second && !rules_.duplicates_last_wins)
        json.fail("duplicate key " + quoted(entry.key), "each key once");
      json.expect(':');
      entry.value.bytes = json.string();
      if (json.ok()) file_.metadata.push_back(std::move(entry));
      json.set_pointer(pointer_part(kMetadataKey));
    } while (json.next_is(','));
    json.expect('}');
  }

  void tensor(HeaderJson& json, const std::string& name) {
    Entry entry;
    entry.tensor.name = name;
    const std::string pointer = pointer_part(name);
    std::unordered_set<std::string> members;
    json.expect('{');
    do {
      const std::string member = json.string();
      json.set_pointer(pointer + pointer_part(member));
      if (json.ok() && !members.insert(member).second) json.fail("duplicate key " + quoted(member), "each key once");
      json.expect(':');
      if (member == "dtype")
        dtype(json, entry.tensor);
      else if (member == "shape")
        entry.tensor.shape = integers(json);
      else if (member == "data_offsets")
        offsets(json, entry);
      else
        json.fail("unknown member " + quoted(member), "dtype, shape and data_offsets");
      json.set_pointer(pointer);
    } while (json.next_is(','));
    json.expect('}');
    for (const char* needed : {"dtype", "shape", "data_offsets"})
      if (json.ok() && !members.contains(needed))
        json.fail("missing " + std::string(needed), "dtype, shape and data_offsets");
    if (json.ok()) entries_.push_back(std::move(entry));
  }

  static void dtype(HeaderJson& json, FileTensor& tensor) {
    const std::string name = json.string();
    const StoredType* stored = stored_type_named(FileKind::safetensors, name);
    if (json.ok() && stored == nullptr) {
      std::string known;
      for (const StoredType& type : stored_types(FileKind::safetensors))
        known.append(known.empty() ? "" : ", ").append(type.name);
      json.fail("unknown dtype " + quoted(name), known);
    }
    if (stored != nullptr) set_type(tensor, *stored);
  }

  std::vector<std::uint64_t> integers(HeaderJson& json) const {
    std::vector<std::uint64_t> values;
    json.expect('[');
    if (json.next_is(']')) return values;
    do {
      const std::uint64_t value = json.integer();
      values.push_back(rules_.dims_as_32_bit ? value & 0xFFFFFFFF : value);
    } while (json.ok() && json.next_is(','));
    json.expect(']');
    return values;
  }

  static void offsets(HeaderJson& json, Entry& entry) {
    json.expect('[');
    entry.begin = json.integer();
    json.expect(',');
    entry.end = json.integer();
    json.expect(']');
  }

  /// Holds each tensor's offsets against its shape and the file.
  Result<void> place() {
    const std::uint64_t data = bytes_.size() - file_.data_start;
    for (Entry& e : entries_) {
      FileTensor& t = e.tensor;
      const std::string where = pointer_part(t.name) + "/data_offsets";
      if (e.end < e.begin && rules_.reversed_is_empty) e.end = e.begin = 0;
      if (e.end < e.begin)
        return refuse("[" + std::to_string(e.begin) + ", " + std::to_string(e.end) + "] ends before it begins", where,
                      "the begin, then the end");
      const StoredType* stored = stored_type_named(FileKind::safetensors, t.dtype);
      Result<std::uint64_t> size = stored_bytes(*stored, t.shape, pointer_part(t.name) + "/shape", rules_);
      if (!size && !rules_.size_from_offsets) return tl::unexpected(size.error());
      if (rules_.size_from_offsets) size = e.end - e.begin;
      if (*size != e.end - e.begin)
        return refuse(std::to_string(e.end - e.begin) + " bytes between the offsets", where,
                      std::to_string(*size) + " bytes, as dtype and shape say");
      const bool fits = rules_.range_check_wraps ? file_.data_start + e.end <= bytes_.size() : e.end <= data;
      if (!fits && !rules_.end_unchecked)
        return refuse("ends at byte " + std::to_string(e.end) + " of " + std::to_string(data) + " bytes of data", where,
                      "data within the file");
      t.offset = file_.data_start + e.begin;
      t.bytes = *size;
    }
    return {};
  }

  /// In the order of their offsets, tensors must follow each other from the first byte of the data to the last.
  Result<void> check_cover() {
    std::vector<const Entry*> order;
    for (const Entry& e : entries_) order.push_back(&e);
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
    });
    std::uint64_t end = 0;
    for (const Entry* e : order) {
      const std::string where = pointer_part(e->tensor.name) + "/data_offsets";
      if (e->begin < end && !rules_.overlap_unchecked)
        return refuse("begins at " + std::to_string(e->begin) + ", before the tensor in front ends", where,
                      std::to_string(end));
      if (e->begin > end && !rules_.holes_accepted)
        return refuse("begins at " + std::to_string(e->begin) + ", a hole after the tensor in front", where,
                      std::to_string(end));
      end = std::max(end, e->end);
    }
    const std::uint64_t data = bytes_.size() - file_.data_start;
    if (end >= data || rules_.trailing_accepted) return {};
    return refuse(std::to_string(data - end) + " bytes after the last tensor",
                  "byte " + std::to_string(file_.data_start + end), "a file that ends with its last tensor");
  }

  std::span<const std::uint8_t> bytes_;
  const FileRules& rules_;
  TensorFile file_;
  std::vector<Entry> entries_;
  std::unordered_set<std::string> keys_;
};

}  // namespace

Result<TensorFile> read_safetensors(std::span<const std::uint8_t> file, const FileRules& rules) {
  return SafetensorsReader(file, rules).read();
}

}  // namespace packcheck
