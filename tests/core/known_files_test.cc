// Known answers of the rules of tensor files and of stored tensors, and of what an audit of either says
// (known_answers.h).
#include <algorithm>
#include <array>
#include <vector>

#include "core/affine/matmul_bound.h"
#include "core/affine/nan_trace.h"
#include "core/audit/audit.h"
#include "core/file/tensor_file.h"
#include "core/params/analysis.h"
#include "core/storage/conversion_table.h"
#include "core/storage/decode.h"
#include "core/storage/device_memory.h"
#include "core/storage/repack.h"
#include "core/storage/weight_form.h"
#include "core/text/json_document.h"
#include "core/text/number_form.h"
#include "tests/core/known_answers.h"
#include "tests/core/packed_samples.h"

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

void add(Digest& digest, const Occurrences& o) {
  digest.add(o.count);
  digest.add(o.first);
}

void add(Digest& digest, const ElementStatistics& s) {
  digest.add(s.elements);
  for (const Occurrences& o : {s.nan, s.infinite, s.subnormal}) add(digest, o);
  digest.add(s.largest);
  digest.add(s.smallest);
}

void add(Digest& digest, const BlockStatistics& s) {
  digest.add(s.blocks);
  for (const Occurrences& o :
       {s.scale_nan, s.scale_infinite, s.scale_subnormal, s.scale_zero, s.zero_blocks, s.lost_blocks, s.foreign_codes})
    add(digest, o);
  digest.add(s.largest_scale);
  digest.add(s.smallest_scale);
}

/// Bytes at random of which many are 0, all bits, or alike.
Bytes edgy_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  static constexpr std::array<std::uint8_t, 8> kBytes{0x00, 0xFF, 0x80, 0x7F, 0x7C, 0x3C, 0x88, 0x55};
  const std::uint64_t kind = random.below(4);
  const std::uint8_t one = kBytes[random.below(8)];
  for (std::uint8_t& byte : bytes) {
    const auto any = static_cast<std::uint8_t>(random.bits());
    byte = kind == 0 ? any : kind == 1 ? one : any < 64 ? any : kBytes[any % 8];
  }
  return bytes;
}

TEST(KnownAnswers, OfStatisticsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x8F516CCEB609BF2C},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    Random random(31);
    for (const FormatSpec& format : all_formats()) {
      if (!has_element_statistics(format.format)) continue;
      ElementStatistics whole;
      for (std::size_t n = 0; n < 40; ++n) {
        const Bytes bytes = edgy_bytes(random, n * format.bytes());
        ElementStatistics own;
        add_elements(format.format, bytes, own);
        add_elements(format.format, bytes, whole);
        add(digest, own);
        add(digest, whole);
      }
    }
    // One byte that differs, at every place, between blocks that have nothing to tell.
    for (const Encoding& encoding : all_encodings()) {
      if (!has_block_statistics(encoding) || !encoding.quantizes || encoding.block_size > 256) continue;
      std::vector<float> values(3 * encoding.block_size);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
      Bytes blocks(3 * encoding.block_bytes);
      if (const auto done = quantize(encoding, values, blocks); !done) digest.add(done.error());
      for (std::size_t at = 0; at < encoding.block_bytes; ++at)
        for (const unsigned byte : {0x00U, 0x03U, 0x0DU, 0x80U, 0x8AU, 0xC0U, 0xC5U, 0xFFU}) {
          Bytes edited = blocks;
          edited[encoding.block_bytes + at] = static_cast<std::uint8_t>(byte);
          BlockStatistics own;
          add_blocks(encoding, edited, own);
          add(digest, own);
        }
    }
    for (const Encoding& encoding : all_encodings()) {
      if (!has_block_statistics(encoding)) continue;
      digest.add(spec(scale_format_of(encoding)).name);
      BlockStatistics whole;
      for (std::size_t n = 0; n < 24; ++n) {
        const std::size_t blocks = encoding.blocking == Blocking::tensor ? 1 : n % 12;
        Bytes bytes = edgy_bytes(random, blocks * encoding.block_bytes);
        if (n % 3 == 1)  // ordinary scales and codes that are alike
          for (std::size_t b = 0; b < blocks; ++b)
            for (const ScaleField& field : encoding.scales)
              if (field.offset + 2 <= encoding.block_bytes) {
                const std::size_t at = b * encoding.block_bytes + field.offset;
                bytes[at] = static_cast<std::uint8_t>(b % 3 == 0 ? 0 : 1);
                bytes[at + 1] = static_cast<std::uint8_t>(b % 4 == 0   ? 0
                                                          : b % 4 == 1 ? 0x3C
                                                          : b % 4 == 2 ? 0x80
                                                                       : 0x02);
              }
        BlockStatistics own;
        add_blocks(encoding, bytes, own);
        add_blocks(encoding, bytes, whole);
        add(digest, own);
        add(digest, whole);
      }
    }
  });
}

struct Draft {
  TensorFile file;
  std::vector<Bytes> data;

  void add(std::string_view name, std::string_view dtype, const std::vector<std::uint64_t>& shape, Random& random) {
    FileTensor t;
    t.name = name;
    t.dtype = dtype;
    t.shape = shape;
    const StoredType& type = *stored_type_named(file.kind, dtype);
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    data.push_back(edgy_bytes(random, count / type.block_elements * type.block_bits / 8));
    file.tensors.push_back(std::move(t));
  }
};

void add_audit(Digest& digest, Draft draft) {
  draft.file.version = draft.file.kind == FileKind::gguf ? 3 : 0;
  const std::vector<std::span<const std::uint8_t>> data(draft.data.begin(), draft.data.end());
  const Result<Bytes> bytes = write_tensor_file(draft.file, data);
  if (!bytes) return digest.add(bytes.error());
  const TensorFile file = read_tensor_file(*bytes).value();
  std::uint64_t parts = 0;
  const FileAudit audit = audit_file(file, *bytes, [&](std::span<const std::uint8_t> part) {
    parts = parts * 31 + part.size() * 7 + static_cast<std::uint64_t>(part.data() - bytes->data());
  });
  digest.add(parts);
  for (const TensorAudit& t : audit.tensors) {
    if (t.elements) add(digest, *t.elements);
    if (t.blocks) add(digest, *t.blocks);
  }
  for (const PackedWeight& p : audit.packed) {
    digest.add(packing_scheme_name(p.scheme));
    digest.add(p.name);
    digest.add(p.scales);
    digest.add(p.scale_rows);
    digest.add(p.scale_columns);
    for (const GroupChoice& choice : p.choices) {
      digest.add(std::uint64_t{choice.bits});
      digest.add(std::uint64_t{choice.group});
      digest.add(choice.in_features);
    }
  }
  for (const Warning& w : audit.warnings) {
    digest.add(w.kind->name);
    digest.add(severity_name(w.kind->severity));
    digest.add(w.tensor);
    digest.add(w.what);
    digest.add(w.where);
    digest.add(w.right);
    for (const auto& [name, number] : w.numbers) {
      digest.add(name);
      digest.add(number);
    }
  }
}

TEST(KnownAnswers, OfAuditsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x186F65A13CA54DDB},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    Random random(32);
    using Shape = std::vector<std::uint64_t>;
    for (const std::string_view scales : {"BF16", "F16", "F32", "U8"})
      for (const std::uint64_t words : {4U, 8U, 16U, 12U, 5U})
        for (const std::uint64_t columns : {1U, 2U, 3U, 4U, 8U})
          for (const std::uint64_t rows : {1U, 4U}) {
            Draft mlx;
            mlx.add("a.weight", "U32", {4, words}, random);
            mlx.add("a.scales", scales, {rows == 1 ? 5 : rows, columns}, random);
            if (scales != "U8") mlx.add("a.biases", rows == 1 ? "BF16" : scales, {rows, columns}, random);
            add_audit(digest, mlx);
            Draft gptq;
            gptq.add("b.qweight", "I32", {words, 8}, random);
            gptq.add("b.scales", scales == "U8" ? "F16" : scales, {columns, rows * 2}, random);
            gptq.add("b.qzeros", "I32", {columns, rows == 4 ? 1U : 2U}, random);
            if (rows == 4) gptq.add("b.g_idx", "I32", {words * 8}, random);
            add_audit(digest, gptq);
            Draft awq;
            awq.add("c.qweight", "I32", {words * 8, columns}, random);
            awq.add("c.scales", scales == "U8" ? "F16" : scales, {rows, columns * 8}, random);
            awq.add("c.qzeros", "I32", {rows, columns}, random);
            add_audit(digest, awq);
            Draft packed;
            packed.add("d.weight_packed", "I32", {4, words}, random);
            packed.add("d.weight_scale", scales == "U8" ? "F32" : scales, {4, columns}, random);
            packed.add("d.weight_shape", "I64", {2}, random);
            Bytes shape = packed.data.back();
            std::fill(shape.begin(), shape.end(), std::uint8_t{0});
            shape[0] = 4;
            shape[8] = static_cast<std::uint8_t>(words * 8);
            if (columns != 8) packed.data.back() = shape;
            add_audit(digest, packed);
          }
    // Zero points of any width, or none, for few outputs, or none.
    for (const std::uint64_t out : {0U, 1U, 8U, 32U})
      for (const std::uint64_t zeros : {0U, 1U, 2U, 3U, 9U})
        for (const std::uint64_t words : {4U, 16U}) {
          Draft gptq;
          gptq.add("e.qweight", "I32", {words, out}, random);
          gptq.add("e.scales", "F16", {2, out}, random);
          if (zeros != 9) gptq.add("e.qzeros", "I32", {2, zeros}, random);
          add_audit(digest, gptq);
        }
    for (const std::string_view dtype : {"F32", "F16", "BF16", "F64", "F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"})
      for (const Shape& shape : {Shape{}, {1}, {7}, {2, 33}, {3, 2, 5}, {0, 4}}) {
        Draft dense;
        dense.add("w", dtype, shape, random);
        dense.add("v", dtype, shape, random);
        add_audit(digest, dense);
      }
    for (const StoredType& type : stored_types(FileKind::gguf))
      if (type.block_elements != 0)
        for (int i = 0; i < 4; ++i) {
          Draft blocks;
          blocks.file.kind = FileKind::gguf;
          blocks.add("w", type.name, {3, std::uint64_t{type.block_elements} * 2}, random);
          blocks.add("token_embd.weight", type.name, {std::uint64_t{type.block_elements}}, random);
          add_audit(digest, blocks);
        }
  });
}

StoragePtr stored(const StorageEncoding& encoding, Shape shape, const Bytes& bytes, std::uint64_t offset,
                  std::optional<Shape> strides) {
  TensorStorage tensor;
  tensor.shape = std::move(shape);
  tensor.dtype = encoding.format();
  tensor.encoding = encoding;
  tensor.buffer = owned(bytes);
  tensor.byte_offset = offset;
  tensor.strides = std::move(strides);
  return std::make_shared<const TensorStorage>(std::move(tensor));
}

void add(Digest& digest, const Result<StoragePtr>& tensor) {
  if (!tensor) return digest.add(tensor.error());
  digest.add((*tensor)->encoding.id());
  digest.add(spec((*tensor)->dtype).name);
  digest.add(shape_text((*tensor)->shape));
  digest.add((*tensor)->byte_offset);
  digest.add(ownership_name(ownership_of((*tensor)->buffer)));
  const Result<Bytes> bytes = gather(**tensor, nullptr);
  bytes ? digest.add(std::span<const std::uint8_t>(*bytes)) : digest.add(bytes.error());
}

void storage_all(const StorageRules& rules, bool all, Digest& digest) {
  static const std::vector<StorageEncoding> encodings = [] {
    std::vector<StorageEncoding> chosen;
    for (const std::string_view id : {"dense(f32)", "dense(f16)", "dense(bf16)", "dense(f64)", "dense(i8)", "q8_0:ggml",
                                      "q4_0:ggml", "tq2_0:ggml", "q4_K:ggml", "q4_0:skainet", "tq1_0:ggml"})
      if (const auto encoding = storage_encoding_named(id)) chosen.push_back(*encoding);
    for (const StorageEncoding& encoding : all_storage_encodings())
      if (!encoding.is_dense() && encoding.row().planes[0] != 0 && chosen.size() < 14) chosen.push_back(encoding);
    return chosen;
  }();
  Random random(33);
  Bytes bytes(3000);
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    // Halves, and pairs of them as singles: ordinary numbers.
    bytes[i] = static_cast<std::uint8_t>(random.below(4) << 6);
    bytes[i + 1] = static_cast<std::uint8_t>(0x3C + random.below(4) + (random.coin() ? 0x80 : 0));
  }
  struct Place {
    Shape shape;
    std::uint64_t offset;
    std::optional<Shape> strides;
  };
  const std::array<Place, 12> places{{{{2, 32}, 0, std::nullopt},
                                      {{256}, 0, std::nullopt},
                                      {{2, 32}, 8, std::nullopt},
                                      {{}, 0, std::nullopt},
                                      {{3, 0}, 0, std::nullopt},
                                      {{2, 33}, 0, std::nullopt},
                                      {{4, 16}, 0, std::nullopt},
                                      {{2, 32}, 0, Shape{32, 1}},
                                      {{32, 2}, 4, Shape{1, 32}},
                                      {{2, 32}, 0, Shape{0, 1}},
                                      {{900}, 0, std::nullopt},
                                      {{2, 32}, 0, Shape{1}}}};
  for (const StorageEncoding& source : encodings)
    for (std::size_t p = 0; p < places.size(); ++p) {
      const Place& place = places[p];
      const StoragePtr tensor = stored(source, place.shape, bytes, place.offset, place.strides);
      add(digest, copy_materialize(*tensor, nullptr, rules));
      const Result<std::uint64_t> physical = physical_bytes(source, place.shape);
      physical ? digest.add(*physical) : digest.add(physical.error());
      const Result<std::uint64_t> extent = extent_bytes(*tensor);
      extent ? digest.add(*extent) : digest.add(extent.error());
      const Result<void> sound = check_storage(*tensor, nullptr, rules);
      if (!sound) digest.add(sound.error());
      for (std::size_t t = 0; t < encodings.size(); ++t) {
        if (!all && (t + p) % 2 == 1) continue;
        const StorageEncoding& target = encodings[t];
        add(digest, repack_to(tensor, target, nullptr, rules));
        add(digest, requantize_to(tensor, target, nullptr, rules));
        for (const EncodingRequest request :
             {EncodingRequest::keep_as_stored, EncodingRequest::dequantize_to, EncodingRequest::requantize_to})
          add(digest, load_weight(*tensor, {request, target}, nullptr, rules));
      }
    }
}

TEST(KnownAnswers, OfEveryRuleOfStoredTensorsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 13> kKnown{{
      {"as they are", 0x970A16B80B71E66D},
      {"offset ignored", 0x790C1EC283CB9433},
      {"offset twice", 0xE49F173B562CB52D},
      {"strides ignored", 0xF4CE84E9D19C8560},
      {"tag kept", 0xA1D79060490EE175},
      {"as bf16", 0x4A574B38F4EA030B},
      {"read sequentially", 0xC3805A554AED65E7},
      {"encoded again", 0x5F286F5E32E190B0},
      {"last dimension", 0x04871FFCE21F344F},
      {"volume", 0x2402B162183A30BB},
      {"dropped", 0x002A41CD336D38CB},
      {"rounded", 0xA38DE5117D38679C},
      {"loader truncates", 0xE94BA0BECCBFFCCD},
  }};
  using Rules = StorageRules;
  static constexpr std::array<ChangedRule<Rules>, 12> kChanges{{
      {"offset ignored", [](Rules& r) { r.offset = ViewOffset::ignored; }},
      {"offset twice", [](Rules& r) { r.offset = ViewOffset::twice; }},
      {"strides ignored", [](Rules& r) { r.strides = ViewStrides::ignored; }},
      {"tag kept", [](Rules& r) { r.tag = DtypeTag::kept; }},
      {"as bf16", [](Rules& r) { r.half = HalfReading::as_bf16; }},
      {"read sequentially", [](Rules& r) { r.reading = CodeReading::sequential; }},
      {"encoded again", [](Rules& r) { r.equal = EqualEncoding::encoded_again; }},
      {"last dimension", [](Rules& r) { r.blocking = BlockingCheck::last_dimension; }},
      {"volume", [](Rules& r) { r.blocking = BlockingCheck::volume; }},
      {"dropped", [](Rules& r) { r.partial = PartialBlock::dropped; }},
      {"rounded", [](Rules& r) { r.narrowing = Narrowing::rounded; }},
      {"loader truncates", [](Rules& r) { r.loader = LoaderRounding::truncates; }},
  }};
  expect_known<Rules>(kChanges, kKnown, storage_all);
}

TEST(KnownAnswers, OfConversionsOfStoredTensorsAndTheirTableAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x3445C5C5CD7B7F44},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    const std::vector<StorageEncoding> all = all_storage_encodings();
    for (const StorageEncoding& source : all)
      for (const StorageEncoding& target : all) {
        const ConversionCell cell = conversion_between(source, target);
        digest.add(conversion_name(cell.conversion));
        digest.add(cell.law);
        digest.add(cell.refusal);
      }
    for (const FormatSpec& from : all_formats())
      for (const FormatSpec& to : all_formats()) digest.add(std::uint64_t{holds_every_value(from.format, to.format)});
    DeviceMemory device("d");
    const DeviceResident first = device.upload(Bytes(4096, 1));
    const DeviceResident second = device.upload(Bytes(3, 2));
    const DeviceResident third = device.upload({});
    const DeviceResident fourth = device.upload({7});
    for (const DeviceResident& buffer : {first, second, third, fourth}) {
      digest.add(buffer.address);
      digest.add(buffer.size);
      for (DeviceResident asked : {buffer, DeviceResident{"e", buffer.address, buffer.size},
                                   DeviceResident{"d", buffer.address + 1, buffer.size},
                                   DeviceResident{"d", buffer.address, buffer.size + 1}}) {
        const Result<Owned> bytes = device.download(asked);
        bytes ? digest.add(std::span<const std::uint8_t>(*bytes->bytes)) : digest.add(bytes.error());
      }
    }
  });
}

TEST(KnownAnswers, OfTracesAndBoundsOfProductsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x342F1ABBEFF9CB5F},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    Random random(34);
    static constexpr std::array<std::uint32_t, 6> kOdd{0x7FC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x7F000000, 0};
    for (int i = 0; i < 120; ++i) {
      PackedSample s = random_sample(random, false);
      const std::size_t groups = s.product.in_features / s.product.group_size;
      if (s.product.in_features > 0 && s.product.out_features > 0) {
        const std::size_t o = random.below(s.product.out_features);
        const std::size_t g = random.below(groups);
        const float odd = std::bit_cast<float>(kOdd[random.below(6)]);
        if (i % 4 == 0) s.set_scale(o, g, odd);
        if (i % 4 == 1) s.set_bias(o, g, odd);
        if (i % 4 == 2 && !s.x.empty()) s.x[random.below(s.x.size())] = odd;
        if (i % 8 == 3 && !s.x.empty()) {
          for (float& x : s.x) x *= 0x1p60F;
          s.set_scale(o, g, 0x1p60F);
        }
      }
      const TracedLayer layer{"layer", s.product, s.weights.view()};
      const Result<std::optional<NanTrace>> trace = trace_nan({&layer, 1}, s.x, s.product.rows);
      if (!trace)
        digest.add(trace.error());
      else
        digest.add(*trace ? (*trace)->text() : std::string("finite"));
      digest.add(std::uint64_t{product_roundings(s.product.order, s.product.in_features, s.product.group_size)});
      for (std::size_t r = 0; r < s.product.rows; ++r)
        for (std::size_t o = 0; o < s.product.out_features; ++o) {
          const std::array<double, 1> bound{product_bound(s.arguments(), s.weights.view(), r, o)};
          digest.add(bound);
        }
    }
  });
}

void add(Digest& digest, const JsonValue& value) {
  digest.add(json_kind_name(value.kind()));
  digest.add(value.key());
  digest.add(value.text());
  digest.add(std::uint64_t{value.truth()});
  digest.add(value.size());
  digest.add(value.pointer());
  for (const JsonValue member : value) add(digest, member);
}

TEST(KnownAnswers, OfTextAndItsPlacesAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x5592CB9ED894AF0E},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    const std::string_view text =
        "{\"a\":[1,-2.5e+3,true,false,null,\"x\\n\\u00e9\\ud83d\\ude00\xC3\xA9\",[],{}],\"b~/\":{\"c\":\"\","
        "\"d\" : [ [ 0 ] ] },\"\":\"\xE2\x82\xAC\\\\\"}";
    JsonLimits limits;
    limits.depth = 3;
    for (const bool keep : {false, true}) {
      limits.duplicate_keys = keep ? DuplicateKeys::keep : DuplicateKeys::refuse;
      for_each_edit(text, 1, "0\"\\ue,[]} \x80", [&](std::string_view edited) {
        const Result<JsonDocument> document = read_json(edited, limits);
        if (!document) return digest.add(document.error());
        add(digest, document->root());
        const std::optional<JsonValue> member = document->root().member("a");
        if (member) digest.add(member->size());
      });
      limits.depth = 4;
    }
    for (const std::string_view token :
         {"0", "-0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
          "1.0", "1e2", "01", "", "-", "12x"}) {
      const Result<std::int64_t> number = parse_json_integer(token, "here");
      number ? digest.add(static_cast<std::uint64_t>(*number)) : digest.add(number.error());
    }
    for (unsigned c = 0; c < 256; ++c) {
      std::string out = "x";
      const Result<void> done = append_json_string(out, std::string(1, static_cast<char>(c)) + "\xC3\xA9");
      if (!done) digest.add(done.error());
      digest.add(out);
    }
    for (const std::uint64_t bits :
         {0x0ULL, 0x8000000000000000ULL, 0x1ULL, 0x3FF0000000000000ULL, 0x7FF0000000000000ULL, 0x7FF8000000000001ULL,
          0xFFFFFFFFFFFFFFFFULL, 0x0000000000030201ULL}) {
      for (const BitsRule rule : {BitsRule::where_needed, BitsRule::always}) {
        const NumberForm form = number_form(bits, rule);
        digest.add(form.number.value_or("-"));
        digest.add(form.bits.value_or("-"));
      }
      for_each_edit(print_bits(bits), 1, "0fFx g", [&](std::string_view edited) {
        for (const std::string_view number : {"1.0", "-0.0", "x"}) {
          const Result<std::uint64_t> read = read_number_form(number, edited);
          read ? digest.add(*read) : digest.add(read.error());
        }
        const Result<std::uint64_t> alone = read_number_form(std::nullopt, edited);
        alone ? digest.add(*alone) : digest.add(alone.error());
      });
    }
    for (const Layout& layout : all_layouts()) {
      for (const WordSpan& word : analyse(layout)) {
        digest.add(std::uint64_t{word.plain});
        digest.add(word.covered);
        digest.add(word.overlapping);
        digest.add(word.gaps);
        digest.add(std::uint64_t{word.can_be_negative});
        for (const std::optional<std::uint64_t>& smallest : word.smallest) digest.add(smallest.value_or(77));
      }
      for (const Error& fault : faults_of(layout)) digest.add(fault);
    }
  });
}

}  // namespace
}  // namespace packcheck::test
