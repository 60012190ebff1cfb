// Tensor files: read_tensors, write_tensors. The listing is described in subjects/PROTOCOL.md.
#include <charconv>
#include <stdexcept>

#include "core/file/tensor_file.h"
#include "subjects/calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {
namespace {

constexpr std::string_view kUpperDigits = "0123456789ABCDEF";
constexpr std::string_view kLowerDigits = "0123456789abcdef";

// Writing a listing.

std::string escaped(std::string_view bytes) {
  std::string word = "=";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '%')
      word += c;
    else
      (((word += '%') += kUpperDigits[byte >> 4]) += kUpperDigits[byte & 15]);
  }
  return word;
}

/// A little-endian number, its highest digit first.
void append_number(std::string& line, std::string_view bytes) {
  line += " 0x";
  for (std::size_t i = bytes.size(); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    (line += kLowerDigits[byte >> 4]) += kLowerDigits[byte & 15];
  }
}

void append_value(std::string& line, const MetadataValue& v) {
  if (v.type == ValueType::string) {
    line.append(" ").append(escaped(v.bytes));
  } else if (v.type != ValueType::array) {
    append_number(line, v.bytes);
  } else {
    line.append(" ").append(value_type_name(v.element_type)).append(" ").append(std::to_string(v.count()));
    const std::size_t size = value_type_bytes(v.element_type);
    for (std::size_t at = 0; size != 0 && at < v.bytes.size(); at += size)
      append_number(line, std::string_view(v.bytes).substr(at, size));
    for (const MetadataValue& element : v.elements) append_value(line, element);
  }
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t size : shape) text.append(text.empty() ? "" : ",").append(std::to_string(size));
  return text.empty() ? "-" : text;
}

std::string listing_of(const TensorFile& file) {
  std::string text = "file ";
  text += file_kind_name(file.kind);
  if (file.kind == FileKind::gguf)
    text.append(" ").append(std::to_string(file.version)).append(" ").append(std::to_string(file.alignment));
  text.append("\ndata_start ").append(std::to_string(file.data_start)).append("\n");
  for (const MetadataEntry& entry : file.metadata) {
    text.append("metadata ").append(escaped(entry.key)).append(" ").append(value_type_name(entry.value.type));
    append_value(text, entry.value);
    text += '\n';
  }
  for (const FileTensor& t : file.tensors) {
    text.append("tensor ").append(escaped(t.name)).append(" ").append(t.dtype).append(" ").append(shape_text(t.shape));
    text.append(" ").append(std::to_string(t.offset)).append(" ").append(std::to_string(t.bytes)).append("\n");
  }
  return text;
}

// Reading one, for write_tensors.

/// The words of one line; a failure makes every later word empty.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }
  void fail() { ok_ = false; }

  std::string_view next() {
    if (rest_.empty()) ok_ = false;
    if (!ok_) return {};
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::uint64_t count() { return number(next(), 10); }
  std::uint64_t number(std::string_view digits, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) ok_ = false;
    return ok_ ? value : 0;
  }
  std::string bytes() {
    const std::string_view word = next();
    std::string text;
    if (word.empty() || word[0] != '=') ok_ = false;
    for (std::size_t i = 1; i < word.size() && ok_; ++i) {
      if (word[i] != '%') {
        text += word[i];
        continue;
      }
      text += static_cast<char>(number(word.substr(i + 1, 2), 16));
      i += 2;
      if (i >= word.size()) ok_ = false;
    }
    return text;
  }
  ValueType type() {
    const std::optional<ValueType> found = value_type_named(next());
    if (!found) ok_ = false;
    return found.value_or(ValueType::u8);
  }
  void append_number(std::string& bytes, ValueType kind) {
    const std::string_view word = next();
    const std::uint64_t value = word.substr(0, 2) == "0x" ? number(word.substr(2), 16) : (fail(), 0);
    for (std::size_t i = 0; i < value_type_bytes(kind); ++i) bytes += static_cast<char>(value >> (8 * i));
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

MetadataValue parse_value(Words& words, ValueType kind, unsigned depth) {
  MetadataValue v;
  v.type = kind;
  if (kind == ValueType::string) {
    v.bytes = words.bytes();
  } else if (kind != ValueType::array) {
    words.append_number(v.bytes, kind);
  } else if (depth > kDeepestArray) {
    words.fail();
  } else {
    v.element_type = words.type();
    const std::uint64_t count = words.count();
    for (std::uint64_t i = 0; i < count && words.ok(); ++i) {
      if (value_type_bytes(v.element_type) != 0)
        words.append_number(v.bytes, v.element_type);
      else
        v.elements.push_back(parse_value(words, v.element_type, depth + 1));
    }
  }
  return v;
}

struct Contents {
  TensorFile file;
  std::vector<std::span<const std::uint8_t>> data;
};

bool parse_tensor(Words& words, std::string_view data, Contents& contents) {
  FileTensor t;
  t.name = words.bytes();
  t.dtype = std::string(words.next());
  const std::string_view shape = words.next();
  for (std::size_t at = 0; shape != "-" && at < shape.size() + 1 && words.ok();) {
    const std::size_t comma = std::min(shape.find(',', at), shape.size());
    t.shape.push_back(words.number(shape.substr(at, comma - at), 10));
    at = comma + 1;
  }
  const std::uint64_t offset = words.count();
  const std::uint64_t bytes = words.count();
  if (!words.done() || offset > data.size() || bytes > data.size() - offset) return false;
  contents.data.push_back(bytes_of(data.substr(offset, bytes)));
  contents.file.tensors.push_back(std::move(t));
  return true;
}

bool parse_line(std::string_view line, std::string_view data, Contents& contents) {
  Words words(line);
  const std::string_view kind = words.next();
  if (kind == "tensor") return parse_tensor(words, data, contents);
  if (kind == "metadata") {
    MetadataEntry entry;
    entry.key = words.bytes();
    const ValueType type = words.type();
    entry.value = parse_value(words, type, 0);
    contents.file.metadata.push_back(std::move(entry));
    return words.done();
  }
  if (kind != "file") return false;
  const std::string_view name = words.next();
  contents.file.kind = name == "gguf" ? FileKind::gguf : FileKind::safetensors;
  if (name == "gguf") contents.file.version = static_cast<std::uint32_t>(words.count());
  return words.done() && name == file_kind_name(contents.file.kind);
}

Result<Contents> parse_contents(std::string_view text) {
  constexpr std::string_view kData = "\ndata\n";
  const std::size_t end = text.find(kData);
  if (end == std::string_view::npos) return refuse("no line 'data'", "write_tensors", "a listing, 'data', the data");
  const std::string_view data = text.substr(end + kData.size());
  Contents contents;
  std::size_t number = 1;
  for (std::size_t at = 0; at <= end; ++number) {
    const std::size_t stop = std::min(text.find('\n', at), end);
    if (!parse_line(text.substr(at, stop - at), data, contents))
      return refuse("not understood", "write_tensors, line " + std::to_string(number), "a line of a listing");
    at = stop + 1;
  }
  return contents;
}

}  // namespace

Reply answer_read_tensors(const ReferenceRules& rules, Arguments a) {
  if (a[0] != "safetensors" && a[0] != "gguf")
    return {Outcome::skipped, {}, "no reader of '" + std::string(a[0]) + "'"};
  const auto read = a[0] == "gguf" ? read_gguf : read_safetensors;
  try {
    const Result<TensorFile> file = read(bytes_of(a[1]), rules.file);
    return file ? answered(listing_of(*file)) : refused(file.error());
  } catch (const std::length_error&) {
    // Only the twin that reserves first comes here; nobody would catch it in a loader.
    return {Outcome::crashed, {}, "std::length_error"};
  }
}

Reply answer_write_tensors(const ReferenceRules& rules, Arguments a) {
  if (a[0] != "safetensors" && a[0] != "gguf")
    return {Outcome::skipped, {}, "no writer of '" + std::string(a[0]) + "'"};
  const Result<Contents> contents = parse_contents(a[1]);
  if (!contents) return refused(contents.error());
  if (a[0] != file_kind_name(contents->file.kind)) return malformed("the listing is of another kind of file");
  const Result<Bytes> bytes = write_tensor_file(contents->file, contents->data, rules.file);
  return bytes ? answered(bytes_to_string(*bytes)) : refused(bytes.error());
}

}  // namespace packcheck
