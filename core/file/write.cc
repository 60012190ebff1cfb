// The writers of both kinds.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include "core/file/checks.h"
#include "core/file/header_json.h"

namespace packcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Data = std::span<const std::span<const std::uint8_t>>;

void append(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }
void append(Bytes& out, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

/// Names that are UTF-8 and differ, known types, and data of the size that the shape implies.
Result<void> check_tensors(const TensorFile& file, Data data) {
  if (data.size() != file.tensors.size())
    return refuse("data of " + std::to_string(data.size()) + " tensors", "data", std::to_string(file.tensors.size()));
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const FileTensor& t = file.tensors[i];
    const std::string where = "tensor " + quoted(t.name);
    if (!is_utf8(t.name)) return refuse("a name that is no UTF-8", where, "UTF-8");
    if (!names.insert(t.name).second) return refuse("duplicate name", where, "each name once");
    const StoredType* stored = stored_type_named(file.kind, t.dtype);
    if (stored == nullptr)
      return refuse("dtype " + quoted(t.dtype), where, "a type of " + std::string(file_kind_name(file.kind)));
    const Result<std::uint64_t> bytes = stored_bytes(*stored, t.shape, where, {});
    if (!bytes) return tl::unexpected(bytes.error());
    if (*bytes != data[i].size())
      return refuse(std::to_string(data[i].size()) + " bytes of data", where,
                    std::to_string(*bytes) + ", as dtype and shape say");
  }
  return {};
}

Result<void> check_keys(const TensorFile& file) {
  std::unordered_set<std::string_view> keys;
  for (const MetadataEntry& entry : file.metadata) {
    if (!is_utf8(entry.key)) return refuse("a key that is no UTF-8", "metadata " + quoted(entry.key), "UTF-8");
    if (!keys.insert(entry.key).second)
      return refuse("duplicate key", "metadata " + quoted(entry.key), "each key once");
  }
  return {};
}

/// A value as GGUF 2 and 3 store it, after its type.
Result<void> append_value(Bytes& out, const MetadataValue& v, const std::string& where, unsigned depth) {
  const auto malformed = [&] { return refuse("a value whose bytes do not fit its type", where, "whole numbers"); };
  if (v.type == ValueType::string) {
    if (!is_utf8(v.bytes)) return refuse("a string that is no UTF-8", where, "UTF-8");
    append(out, v.bytes.size(), 8);
    append(out, v.bytes);
    return {};
  }
  const ValueType kind = v.type == ValueType::array ? v.element_type : v.type;
  const std::size_t size = value_type_bytes(kind);
  if (kind == ValueType::boolean &&
      std::any_of(v.bytes.begin(), v.bytes.end(), [](char c) { return c != 0 && c != 1; }))
    return refuse("a bool that is neither 0 nor 1", where, "0 or 1");
  if (v.type != ValueType::array) {
    if (v.bytes.size() != size) return malformed();
    append(out, v.bytes);
    return {};
  }
  if (depth >= kDeepestArray)
    return refuse("arrays nested deeper than " + std::to_string(kDeepestArray), where, "a flatter array");
  if (size != 0 && v.bytes.size() % size != 0) return malformed();
  append(out, static_cast<std::uint64_t>(kind), 4);
  append(out, v.count(), 8);
  if (size != 0) append(out, v.bytes);
  for (const MetadataValue& element : v.elements) {
    if (element.type != kind) return refuse("elements of several types", where, "one type");
    if (Result<void> ok = append_value(out, element, where, depth + 1); !ok) return ok;
  }
  return {};
}

Result<std::uint64_t> alignment_of(const TensorFile& file) {
  const MetadataValue* found = file.find_metadata("general.alignment");
  if (found == nullptr) return kDefaultAlignment;
  const std::string where = "metadata 'general.alignment'";
  if (found->type != ValueType::u32 || found->bytes.size() != 4) return refuse("not a u32", where, "a u32");
  const auto bytes = load_little_endian<std::uint32_t>(reinterpret_cast<const std::uint8_t*>(found->bytes.data()));
  if (!std::has_single_bit(bytes)) return refuse(std::to_string(bytes), where, "a power of two");
  return bytes;
}

void pad(Bytes& out, std::uint64_t alignment) {
  out.resize(static_cast<std::size_t>((out.size() + alignment - 1) / alignment * alignment));
}

Result<void> append_metadata(Bytes& out, const TensorFile& file) {
  for (const MetadataEntry& entry : file.metadata) {
    const std::string where = "metadata " + quoted(entry.key);
    if (entry.key.empty() || entry.key.size() > 65535)
      return refuse("a key of " + std::to_string(entry.key.size()) + " bytes", where, "1 to 65535 bytes");
    append(out, entry.key.size(), 8);
    append(out, entry.key);
    append(out, static_cast<std::uint64_t>(entry.value.type), 4);
    if (Result<void> ok = append_value(out, entry.value, where, 0); !ok) return ok;
  }
  return {};
}

/// The table of a GGUF's tensors; `start` is added to each offset.
Result<void> append_table(Bytes& out, const TensorFile& file, Data data, std::uint64_t alignment, std::uint64_t start,
                          const FileRules& rules) {
  std::uint64_t offset = start;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const FileTensor& t = file.tensors[i];
    const std::string where = "tensor " + quoted(t.name);
    if (t.name.size() > kMostNameBytes) return refuse("a name of more than 64 bytes", where, "at most 64 bytes");
    if (t.shape.size() > kMostDimensions)
      return refuse(std::to_string(t.shape.size()) + " dimensions", where, "at most 4");
    append(out, t.name.size(), 8);
    append(out, t.name);
    append(out, t.shape.size(), 4);
    std::vector<std::uint64_t> dims(t.shape.rbegin(), t.shape.rend());
    if (rules.writes_dims_reversed) std::reverse(dims.begin(), dims.end());
    for (const std::uint64_t size : dims) append(out, size, 8);
    append(out, stored_type_named(FileKind::gguf, t.dtype)->number, 4);
    append(out, offset, 8);
    offset += data[i].size();
    if (!rules.padding_forgotten) offset = start + (offset - start + alignment - 1) / alignment * alignment;
  }
  return {};
}

}  // namespace

Result<Bytes> write_gguf(const TensorFile& file, Data data, const FileRules& rules) {
  if (file.version != 2 && file.version != 3)
    return refuse("version " + std::to_string(file.version), "GGUF", "2 or 3");
  if (Result<void> ok = check_tensors(file, data); !ok) return tl::unexpected(ok.error());
  if (Result<void> ok = check_keys(file); !ok) return tl::unexpected(ok.error());
  const Result<std::uint64_t> alignment = alignment_of(file);
  if (!alignment) return tl::unexpected(alignment.error());
  Bytes out;
  append(out, "GGUF");
  append(out, file.version, 4);
  append(out, file.tensors.size(), 8);
  append(out, file.metadata.size(), 8);
  if (Result<void> ok = append_metadata(out, file); !ok) return tl::unexpected(ok.error());
  Bytes table;
  if (Result<void> ok = append_table(table, file, data, *alignment, 0, rules); !ok) return tl::unexpected(ok.error());
  if (rules.offsets_from_file_start) {
    const std::uint64_t start = (out.size() + table.size() + *alignment - 1) / *alignment * *alignment;
    table.clear();
    if (Result<void> ok = append_table(table, file, data, *alignment, start, rules); !ok)
      return tl::unexpected(ok.error());
  }
  out.insert(out.end(), table.begin(), table.end());
  pad(out, *alignment);
  for (const std::span<const std::uint8_t> bytes : data) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    if (!rules.padding_forgotten) pad(out, *alignment);
  }
  return out;
}

Result<Bytes> write_safetensors(const TensorFile& file, Data data, const FileRules&) {
  if (Result<void> ok = check_tensors(file, data); !ok) return tl::unexpected(ok.error());
  if (Result<void> ok = check_keys(file); !ok) return tl::unexpected(ok.error());
  std::string header = "{";
  if (!file.metadata.empty()) header += "\"__metadata__\":{";
  for (const MetadataEntry& entry : file.metadata) {
    const std::string where = "metadata " + quoted(entry.key);
    if (entry.value.type != ValueType::string)
      return refuse("a value of type " + std::string(value_type_name(entry.value.type)), where, "a string");
    if (!is_utf8(entry.value.bytes)) return refuse("a string that is no UTF-8", where, "UTF-8");
    if (header.back() != '{') header += ',';
    append_header_string(header, entry.key);
    header += ':';
    append_header_string(header, entry.value.bytes);
  }
  if (!file.metadata.empty()) header += '}';
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const FileTensor& t = file.tensors[i];
    if (t.name == "__metadata__") return refuse("a reserved name", "tensor '__metadata__'", "another name");
    if (header.size() > 1) header += ',';
    append_header_string(header, t.name);
    header.append(":{\"dtype\":\"").append(t.dtype).append("\",\"shape\":[");
    for (std::size_t d = 0; d < t.shape.size(); ++d) {
      if (d != 0) header += ',';
      header += std::to_string(t.shape[d]);
    }
    header.append("],\"data_offsets\":[").append(std::to_string(offset)).append(",");
    offset += data[i].size();
    header.append(std::to_string(offset)).append("]}");
  }
  header += '}';
  header.resize((header.size() + 7) / 8 * 8, ' ');
  if (header.size() > kMostHeaderBytes)
    return refuse("a header of " + std::to_string(header.size()) + " bytes", "safetensors",
                  "at most " + std::to_string(kMostHeaderBytes));
  Bytes out;
  append(out, header.size(), 8);
  append(out, header);
  for (const std::span<const std::uint8_t> bytes : data) out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

}  // namespace packcheck
