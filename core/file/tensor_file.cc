#include "core/file/tensor_file.h"

#include <bit>

#include "core/file/checks.h"
#include "core/format/convert.h"
#include "core/text/number_text.h"

namespace packcheck {
namespace {

/// The little-endian number at `at`, of `bytes` bytes.
std::uint64_t number_at(const std::string& text, std::size_t at, std::size_t bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = bytes; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(text[at + i]);
  return bits;
}

std::string float_text(std::uint64_t bits_of_double) {
  const FormatSpec& f64 = spec(Format::f64);
  if (is_nan(f64, bits_of_double)) return "NaN";
  if (is_infinite(f64, bits_of_double)) return (bits_of_double & f64.sign_bit()) != 0 ? "-Infinity" : "Infinity";
  return *print_number(bits_of_double);
}

std::string number_text(ValueType type, std::uint64_t bits) {
  switch (type) {
    case ValueType::i8: return std::to_string(static_cast<std::int8_t>(bits));
    case ValueType::i16: return std::to_string(static_cast<std::int16_t>(bits));
    case ValueType::i32: return std::to_string(static_cast<std::int32_t>(bits));
    case ValueType::i64: return std::to_string(static_cast<std::int64_t>(bits));
    case ValueType::boolean: return bits == 0 ? "false" : "true";
    case ValueType::f32: return float_text(convert(Format::f32, Format::f64, bits));
    case ValueType::f64: return float_text(bits);
    default: return std::to_string(bits);
  }
}

}  // namespace

std::uint64_t MetadataValue::count() const {
  if (type != ValueType::array) return 1;
  const std::size_t size = value_type_bytes(element_type);
  return size == 0 ? elements.size() : bytes.size() / size;
}

std::string MetadataValue::text(std::size_t most) const {
  if (type == ValueType::string) return bytes;
  const std::size_t size = value_type_bytes(type == ValueType::array ? element_type : type);
  if (type != ValueType::array) return number_text(type, number_at(bytes, 0, size));
  std::string all = "[";
  for (std::uint64_t i = 0; i < count(); ++i) {
    if (i != 0) all += ", ";
    if (i == most) {
      all += "… ";
      all += std::to_string(count());
      return all += " in all]";
    }
    all += size == 0 ? elements[i].text(most) : number_text(element_type, number_at(bytes, i * size, size));
  }
  return all += ']';
}

std::uint64_t FileTensor::count() const { return product(shape, {}).value_or(0); }

const FileTensor* TensorFile::find(std::string_view name) const {
  for (const FileTensor& tensor : tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

const MetadataValue* TensorFile::find_metadata(std::string_view key) const {
  for (const MetadataEntry& entry : metadata)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Result<TensorFile> read_tensor_file(std::span<const std::uint8_t> file, const FileRules& rules) {
  const bool gguf = file.size() >= 4 && file[0] == 'G' && file[1] == 'G' && file[2] == 'U' && file[3] == 'F';
  if (gguf) return read_gguf(file, rules);
  if (file.size() > 8 && file[8] != '{')
    return refuse("byte 8 is no '{', and the file does not begin with GGUF", "byte 0",
                  "a safetensors file (8 bytes of header length, then '{') or a GGUF file");
  return read_safetensors(file, rules);
}

Result<std::vector<std::uint8_t>> write_tensor_file(const TensorFile& file,
                                                    std::span<const std::span<const std::uint8_t>> data,
                                                    const FileRules& rules) {
  return file.kind == FileKind::gguf ? write_gguf(file, data, rules) : write_safetensors(file, data, rules);
}

std::vector<std::span<const std::uint8_t>> tensor_data(const TensorFile& file, std::span<const std::uint8_t> bytes) {
  std::vector<std::span<const std::uint8_t>> data;
  for (const FileTensor& tensor : file.tensors) data.push_back(bytes.subspan(tensor.offset, tensor.bytes));
  return data;
}

}  // namespace packcheck
