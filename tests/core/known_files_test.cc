// Known answers of the rules of tensor files (known_answers.h).
#include <array>
#include <vector>

#include "core/file/tensor_file.h"
#include "tests/core/known_answers.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string number_of_bytes(std::uint64_t number, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
  return bytes;
}

std::string text_of_gguf(std::uint32_t version, std::string_view text) {
  return number_of_bytes(text.size(), version == 1 ? 4 : 8).append(text);
}

struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> dims;
  std::uint32_t type;
  std::uint64_t offset;
};

/// `entries` are bytes of as many metadata entries.
std::string gguf(std::uint32_t version, std::uint64_t count, std::string_view entries,
                 const std::vector<GgufTensor>& tensors, std::uint64_t alignment, std::size_t data) {
  const int word = version == 1 ? 4 : 8;
  std::string file = "GGUF" + number_of_bytes(version, 4) + number_of_bytes(tensors.size(), word) +
                     number_of_bytes(count, word) + std::string(entries);
  for (const GgufTensor& t : tensors) {
    file += text_of_gguf(version, t.name) + number_of_bytes(t.dims.size(), 4);
    for (const std::uint64_t size : t.dims) file += number_of_bytes(size, word);
    file += number_of_bytes(t.type, 4) + number_of_bytes(t.offset, 8);
  }
  file.resize((file.size() + alignment - 1) / alignment * alignment, '\0');
  return file.append(data, '\7');
}

std::string safetensors(std::string_view header, std::size_t data) {
  return number_of_bytes(header.size(), 8).append(header).append(data, '\7');
}

std::vector<std::string> files() {
  const std::string alignment = text_of_gguf(3, "general.alignment") + number_of_bytes(4, 4) + number_of_bytes(16, 4);
  const std::string name = text_of_gguf(3, "n\xC3\xA9") + number_of_bytes(8, 4) + text_of_gguf(3, "a\tb");
  const std::string numbers = text_of_gguf(3, "v") + number_of_bytes(9, 4) + number_of_bytes(1, 4) +
                              number_of_bytes(3, 8) + std::string("\1\xFF\x80", 3);
  const std::string nested = text_of_gguf(3, "w") + number_of_bytes(9, 4) + number_of_bytes(9, 4) +
                             number_of_bytes(1, 8) + number_of_bytes(8, 4) + number_of_bytes(2, 8) +
                             text_of_gguf(3, "") + text_of_gguf(3, "x");
  const std::string old = text_of_gguf(1, "f") + number_of_bytes(6, 4) + number_of_bytes(0x3FC00000, 4);
  return {safetensors(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[],"data_offsets":[12,13]},)"
                      R"("a/\u00e9":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}})",
                      13),
          safetensors(R"({"a":{"shape":[1,2],"data_offsets":[0,8],"dtype":"F32"},"c":{"dtype":"I64",)"
                      R"("shape":[0],"data_offsets":[8,8]},"b":{"dtype":"F4","shape":[4],"data_offsets":[8,10]}}  )",
                      10),
          gguf(3, 2, alignment + numbers, {{"w", {32, 2}, 8, 0}, {"b", {3}, 0, 80}, {"s", {}, 24, 96}}, 16, 112),
          gguf(2, 2, name + nested, {{"w", {4}, 1, 0}}, 32, 32),
          gguf(1, 1, old, {{"x", {2, 1, 3}, 0, 0}}, 32, 32),
          safetensors("{}", 0),
          gguf(3, 0, "", {}, 32, 0)};
}

void add(Digest& digest, const TensorFile& file) {
  digest.add(file_kind_name(file.kind));
  digest.add(std::uint64_t{file.version});
  digest.add(file.alignment);
  digest.add(file.data_start);
  for (const MetadataEntry& entry : file.metadata) {
    digest.add(entry.key);
    digest.add(entry.value.text());
    digest.add(entry.value.text(1));
    digest.add(entry.value.count());
    digest.add(value_type_name(entry.value.type));
  }
  for (const FileTensor& t : file.tensors) {
    digest.add(t.name);
    digest.add(t.dtype);
    digest.add(t.dense ? spec(*t.dense).name : "-");
    digest.add(t.encoding ? t.encoding->id() : "-");
    for (const std::uint64_t size : t.shape) digest.add(size);
    digest.add(t.offset);
    digest.add(t.bytes);
    digest.add(t.count());
  }
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void files_all(const FileRules& rules, bool all, Digest& digest) {
  static const std::vector<std::string> samples = files();
  for (const std::string& file : samples) {
    const auto judge = [&](std::string_view edited) {
      const Result<TensorFile> read = read_tensor_file(bytes_of(edited), rules);
      if (!read) return digest.add(read.error());
      add(digest, *read);
      // What a faulty reader says may lie outside of the file.
      TensorFile copy = *read;
      for (FileTensor& t : copy.tensors)
        if (t.offset > edited.size() || t.bytes > edited.size() - t.offset) return;
      const Result<Bytes> written = write_tensor_file(copy, tensor_data(copy, bytes_of(edited)), rules);
      written ? digest.add(std::span<const std::uint8_t>(*written)) : digest.add(written.error());
    };
    for_each_edit(file, all ? 1 : 3, all ? std::string_view("\0\1\x10 9\"\x80\xFF", 8) : std::string_view("\0\xFF", 2),
                  judge);
  }
  // One word of a GGUF at a time: sizes, counts, offsets and types at their edges.
  for (const std::size_t which : {2U, 4U})
    for (std::size_t at = 4; at + 8 <= 260 && at + 8 <= samples[which].size(); at += 4)
      for (const std::uint64_t word :
           std::initializer_list<std::uint64_t>{0x100000004U, 0x4000000000000000U, 0x7FFFFFFFFFFFFFFFU,
                                                0xFFFFFFFFFFFFFFF0U, 0x100000000U, 5U, 31U, 64U, 65U}) {
        std::string edited = samples[which];
        edited.replace(at, 8, number_of_bytes(word, 8));
        const Result<TensorFile> read = read_tensor_file(bytes_of(edited), rules);
        read ? add(digest, *read) : digest.add(read.error());
      }
  // Headers whose numbers are edited.
  for (const std::string_view shape : {"[2,3]", "[4294967296,4294967296]", "[4294967299,2]", "[18446744073709551615]",
                                       "[18446744073709551616]", "[0,5]", "[]", "[1,1,1,1,1,1,1,1,1]", "[-1]", "[1.0]"})
    for (const std::string_view offsets : {"[0,12]", "[0,0]", "[12,0]", "[1,13]", "[0,14]", "[0,18446744073709551615]",
                                           "[18446744073709551612,8]", "[0,11]", "[0,2]", "[0]", "[0,12,13]"})
      for (const std::string_view dtype : {"BF16", "F4", "F32", "NONE"}) {
        std::string header = R"({"a":{"dtype":")";
        header.append(dtype)
            .append(R"(","shape":)")
            .append(shape)
            .append(R"(,"data_offsets":)")
            .append(offsets)
            .append("}}");
        const Result<TensorFile> read = read_tensor_file(bytes_of(safetensors(header, 12)), rules);
        read ? add(digest, *read) : digest.add(read.error());
      }
  // Names and keys twice, no alignment, bytes between tensors.
  const std::string zero = text_of_gguf(3, "general.alignment") + number_of_bytes(4, 4) + number_of_bytes(0, 4);
  const std::string twice = text_of_gguf(3, "k") + number_of_bytes(4, 4) + number_of_bytes(1, 4) +
                            text_of_gguf(3, "k") + number_of_bytes(4, 4) + number_of_bytes(2, 4);
  for (const std::string& file :
       {gguf(3, 1, zero, {{"w", {4}, 0, 0}}, 1, 16), gguf(3, 1, zero, {{"w", {4}, 0, 0}}, 32, 32),
        gguf(3, 2, twice, {{"w", {4}, 0, 0}}, 32, 32), gguf(3, 0, "", {{"w", {4}, 0, 0}, {"w", {2}, 0, 32}}, 32, 64),
        safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],)"
                    R"("data_offsets":[2,3]}})",
                    3),
        safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[2],)"
                    R"("data_offsets":[1,3],"shape":[2]}})",
                    3)}) {
    const Result<TensorFile> read = read_tensor_file(bytes_of(file), rules);
    read ? add(digest, *read) : digest.add(read.error());
  }
  const std::string wrapped = number_of_bytes(~std::uint64_t{0} - 7, 8) + "{}      ";
  const Result<TensorFile> read = read_tensor_file(bytes_of(wrapped), rules);
  read ? add(digest, *read) : digest.add(read.error());
  if (!all) return;
  for (const std::uint64_t size : {std::uint64_t{0}, kMostHeaderBytes, kMostHeaderBytes + 1}) {
    const Result<TensorFile> long_header = read_tensor_file(bytes_of(number_of_bytes(size, 8) + "{}"), rules);
    if (!long_header) digest.add(long_header.error());
  }
}

TEST(KnownAnswers, OfEveryRuleOfTensorFilesAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 24> kKnown{{
      {"as they are", 0x6EE9388E59752FF4},          {"product wraps", 0x2F9ED962E2B73E6B},
      {"range check wraps", 0xEC868F981CD8657A},    {"last wins", 0xD6A100BFFADA1E81},
      {"dims as 32 bit", 0x2649024C0CDAF43B},       {"overlap unchecked", 0xE15C5F4C2C28CDB8},
      {"end unchecked", 0xD4368948197657F9},        {"size from offsets", 0x569C171287F7FC2B},
      {"length wraps", 0x419D34089ECA62EA},         {"reversed is empty", 0x20B1B4BFFB7BE8A9},
      {"start rounded", 0x64E2007475A76C33},        {"trailing accepted", 0x9D9B876110707F09},
      {"holes accepted", 0xF884CB4291B56EFA},       {"zero alignment", 0x1BC91D8F81A65840},
      {"alignment is 32", 0xBA87EB4E183CE4F3},      {"many dims", 0x479916645E5A3A38},
      {"dims as stored", 0x0F30F8BF8B0483D4},       {"strings clamped", 0x7F23F88078D341FF},
      {"partial blocks", 0xE8D06B3ECC7A7C06},       {"unaligned accepted", 0x09C2A6989B752CEA},
      {"padding forgotten", 0xCC6BDC3AA9D8B697},    {"offsets from file start", 0x75B004D79C538B7A},
      {"writes dims reversed", 0x1C60E09E40AA1818}, {"trailing and holes", 0x0D32BC6B0BDA866B},
  }};
  using Rules = FileRules;
  static constexpr std::array<ChangedRule<Rules>, 23> kChanges{{
      {"product wraps", [](Rules& r) { r.product_wraps = true; }},
      {"range check wraps", [](Rules& r) { r.range_check_wraps = true; }},
      {"last wins", [](Rules& r) { r.duplicates_last_wins = true; }},
      {"dims as 32 bit", [](Rules& r) { r.dims_as_32_bit = true; }},
      {"overlap unchecked", [](Rules& r) { r.overlap_unchecked = true; }},
      {"end unchecked", [](Rules& r) { r.end_unchecked = true; }},
      {"size from offsets", [](Rules& r) { r.size_from_offsets = true; }},
      {"length wraps", [](Rules& r) { r.length_wraps = true; }},
      {"reversed is empty", [](Rules& r) { r.reversed_is_empty = true; }},
      {"start rounded", [](Rules& r) { r.start_rounded_to_8 = true; }},
      {"trailing accepted", [](Rules& r) { r.trailing_accepted = true; }},
      {"holes accepted", [](Rules& r) { r.holes_accepted = true; }},
      {"zero alignment", [](Rules& r) { r.zero_alignment_is_1 = true; }},
      {"alignment is 32", [](Rules& r) { r.alignment_is_32 = true; }},
      {"many dims", [](Rules& r) { r.many_dims = true; }},
      {"dims as stored", [](Rules& r) { r.dims_as_stored = true; }},
      {"strings clamped", [](Rules& r) { r.strings_clamped = true; }},
      {"partial blocks", [](Rules& r) { r.partial_blocks = true; }},
      {"unaligned accepted", [](Rules& r) { r.unaligned_accepted = true; }},
      {"padding forgotten", [](Rules& r) { r.padding_forgotten = true; }},
      {"offsets from file start", [](Rules& r) { r.offsets_from_file_start = true; }},
      {"writes dims reversed", [](Rules& r) { r.writes_dims_reversed = true; }},
      {"trailing and holes",
       [](Rules& r) {
         r.trailing_accepted = true;
         r.holes_accepted = true;
       }},
  }};
  expect_known<Rules>(kChanges, kKnown, files_all);
}

TEST(KnownAnswers, OfWritersOfTensorFilesAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x2C4E0D18986FB9CC},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    const Bytes data(64, 3);
    const auto write = [&](const TensorFile& file, std::size_t size) {
      const std::vector<std::span<const std::uint8_t>> all(file.tensors.size(), std::span(data).first(size));
      const Result<Bytes> written = write_tensor_file(file, all);
      written ? digest.add(std::span<const std::uint8_t>(*written)) : digest.add(written.error());
    };
    for (const FileKind kind : {FileKind::gguf, FileKind::safetensors})
      for (const std::string_view dtype : {"F32", "U8", "Q8_0", "BF16", "F4", "I32", "none", ""})
        for (const std::vector<std::uint64_t>& shape :
             {std::vector<std::uint64_t>{}, {1}, {16}, {2, 32}, {0}, {1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1ULL << 63, 2}})
          for (const std::size_t size : {0U, 4U, 64U}) {
            TensorFile file;
            file.kind = kind;
            file.version = 3;
            FileTensor t;
            t.name = "w";
            t.dtype = dtype;
            t.shape = shape;
            file.tensors.push_back(t);
            write(file, size);
          }
    for (const FileKind kind : {FileKind::gguf, FileKind::safetensors})
      for (const std::string_view name : {"a", "", "__metadata__", "\xC3\xA9\"\\\n\x01", "\xFF", "general.alignment"})
        for (const std::uint64_t value : {0U, 1U, 7U, 8U, 64U, 0x10000U})
          for (const ValueType type :
               {ValueType::u32, ValueType::string, ValueType::array, ValueType::u64, ValueType::boolean}) {
            TensorFile file;
            file.kind = kind;
            file.version = value == 7 ? 2 : value == 1 ? 4 : 3;
            MetadataEntry entry;
            entry.key = name;
            entry.value.type = type;
            entry.value.bytes = number_of_bytes(value, type == ValueType::u64 ? 8 : type == ValueType::boolean ? 1 : 4);
            entry.value.element_type = ValueType::u16;
            file.metadata.push_back(entry);
            FileTensor t;
            t.name = name.empty() ? std::string(value == 8 ? 64 : 65, 'n') : std::string(name);
            t.dtype = "F32";
            t.shape = {1};
            file.tensors.push_back(t);
            if (value == 64) {
              file.tensors.push_back(t);
              file.tensors.back().name = "x";
            }
            write(file, 4);
            file.metadata.push_back(entry);
            write(file, 4);
          }
  });
}

}  // namespace
}  // namespace packcheck::test
