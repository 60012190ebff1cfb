#include "subjects/calls.h"

#include <bit>
#include <cstring>
#include <utility>

#include "subjects/one_part.h"

namespace packcheck {
namespace {

static_assert(std::endian::native == std::endian::little, "requests carry native arrays as little-endian bytes");

template <class T>
std::string array_to_string(std::span<const T> values) {
  return std::string(bytes_of(values));
}

template <class T>
std::vector<T> string_to_array(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

std::string_view name_of(Format format) { return spec(format).name; }

}  // namespace

Answer<std::string> call_for_one_part(Subject& subject, Operation operation,
                                      std::initializer_list<std::string_view> arguments, std::size_t size) {
  Reply reply = subject.call_in_place({operation, {arguments.begin(), arguments.size()}});
  if (reply.outcome != Outcome::answered) return {reply.outcome, {}, std::move(reply.message)};
  if (reply.parts.size() != 1)
    return {Outcome::broke_protocol, {}, "answer has " + std::to_string(reply.parts.size()) + " parts; expected 1"};
  if (size != kAnySize && reply.parts[0].size() != size)
    return {Outcome::broke_protocol,
            {},
            "answer is " + std::to_string(reply.parts[0].size()) + " bytes; expected " + std::to_string(size)};
  return {Outcome::answered, std::move(reply.parts[0]), {}};
}

std::string bytes_to_string(std::span<const std::uint8_t> bytes) { return array_to_string(bytes); }
Bytes string_to_bytes(std::string_view bytes) {
  // A range of bytes is copied at once, without zeros before.
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {begin, begin + bytes.size()};
}
std::string u64s_to_string(std::span<const std::uint64_t> values) { return array_to_string(values); }
std::vector<std::uint64_t> string_to_u64s(std::string_view bytes) { return string_to_array<std::uint64_t>(bytes); }
std::string floats_to_string(std::span<const float> values) { return array_to_string(values); }
std::vector<float> string_to_floats(std::string_view bytes) { return string_to_array<float>(bytes); }

Answer<Bytes> call_convert(Subject& subject, Format from, Format to, std::string_view mode,
                           std::span<const std::uint8_t> in) {
  const std::size_t count = in.size() / spec(from).bytes();
  return map<Bytes>(call_for_one_part(subject, Operation::convert, {name_of(from), name_of(to), mode, bytes_of(in)},
                                      count * spec(to).bytes()),
                    string_to_bytes);
}

Answer<Bytes> call_quantize(Subject& subject, const Encoding& encoding, std::span<const float> values) {
  const std::size_t size = values.size() / encoding.block_size * encoding.block_bytes;
  return map<Bytes>(call_for_one_part(subject, Operation::quantize, {encoding.id(), bytes_of(values)}, size),
                    string_to_bytes);
}

Answer<std::vector<float>> call_dequantize(Subject& subject, const Encoding& encoding,
                                           std::span<const std::uint8_t> blocks) {
  const std::size_t count = blocks.size() / encoding.block_bytes * encoding.block_size;
  return map<std::vector<float>>(
      call_for_one_part(subject, Operation::dequantize, {encoding.id(), bytes_of(blocks)}, count * sizeof(float)),
      string_to_floats);
}

Answer<Bytes> call_repack(Subject& subject, Format from, Format to, std::span<const std::uint8_t> in) {
  const std::size_t count = in.size() / spec(from).bytes();
  return map<Bytes>(call_for_one_part(subject, Operation::repack, {name_of(from), name_of(to), bytes_of(in)},
                                      count * spec(to).bytes()),
                    string_to_bytes);
}

Answer<std::string> call_print(Subject& subject, std::uint64_t bits) {
  return call_for_one_part(subject, Operation::print, {bytes_of(std::span<const std::uint64_t>(&bits, 1))}, kAnySize);
}

Answer<std::uint64_t> call_parse(Subject& subject, std::string_view text) {
  return map<std::uint64_t>(call_for_one_part(subject, Operation::parse, {text}, sizeof(std::uint64_t)),
                            [](std::string_view bytes) { return string_to_u64s(bytes)[0]; });
}

Answer<PackedWords> call_pack(Subject& subject, const Layout& layout, std::span<const std::int64_t> values) {
  return map<PackedWords>(call_for_one_part(subject, Operation::pack, {layout.id(), bytes_of(values)},
                                            kPackedWords * sizeof(std::uint64_t)),
                          [](std::string_view bytes) {
                            const std::vector<std::uint64_t> words = string_to_u64s(bytes);
                            return PackedWords{words[0], words[1]};
                          });
}

Answer<std::vector<std::int64_t>> call_unpack(Subject& subject, const Layout& layout, const PackedWords& words) {
  return map<std::vector<std::int64_t>>(
      call_for_one_part(subject, Operation::unpack, {layout.id(), bytes_of(std::span<const std::uint64_t>(words))},
                        layout.fields.size() * sizeof(std::int64_t)),
      string_to_array<std::int64_t>);
}

std::vector<std::uint64_t> shape_of(const AffineTensor& t) {
  std::vector<std::uint64_t> shape{t.out_features, t.in_features, t.scale_columns};
  if (t.bits != 4 || t.block_columns != 0) shape.push_back(t.bits);
  if (t.block_columns != 0) shape.insert(shape.end(), {t.block_rows, t.block_columns});
  return shape;
}

std::string AffineTensor::variant() const {
  return "affine" + std::to_string(bits) + (block_columns == 0 ? ":f32" : "_blocks:f32");
}

Answer<std::vector<float>> call_affine_dequantize(Subject& subject, const AffineTensor& t) {
  const std::vector<std::uint64_t> shape = shape_of(t);
  return map<std::vector<float>>(
      call_for_one_part(
          subject, Operation::affine_dequantize,
          {name_of(t.scale_format), bytes_of(std::span<const std::uint64_t>(shape)),
           bytes_of(std::span<const std::uint8_t>(t.codes)), bytes_of(std::span<const std::uint8_t>(t.scales)),
           bytes_of(std::span<const std::uint8_t>(t.biases))},
          t.out_features * t.in_features * sizeof(float)),
      string_to_floats);
}

Answer<TensorAnswer> call_tensor(Subject& subject, Operation operation, const DescribedTensor& tensor) {
  const std::string document = write_tensor(tensor);
  const Answer<std::string> raw = call_for_one_part(subject, operation, {tensor.source, document}, kAnySize);
  if (!raw.ok()) return {raw.outcome, {}, raw.message};
  Result<TensorAnswer> answer = read_answer(raw.value);
  if (!answer) return {Outcome::broke_protocol, {}, answer.error().text()};
  return {Outcome::answered, std::move(*answer), {}};
}

Answer<std::string> call_read_tensors(Subject& subject, std::string_view kind, std::span<const std::uint8_t> file) {
  return call_for_one_part(subject, Operation::read_tensors, {kind, bytes_of(file)});
}

Answer<Bytes> call_write_tensors(Subject& subject, std::string_view kind, std::string_view contents) {
  return map<Bytes>(call_for_one_part(subject, Operation::write_tensors, {kind, contents}), string_to_bytes);
}

}  // namespace packcheck
