#include "properties/cases/audited_files.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/file/tensor_file.h"
#include "core/text/number_form.h"

namespace packcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Drafted {
  TensorFile file;
  std::vector<Bytes> data;

  void add(const std::string& name, std::string_view type, std::vector<std::uint64_t> shape, Bytes bytes) {
    FileTensor tensor;
    tensor.name = name;
    tensor.dtype = type;
    tensor.shape = std::move(shape);
    file.tensors.push_back(std::move(tensor));
    data.push_back(std::move(bytes));
  }
};

/// Bytes in runs: equal ones, zeros and ones that are all set among them, so that blocks of zeros and odd scales are
/// met.
Bytes draw_runs(Source& source, std::uint64_t size) {
  Bytes bytes;
  while (bytes.size() < size) {
    const std::uint64_t length = 1 + source.below(std::min<std::uint64_t>(size - bytes.size(), 40));
    const std::uint64_t kind = source.below(5);
    const std::uint64_t first = source.bits(8);
    for (std::uint64_t i = 0; i < length; ++i) {
      static constexpr std::uint8_t kOften[] = {0x00, 0xFF, 0x80};
      const std::uint64_t byte = kind < 3 ? kOften[kind] : kind == 3 ? first : first * (2 * i + 1) + i * i;
      bytes.push_back(static_cast<std::uint8_t>(byte));
    }
  }
  return bytes;
}

std::uint64_t draw_size(Source& source, std::uint64_t unit) {
  const std::uint64_t units = source.below(4);
  // Now and then more than one step of a vector loop.
  return unit * (source.once_in(8) ? 1 + units * 67 : units);
}

/// One tensor of any type: whole blocks in its rows.
void add_any(Source& source, const std::string& name, Drafted& drafted) {
  std::vector<const StoredType*> types;
  for (const StoredType& type : stored_types(drafted.file.kind))
    if (type.block_elements != 0) types.push_back(&type);
  const StoredType& type = *types[source.below(types.size())];
  const std::uint64_t rows = 1 + source.below(3);
  const std::uint64_t blocks = draw_size(source, type.block_bits < 8 ? 4U : 1U);
  const std::uint64_t bits = rows * blocks * type.block_bits;
  drafted.add(name, type.name, {rows, blocks * type.block_elements}, draw_runs(source, bits / 8));
}

/// A dimension, or another now and then.
std::uint64_t nearly(Source& source, std::uint64_t dimension) {
  return source.once_in(8) ? source.below(10) : dimension;
}

std::string_view draw_float_type(Source& source) {
  static constexpr std::string_view kTypes[] = {"F32", "BF16", "F16", "F64"};
  return kTypes[source.once_in(8) ? 3 : source.below(3)];
}
std::uint64_t bytes_of(std::string_view type) {
  return type == "F64" || type == "I64"                    ? 8
         : type == "F32" || type == "U32" || type == "I32" ? 4
         : type == "U8"                                    ? 1
                                                           : 2;
}
void add_matrix(Source& source, const std::string& name, std::string_view type, std::vector<std::uint64_t> shape,
                Drafted& drafted) {
  std::uint64_t count = 1;
  for (std::uint64_t& dimension : shape) count *= dimension = nearly(source, dimension);
  if (source.once_in(16)) shape.assign(1, count);
  Bytes bytes = draw_runs(source, count * bytes_of(type));
  drafted.add(name, type, std::move(shape), std::move(bytes));
}

/// Packed weights of each scheme; `base` ends in a point or is empty. A companion is left out now and then.
void add_packed(Source& source, const std::string& base, Drafted& drafted) {
  static constexpr std::uint64_t kBits[] = {2, 3, 4, 5, 6, 8};
  const std::uint64_t scheme = source.below(5);
  const std::uint64_t bits = source.pick(kBits);
  const std::uint64_t group = (scheme == 1 ? std::uint64_t{16} : std::uint64_t{32})
                              << source.below(scheme == 1 ? 2 : 3);
  const std::uint64_t groups = 1 + source.below(3);
  const std::uint64_t out = 8 * (1 + source.below(2));
  const std::uint64_t in = group * groups;
  const std::string_view type = scheme == 1 ? "U8" : draw_float_type(source);
  const std::uint64_t left_out = source.below(8);
  if (scheme <= 1) {
    const std::uint64_t wide = scheme == 1 ? std::uint64_t{4} << source.below(2) : bits;
    add_matrix(source, base + "weight", "U32", {out, in * wide / 32}, drafted);
    if (left_out != 0) add_matrix(source, base + "scales", type, {out, groups}, drafted);
    const std::string_view other = source.once_in(8) ? draw_float_type(source) : type;
    if (scheme == 0 && left_out != 1) add_matrix(source, base + "biases", other, {out, groups}, drafted);
  } else if (scheme <= 3) {
    const bool awq = scheme == 3;
    add_matrix(source, base + "qweight", "I32", awq ? std::vector{in, out / 8} : std::vector{in * bits / 32, out},
               drafted);
    if (left_out != 0) add_matrix(source, base + "scales", type, {groups, out}, drafted);
    if (left_out != 1) add_matrix(source, base + "qzeros", "I32", {groups, awq ? out / 8 : out * bits / 32}, drafted);
    if (left_out == 2) add_matrix(source, base + "g_idx", "I32", {in}, drafted);
  } else {
    const std::uint64_t in_word = 32 / bits;
    add_matrix(source, base + "weight_packed", "I32", {out, (in + in_word - 1) / in_word}, drafted);
    if (left_out != 0) add_matrix(source, base + "weight_scale", type, {out, groups}, drafted);
    Bytes shape(16);
    shape[0] = static_cast<std::uint8_t>(nearly(source, out));
    shape[8] = static_cast<std::uint8_t>(in);
    shape[9] = static_cast<std::uint8_t>(in >> 8);
    if (left_out > 2) drafted.add(base + "weight_shape", "I64", {2}, std::move(shape));
  }
}

}  // namespace

Bytes draw_audited_file(Source& source) {
  Drafted drafted;
  drafted.file.kind = source.once_in(2) ? FileKind::gguf : FileKind::safetensors;
  drafted.file.version = drafted.file.kind == FileKind::gguf ? 3 : 0;
  const bool has_words = drafted.file.kind == FileKind::safetensors;  // GGUF has no U32
  for (std::uint64_t i = 0, count = 1 + source.below(3); i < count; ++i) {
    const std::string name = i == 0 ? "" : std::string("t").append(std::to_string(i)).append(".");
    if (has_words && source.once_in(2))
      add_packed(source, name, drafted);
    else
      add_any(source, name + "t", drafted);
  }
  const std::vector<std::span<const std::uint8_t>> data(drafted.data.begin(), drafted.data.end());
  return write_tensor_file(drafted.file, data).value_or(Bytes());
}

namespace {

std::string listed(const std::vector<std::uint64_t>& numbers) {
  std::string text = "[";
  for (const std::uint64_t number : numbers) text.append(text.size() == 1 ? "" : ",").append(std::to_string(number));
  return text.append("]");
}
std::string node(std::uint64_t id, const std::vector<std::uint64_t>& shape, std::string_view op,
                 std::string_view rest) {
  std::string text = R"({"id":)";
  text.append(std::to_string(id)).append(R"(,"shape":)").append(listed(shape)).append(R"(,"op":")").append(op);
  return text.append(R"(",)").append(rest).append("}");
}
/// What has data and no inputs: all of its numbers are 1.
std::string leaf(std::uint64_t id, const std::vector<std::uint64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::uint64_t dimension : shape) count *= dimension;
  std::string data = R"("data":)";
  data.append(listed(std::vector<std::uint64_t>(count, 1))).append(R"(,"inputs":[])");
  return node(id, shape, "input", data);
}
std::string bits_member(std::string_view name, std::uint64_t bits) {
  std::string text = "\"";
  text.append(name).append(R"(_bits":")").append(print_bits(bits)).append(R"(",)");
  return text;
}

/// A window's words: of generation 2 or 3 and sound, of generation 1, in fields of 16 bits, a plain number, NaN.
std::uint64_t draw_word(Source& source, std::uint64_t kernel, std::uint64_t stride) {
  switch (source.below(10)) {
    case 0: return stride << 32 | kernel << 4;
    case 1: return kernel << 32 | kernel << 16 | stride;
    case 2: return std::bit_cast<std::uint64_t>(static_cast<double>(kernel << 16 | kernel << 8 | stride));
    case 3: return source.float_in(Format::f64);
    case 4: return kernel << 16 | kernel << 8;
    case 5: return std::uint64_t{1} << 40 | kernel << 16 | kernel << 8 | stride;
    default: return kernel << 16 | kernel << 8 | stride;
  }
}

/// A convolution or a pooling: what it takes, and its output or something near it.
std::string draw_window_nodes(Source& source) {
  static constexpr std::string_view kOperators[] = {"conv2d", "maxpool2d", "avgpool2d"};
  const std::string_view op = source.pick(kOperators);
  const bool conv = op == "conv2d";
  const std::uint64_t size = 4 + source.below(4);
  const std::uint64_t kernel = 1 + source.below(3);
  const std::uint64_t stride = 1 + source.below(3);
  const std::uint64_t padding = source.below(2);
  const std::uint64_t channels = 1 + source.below(2);
  const std::uint64_t count = (size + 2 * padding - kernel) / stride + 1;
  const std::uint64_t out_channels = conv ? 2 : channels;
  std::vector<std::uint64_t> shape{1, nearly(source, out_channels), count, nearly(source, count)};
  const std::uint64_t other = source.below(6);
  if (other == 0) shape = {1, channels, size, size};
  if (other == 1) shape = {1, channels, size, size, count, count};
  const std::uint64_t word = draw_word(source, kernel, stride);
  const std::uint64_t padded = conv ? padding << 16 | 2 : padding << 16;
  const std::uint64_t left_out = source.below(10);
  std::string members = left_out == 0 ? "" : bits_member("scalar", word);
  if (left_out != 1) members.append(bits_member("param2", padded));
  members.append(conv ? R"("inputs":[0,1])" : R"("inputs":[0])");
  std::string text = leaf(0, {1, channels, size, size});
  const std::uint64_t weight_channels = nearly(source, channels);
  if (conv) text.append(",").append(leaf(1, {2, weight_channels, kernel, kernel}));
  return text.append(",").append(node(conv ? 2 : 1, shape, op, members));
}

std::string draw_linear_nodes(Source& source) {
  const std::uint64_t in = 2 + source.below(3);
  const std::uint64_t out = nearly(source, 5);
  const std::uint64_t width = nearly(source, in);
  const bool transposed = source.once_in(3);
  std::string text = leaf(0, {1, in});
  text.append(",").append(leaf(1, transposed ? std::vector{width, out} : std::vector{out, width}));
  return text.append(",").append(node(2, {1, out}, "linear", R"("inputs":[0,1])"));
}

std::string draw_small_nodes(Source& source) {
  static constexpr std::string_view kOperators[] = {"softmaxCrossEntropy", "pow", "addScalar", "leakyRelu", "dropout"};
  const std::string_view op = source.pick(kOperators);
  const std::uint64_t word = source.float_in(Format::f64);
  std::string members = source.once_in(2) ? bits_member("scalar", word) : "";
  if (source.once_in(3)) members.append(bits_member("param2", ~word));
  const bool data = source.once_in(3);
  std::string first = data ? std::string(R"("data_bits":[")").append(print_bits(word)).append(R"("],)") : "";
  std::string text = data ? node(0, {1}, "input", first.append(R"("inputs":[])")) : leaf(0, {1});
  return text.append(",").append(node(1, {1}, op, members.append(R"("inputs":[0])")));
}

}  // namespace

Bytes draw_audited_graph(Source& source) {
  const std::uint64_t kind = source.below(4);
  std::string text = R"({"nodes":[)";
  text.append(kind < 2 ? draw_window_nodes(source) : kind == 2 ? draw_linear_nodes(source) : draw_small_nodes(source));
  text.append("]}");
  return {text.begin(), text.end()};
}

}  // namespace packcheck
