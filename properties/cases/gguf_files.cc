// GGUF files: small sound ones by construction, or with one thing changed.
#include <algorithm>

#include "properties/cases/file_drafts.h"

namespace packcheck {
namespace {

struct GgufType {
  std::uint32_t number;
  std::uint32_t elements;
  std::uint32_t bytes;
};
constexpr GgufType kGgufTypes[] = {{0, 1, 4},     {24, 1, 1},   {1, 1, 2},    {30, 1, 2},     {26, 1, 4},
                                   {28, 1, 8},    {8, 32, 34},  {2, 32, 18},  {12, 256, 144}, {39, 32, 17},
                                   {16, 256, 66}, {40, 64, 36}, {41, 128, 18}};
constexpr std::uint32_t kString = 8;
constexpr std::uint32_t kArray = 9;
constexpr std::size_t kTypeBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

struct GgufEntry {
  std::string key;
  std::uint32_t type = 4;
  Bytes value;
};
struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> dims;  ///< innermost first, as the file has them
  GgufType type{};
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
struct GgufDraft {
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  std::vector<GgufEntry> entries;
  std::vector<GgufTensor> tensors;
  std::uint64_t more_tensors = 0;  ///< added to the count
  std::uint64_t more_entries = 0;
  std::string magic = "GGUF";
  bool big_endian = false;

  [[nodiscard]] std::size_t word() const { return version == 1 ? 4 : 8; }
};

void put_string(Bytes& out, std::string_view text, std::size_t word) {
  put(out, text.size(), word);
  put(out, text);
}

Bytes draw_gguf_value(Source& source, std::uint32_t type, std::size_t word, unsigned depth) {
  Bytes value;
  if (type == kString) {
    put_string(value, draw_name(source, 0), word);
  } else if (type == kArray) {
    auto element = static_cast<std::uint32_t>(source.below(word == 4 ? 10 : 13));
    if (element == kArray && (depth > 5 || source.once_in(2))) element = kString;
    const std::uint64_t count = source.below(4);
    put(value, element, 4);
    put(value, count, word);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Bytes next = draw_gguf_value(source, element, word, depth + 1);
      value.insert(value.end(), next.begin(), next.end());
    }
  } else {
    put(value, type == 7 ? source.bits(1) : source.bits(static_cast<unsigned>(8 * kTypeBytes[type])), kTypeBytes[type]);
  }
  return value;
}

GgufTensor draw_gguf_tensor(Source& source, std::size_t index) {
  GgufTensor t;
  t.name = draw_name(source, index);
  t.type = source.pick(kGgufTypes);
  t.dims.push_back((1 + source.below(3)) * t.type.elements);
  for (std::uint64_t i = source.below(4); i > 0; --i) t.dims.push_back(1 + source.below(3));
  if (source.once_in(12)) t.dims.back() = 0;
  t.bytes = t.type.bytes;
  t.dims[0] /= t.type.elements;
  for (const std::uint64_t size : t.dims) t.bytes *= size;
  t.dims[0] *= t.type.elements;
  return t;
}

GgufEntry alignment_entry(std::uint64_t alignment) {
  GgufEntry entry{"general.alignment", 4, {}};
  put(entry.value, alignment, 4);
  return entry;
}

void place(GgufDraft& d) {
  std::uint64_t offset = 0;
  for (GgufTensor& t : d.tensors) {
    t.offset = offset;
    offset = up(offset + t.bytes, d.alignment);
  }
}

GgufDraft draw_gguf(Source& source) {
  GgufDraft d;
  static constexpr std::uint32_t kVersions[] = {3, 3, 3, 2, 1};
  d.version = source.pick(kVersions);
  for (std::uint64_t i = source.below(4); i > 0; --i) {
    auto type = static_cast<std::uint32_t>(source.below(d.version == 1 ? 10 : 13));
    Bytes value = draw_gguf_value(source, type, d.word(), 0);
    d.entries.push_back({"k" + draw_name(source, d.entries.size()), type, std::move(value)});
  }
  static constexpr std::uint64_t kAlignments[] = {32, 8, 16, 64, 256, 1, 24, 0};
  if (source.once_in(3)) {
    d.alignment = source.pick(kAlignments);
    d.entries.push_back(alignment_entry(d.alignment));
    if (d.alignment == 0) d.alignment = source.pick({std::uint64_t{32}, std::uint64_t{1}});
  }
  for (std::uint64_t i = source.below(4); i > 0; --i) d.tensors.push_back(draw_gguf_tensor(source, d.tensors.size()));
  place(d);
  return d;
}

/// Changes the metadata or the counts.
void change_header(Source& source, GgufDraft& d) {
  GgufEntry extra{"extra", kArray, {}};
  switch (source.below(11)) {
    case 0: d.entries.push_back(d.entries.empty() ? extra : d.entries.front()); break;  // a key twice
    case 1:
      d.entries.push_back(alignment_entry(0));
      d.alignment = source.pick({std::uint64_t{32}, std::uint64_t{1}});
      place(d);
      break;
    case 2:
      d.entries.push_back(alignment_entry(source.pick({std::uint64_t{12}, std::uint64_t{33}, std::uint64_t{48}})));
      break;
    case 3: {  // an alignment of another type
      GgufEntry entry{"general.alignment", source.pick({5U, 10U, 6U, 8U}), {}};
      entry.value = draw_gguf_value(source, entry.type, d.word(), 0);
      d.entries.push_back(std::move(entry));
      break;
    }
    case 4: d.more_tensors = source.pick({std::uint64_t{1}, kPast32, std::uint64_t{1} << 61, ~std::uint64_t{0}}); break;
    case 5: d.more_entries = source.pick({std::uint64_t{1}, kPast32, std::uint64_t{1} << 61, ~std::uint64_t{0}}); break;
    case 6: d.version = source.pick({0U, 4U, 65536U}); break;
    case 7: d.big_endian = true; break;
    case 8:
      d.magic = source.pick({std::string_view("FUGG"), std::string_view("GGUf"), std::string_view("ggml")});
      break;
    case 9:  // an array longer than the file
      put(extra.value, source.below(13), 4);
      put(extra.value, source.pick({std::uint64_t{1} << 16, kPast32 - 1, std::uint64_t{1} << 61, ~std::uint64_t{0}}),
          d.word());
      d.entries.push_back(std::move(extra));
      break;
    default: {  // a bool or a type that is none
      extra.type = source.pick({7U, 13U, 0x80000008U});
      put(extra.value, 2, 1);
      d.entries.push_back(std::move(extra));
      break;
    }
  }
}

/// Changes one tensor's entry; its data stays.
void change_tensor(Source& source, GgufDraft& d) {
  if (d.tensors.empty()) d.tensors.push_back(draw_gguf_tensor(source, 0));
  GgufTensor& t = d.tensors[source.below(d.tensors.size())];
  switch (source.below(12)) {
    case 0: t.dims.resize(5 + source.below(5), 1); break;
    case 1: t.dims[source.below(t.dims.size())] += kPast32; break;
    case 2: t.dims = {kPast32, kPast32}; break;  // 2^64, which wraps to 0
    case 3: t.dims = {~std::uint64_t{0}, 2, 1, 1}; break;
    case 4: t.dims[0] += 1; break;  // no whole blocks, or more than there is
    case 5: t.type.number = source.pick({4U, 31U, 38U, 43U, 255U, 0xFFFFFFFFU}); break;
    case 6: t.offset += source.pick({std::uint64_t{1}, std::uint64_t{4}, d.alignment / 2}); break;
    case 7: t.offset = d.tensors.front().offset; break;
    case 8: t.offset = std::uint64_t{0} - up(std::max<std::uint64_t>(t.bytes / 2, 1), d.alignment); break;
    case 9: t.offset += d.alignment << source.below(8); break;
    case 10: t.name = std::string(source.pick({64U, 65U, 80U}), 'n'); break;
    default:
      if (d.tensors.size() == 1) d.tensors.push_back(t);
      d.tensors.back().name = d.tensors.front().name;
  }
}

Bytes bytes_of_draft(const GgufDraft& d, Source& source) {
  Bytes out;
  put(out, d.magic);
  put(out, d.version, 4);
  if (d.big_endian) std::reverse(out.begin() + 4, out.end());
  put(out, d.tensors.size() + d.more_tensors, d.word());
  put(out, d.entries.size() + d.more_entries, d.word());
  for (const GgufEntry& e : d.entries) {
    put_string(out, e.key, d.word());
    put(out, e.type, 4);
    out.insert(out.end(), e.value.begin(), e.value.end());
  }
  std::uint64_t data = 0;
  for (const GgufTensor& t : d.tensors) {
    put_string(out, t.name, d.word());
    put(out, t.dims.size(), 4);
    for (const std::uint64_t size : t.dims) put(out, size, d.word());
    put(out, t.type.number, 4);
    put(out, t.offset, 8);
    data = up(data + t.bytes, d.alignment);
  }
  // Without tensors a file may end with its header.
  if (d.tensors.empty() && source.once_in(2)) return out;
  out.resize(up(out.size(), d.alignment));
  const Bytes bytes = draw_data(source, data);
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

/// A string whose length says more than there is; the last thing in the file, or near it.
void lengthen_string(Source& source, Bytes& file, std::size_t word) {
  const std::uint64_t length = source.pick({std::uint64_t{3}, std::uint64_t{100}, kPast32 - 1, ~std::uint64_t{0}});
  const Bytes header(file.begin(),
                     file.begin() + std::min<std::ptrdiff_t>(8, static_cast<std::ptrdiff_t>(file.size())));
  file = header;
  put(file, 0, word);
  put(file, 1, word);
  put_string(file, "k", word);
  put(file, kString, 4);
  put(file, length, word);
  put(file, "x");
}

}  // namespace

Bytes draw_gguf_file(Source& source, std::uint64_t change) {
  GgufDraft d = draw_gguf(source);
  if (change == 1) change_header(source, d);
  if (change == 2) change_tensor(source, d);
  Bytes file = bytes_of_draft(d, source);
  if (change == 1 && source.once_in(12)) lengthen_string(source, file, d.word());
  return file;
}

}  // namespace packcheck
