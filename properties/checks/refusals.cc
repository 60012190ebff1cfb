// What parts of the core refuse that their callers never ask: one thing is wrong, and it is refused by name.
#include <algorithm>
#include <memory>
#include <string>

#include "core/affine/affine.h"
#include "core/file/tensor_file.h"
#include "core/params/analysis.h"
#include "core/precision/network_text.h"
#include "core/storage/tensor_storage.h"
#include "properties/cases/cases.h"
#include "properties/cases/networks.h"
#include "properties/checks/checks.h"
#include "properties/oracles/file_oracle.h"

namespace packcheck {
namespace {

/// Says whether an answer is there exactly where nothing is wrong, and whether a refusal says what and where.
template <class Answer>
Fault as_asked(const Answer& answer, bool sound, std::string_view part) {
  if (answer.has_value() != sound) return std::string(part).append(sound ? ": refused" : ": taken");
  const bool said = sound || (!answer.error().what.empty() && !answer.error().right.empty());
  return said ? Fault() : std::string(part).append(": refused without words");
}

struct WrittenFile {
  TensorFile file;
  std::vector<Bytes> data;
};

std::string little_endian(std::uint64_t number, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
  return bytes;
}

/// Metadata of every type, arrays among it; of safetensors strings alone.
void add_metadata(Source& source, TensorFile& file) {
  const bool gguf = file.kind == FileKind::gguf;
  for (std::uint64_t i = 0, count = source.below(4); i < count; ++i) {
    MetadataValue value;
    value.type = gguf ? static_cast<ValueType>(source.below(kValueTypes)) : ValueType::string;
    const std::size_t size = value_type_bytes(value.type);
    if (value.type == ValueType::string) value.bytes = "text \x01\"\\";
    if (size != 0) value.bytes = little_endian(value.type == ValueType::boolean ? 1 : source.bits(64), size);
    if (value.type == ValueType::array) {
      value.element_type = source.once_in(2) ? ValueType::string : ValueType::f32;
      if (value.element_type == ValueType::f32) value.bytes = std::string(4 * source.below(12), '\x40');
      for (std::uint64_t k = source.below(3); k > 0 && value.element_type == ValueType::string; --k)
        value.elements.push_back({ValueType::string, ValueType::string, "s", {}});
    }
    file.metadata.push_back({std::string("key").append(std::to_string(i)), std::move(value)});
  }
}

WrittenFile draw_file(Source& source) {
  WrittenFile w;
  w.file.kind = source.once_in(2) ? FileKind::gguf : FileKind::safetensors;
  w.file.version = w.file.kind == FileKind::gguf ? 2 + static_cast<std::uint32_t>(source.below(2)) : 0;
  add_metadata(source, w.file);
  for (std::uint64_t i = 0, count = 1 + source.below(3); i < count; ++i) {
    FileTensor t;
    t.name = std::string("t").append(std::to_string(i));
    t.dtype = "F32";
    t.shape = {1 + source.below(2), 2};
    w.data.emplace_back(t.shape[0] * 8, static_cast<std::uint8_t>(i));
    w.file.tensors.push_back(std::move(t));
  }
  return w;
}

MetadataValue nested_array(unsigned depth) {
  MetadataValue value{ValueType::array, ValueType::u8, "\x01", {}};
  for (; depth > 0; --depth) value = MetadataValue{ValueType::array, ValueType::array, {}, {value}};
  return value;
}

/// One thing wrong in a file that is sound otherwise; whether it is wrong for its kind.
bool spoil(Source& source, WrittenFile& w) {
  const bool gguf = w.file.kind == FileKind::gguf;
  FileTensor& t = w.file.tensors.front();
  const auto metadata = [&w](std::string key, MetadataValue value) {
    w.file.metadata.insert(w.file.metadata.begin(), {std::move(key), std::move(value)});
  };
  switch (source.below(18)) {
    case 0: w.data.emplace_back(); return true;
    case 1: t.name = "\xC3"; return true;
    case 2: w.file.tensors.push_back(t), w.data.push_back(w.data.front()); return true;
    case 3: t.dtype = "F33"; return true;
    case 4: w.data.front().push_back(0); return true;
    case 5: metadata("\xFF", {}); return true;
    case 6: metadata("twice", {}), metadata("twice", {}); return true;
    case 7: metadata("text", {ValueType::string, ValueType::string, "\xED\xA0\x80", {}}); return true;
    case 8: metadata("flag", {ValueType::boolean, ValueType::string, "\x02", {}}); return true;
    case 9: metadata("short", {ValueType::u32, ValueType::string, "\x02", {}}); return true;
    case 10: metadata("deep", nested_array(kDeepestArray)); return true;
    case 11: metadata("part", {ValueType::array, ValueType::u16, "odd", {}}); return true;
    case 12:
      metadata("mixed", {ValueType::array, ValueType::string, {}, {{ValueType::u8, ValueType::string, "\x01", {}}}});
      return true;
    case 13: metadata("general.alignment", {ValueType::u32, ValueType::string, little_endian(24, 4), {}}); return true;
    case 14: metadata("general.alignment", {ValueType::u64, ValueType::string, little_endian(32, 8), {}}); return true;
    case 15: t.name = gguf ? std::string(65, 'n') : "__metadata__"; return true;
    case 16: t.shape = {t.shape[0], 1, 1, 1, 2}; return gguf;
    default:
      metadata(gguf ? "" : "many", {});
      w.file.version = 4;
      return gguf;
  }
}

/// Text of a value for people: a number reads back as itself.
Fault text_fault(const MetadataValue& value) {
  const std::string text = value.text();
  if (value.type == ValueType::string) return text == value.bytes ? "" : "a string's text";
  if (value.type == ValueType::array) {
    const bool all = value.text(value.count()).find("in all") == std::string::npos;
    const bool cut =
        value.count() > 2 && value.text(2).find(std::to_string(value.count()) + " in all]") == std::string::npos;
    return text.front() == '[' && text.back() == ']' && all && !cut ? "" : "an array's text";
  }
  if (value.type == ValueType::boolean) return text == "true" || text == "false" ? "" : "a truth value's text";
  if (value.type == ValueType::f32 || value.type == ValueType::f64) return text.empty() ? "a number's text" : "";
  const bool negative = text.front() == '-';
  std::uint64_t magnitude = 0;
  for (const char digit : text.substr(negative ? 1 : 0))
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(digit - '0');
  return little_endian(negative ? ~magnitude + 1 : magnitude, value.bytes.size()) == value.bytes ? ""
                                                                                                 : "an integer's text";
}

}  // namespace

Fault written_file_fault(Source& source) {
  WrittenFile w = draw_file(source);
  const bool wrong = source.once_in(2) && spoil(source, w);
  const std::vector<std::span<const std::uint8_t>> data(w.data.begin(), w.data.end());
  const auto written = write_tensor_file(w.file, data);
  if (Fault fault = as_asked(written, !wrong, "a written file"); !fault.empty() || wrong) return fault;
  const oracle::FileAnswer answer = oracle::read_file(file_kind_name(w.file.kind), *written);
  if (answer.soundness != oracle::Soundness::sound) return "an unsound file: " + answer.reason;
  const Result<TensorFile> read = read_tensor_file(*written);
  if (!read || read->metadata != w.file.metadata) return "a file that is not read back";
  const auto read_data = tensor_data(*read, *written);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const FileTensor* const t = read->find(w.file.tensors[i].name);
    if (t == nullptr || t->shape != w.file.tensors[i].shape) return "a tensor by name";
    if (!std::equal(read_data[i].begin(), read_data[i].end(), data[i].begin(), data[i].end())) return "a tensor's data";
  }
  for (const MetadataEntry& entry : read->metadata) {
    const MetadataValue* const found = read->find_metadata(entry.key);
    if (found == nullptr || *found != entry.value) return "metadata by key";
    if (Fault fault = text_fault(entry.value); !fault.empty()) return fault;
  }
  return read->find("no such tensor") == nullptr && read->find_metadata("none") == nullptr ? "" : "what is not there";
}

Fault affine_fault(Source& source) {
  AffineWeights w;
  w.out_features = 1 + source.below(3);
  w.scale_columns = 1 + source.below(3);
  w.in_features = 8 * w.scale_columns * (1 + source.below(3));
  w.scale_format = Format::f32;
  static constexpr unsigned kBits[] = {2, 3, 4, 5, 6, 8};
  w.bits = source.pick(kBits);
  std::vector<std::uint8_t> codes(w.out_features * w.in_features * w.bits / 8);
  std::vector<std::uint8_t> scales(w.out_features * w.scale_columns * 4);
  std::vector<std::uint8_t> biases = scales;
  std::vector<float> out(w.out_features * w.in_features);
  const std::uint64_t wrong = source.below(14);
  switch (wrong) {
    case 1: codes.push_back(0); break;
    case 2: scales.pop_back(); break;
    case 3: biases.push_back(0); break;
    case 4: out.push_back(0.0F); break;
    case 5: w.bits = 7; break;
    case 6: w.scale_columns = 0; break;
    case 7: w.scale_columns = w.in_features + 1; break;
    case 8: w.in_features = 0; break;
    case 9: w.scale_format = Format::f64; break;
    case 10: w.block_rows = 0; break;
    case 11:
      w.in_features = ~std::size_t{0} / 2;
      w.scale_columns = 1;
      break;
    case 12: w.block_columns = w.in_features + 1, w.scale_columns += 1; break;
    case 13: w.out_features = ~std::size_t{0} / 4; break;
    default: break;
  }
  w.codes = codes;
  w.scales = scales;
  w.biases = biases;
  return as_asked(affine_dequantize(w, out), wrong == 0, "packed weights");
}

Fault buffer_fault(Source& source) {
  const std::vector<std::uint8_t> bytes(1 + source.below(40), 7);
  BufferHandle handle = source.once_in(2) ? BufferHandle(owned(bytes)) : BufferHandle(Borrowed{bytes});
  if (source.once_in(8)) handle = FileBacked{"a file", 0, bytes.size()};
  if (source.once_in(8)) handle = DeviceResident{"gpu", 4096, bytes.size()};
  const BufferHandle root = handle;
  std::uint64_t size = bytes.size();
  for (std::uint64_t i = source.below(3); i > 0; --i) {
    const std::uint64_t offset = source.below(size + 2);
    const std::uint64_t length = source.below(size + 2);
    const bool inside = offset <= size && length <= size - offset;
    Result<BufferHandle> alias = aliased(handle, offset, length);
    if (Fault fault = as_asked(alias, inside, "an alias"); !fault.empty() || !inside) return fault;
    handle = *alias;
    size = length;
  }
  if (region_size(handle) != size || ownership_name(ownership_of(handle)).empty()) return "the size of a region";
  if (ownership_of(root_of(handle)) != ownership_of(root)) return "the root of an alias";
  const std::uint64_t at = source.below(size + 2);
  const std::uint64_t length = source.below(size + 2);
  const bool inside = at <= size && length <= size - at;
  const Ownership kind = ownership_of(root);
  const bool readable = inside && kind != Ownership::device_resident && (kind != Ownership::file_backed || length == 0);
  const Result<ByteView> read = read_bytes(handle, at, length, nullptr);
  if (Fault fault = as_asked(read, readable, "a region"); !fault.empty()) return fault;
  return read && read->bytes.size() != length ? "bytes of a region" : "";
}

Fault network_fault(Source& source) {
  NetworkBuilder network(Format::f32);
  const std::uint32_t inputs = source.once_in(8) ? 0 : 3;
  const bool late = source.once_in(8);
  if (!late) network.input(inputs);
  bool sound = !late && inputs != 0;
  unsigned open = 0;
  for (std::uint64_t i = 0, steps = source.below(6); i < steps; ++i) {
    const bool odd = source.once_in(8);
    const bool narrow = source.once_in(2);
    const Format dtype = odd ? Format::e4m3fn : narrow ? Format::f16 : Format::f32;
    switch (source.below(6)) {
      case 0:
        network.dense(2, {.dtype = dtype, .seed = i});
        sound = sound && !odd;
        break;
      case 1:
        network.dense(odd ? 0 : 1, {.activation = Activation::hard_tanh});
        sound = sound && !odd;
        break;
      case 2: network.activation(Activation::relu); break;
      case 3:
        network.open_stage(odd ? "" : "stage", Format::bf16);
        sound = sound && !odd;
        ++open;
        break;
      case 4:
        network.close_stage();
        sound = sound && open != 0;
        open -= open != 0 ? 1 : 0;
        break;
      default:
        if (odd && !late) network.input(2);
        sound = sound && !odd;
        break;
    }
  }
  return as_asked(network.build(), sound && open == 0, "a network");
}

Fault network_text_fault(Source& source) {
  std::string text = oracle::network_text(draw_network(source));
  static constexpr std::string_view kWords[] = {"dense", "activation", "stage", "end",  "upstream", "weights", "bias",
                                                "seed",  "network",    "input", "f16",  "f8",       "-",       "relu",
                                                "none",  "0",          "07",    "xyz",  "70000",    "3f80",    "\n",
                                                "",      "a name",     "tanh",  "e4m3", "ffffffff"};
  for (std::uint64_t i = source.below(3); i > 0; --i) {
    // A word, with what is before it up to the end of the one before.
    const std::size_t at = text.find_first_of(" \n", source.below(text.size()));
    if (at == std::string::npos) continue;
    const std::size_t end = std::min(text.find_first_of(" \n", at + 1), text.size());
    text.replace(at + 1, end - at - 1, source.pick(kWords));
  }
  const bool sound = oracle::read_network_text(text).has_value();
  return as_asked(read_network(text), sound, "a network's text");
}

Fault storage_fault(Source& source) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
  TensorStorage t;
  t.shape = {2, 3};
  const std::uint64_t wrong = source.below(9);
  std::uint64_t size = 24;
  switch (wrong) {
    case 1: t.strides = Shape{1}; break;
    case 2: t.strides = Shape{kHuge, kHuge}; break;
    case 3: t.shape = {kHuge, 8}; break;
    case 4: t.shape = {kHuge}; break;
    case 5: t.dtype = Format::f16; break;
    case 6: size = 23; break;
    case 7: t.byte_offset = 1; break;
    case 8: t.strides = Shape{kHuge / 2, 1}; break;
    default:
      t.strides = Shape{source.below(4), source.below(3)};
      size = 4 * (1 + (*t.strides)[0] + 2 * (*t.strides)[1]);
  }
  const std::vector<std::uint8_t> bytes(size, 1);
  t.buffer = owned(bytes);
  if (Fault fault = as_asked(check_storage(t, nullptr), wrong == 0, "a tensor"); !fault.empty()) return fault;
  const Result<std::vector<std::uint8_t>> gathered = gather(t, nullptr);
  if (Fault fault = as_asked(gathered, wrong == 0, "a tensor's bytes"); !fault.empty() || wrong != 0) return fault;
  return *gathered == std::vector<std::uint8_t>(24, 1) ? "" : "bytes of a view";
}

Fault layout_table_fault(Source& source) {
  const std::span<const Layout> layouts = all_layouts();
  Layout layout = layouts[source.below(layouts.size())];
  std::vector<Field> fields(layout.fields.begin(), layout.fields.end());
  const std::uint64_t wrong = source.below(5);
  Field field = fields[source.below(fields.size())];
  if (wrong == 1) fields.push_back(field);  // a name and its bits, twice
  if (wrong != 0) field.name = "another";
  if (wrong == 2) field.word = kPackedWords;
  if (wrong == 3) field.shift = 60, field.width = 5;
  if (wrong >= 2) fields.push_back(field);  // 4: the bits alone
  layout.fields = fields;
  if (faults_of(layout).empty() != (wrong == 0)) return "faults of a table";
  const std::vector<std::int64_t> values(layouts.front().fields.size() + 1);
  return as_asked(pack(layouts.front(), values), false, "a value too many");
}

}  // namespace packcheck
