// Tensor files: small sound ones by construction, then mostly with one thing changed.
//
// A draft of the header is drawn first and changed before it becomes bytes, so that a change stands alone: every
// length and offset around it still fits. What a file is worth is the oracle's to say, not this generator's.
#include <algorithm>

#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kPast32 = std::uint64_t{1} << 32;
/// Equal bytes in a row that a case file writes as a count.
constexpr std::size_t kRun = 32;

void put(Bytes& out, std::string_view text) { out.insert(out.end(), text.begin(), text.end()); }
void put(Bytes& out, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}
std::uint64_t up(std::uint64_t size, std::uint64_t alignment) {
  return alignment == 0 ? size : (size + alignment - 1) / alignment * alignment;
}

/// Names: plain, empty, and what must be escaped or is more than ASCII.
std::string draw_name(Source& source, std::size_t index) {
  static constexpr std::string_view kPrefixes[] = {"w",    "blk.0.attn_q.weight",      "",
                                                   "a b%", "\xC3\xA9\xF0\x9F\x98\x80", "\"\\/\t"};
  return std::string(source.once_in(3) ? source.pick(kPrefixes) : "t") + std::to_string(index);
}

Bytes draw_data(Source& source, std::uint64_t size) {
  const std::uint64_t step = source.bits(4);
  Bytes data(size);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * step + 1);
  return data;
}

// GGUF.

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

Bytes draw_gguf_file(Source& source, std::uint64_t change) {
  GgufDraft d = draw_gguf(source);
  if (change == 1) change_header(source, d);
  if (change == 2) change_tensor(source, d);
  Bytes file = bytes_of_draft(d, source);
  if (change == 1 && source.once_in(12)) lengthen_string(source, file, d.word());
  return file;
}

// safetensors.

struct Dtype {
  std::string_view name;
  std::uint64_t bits;
};
constexpr Dtype kDtypes[] = {{"F32", 32}, {"U8", 8},      {"BF16", 16},   {"F16", 16},
                             {"I64", 64}, {"BOOL", 8},    {"F4", 4},      {"C64", 64},
                             {"U16", 16}, {"F8_E4M3", 8}, {"F6_E2M3", 6}, {"F8_E5M2FNUZ", 8}};

/// One member of the header, ready to be written; the numbers are text so that they may be anything.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::vector<std::string> shape;
  std::string begin;
  std::string end;
  std::uint64_t size = 0;
};
struct SafetensorsDraft {
  std::vector<std::string> metadata;  ///< members of __metadata__, as JSON
  std::vector<SafetensorsEntry> entries;
  std::string extra;    ///< JSON members after the tensors
  std::string before;   ///< between the length and the header
  std::string inner;    ///< white space before the end of the object
  std::string padding;  ///< after the object
  std::uint64_t data = 0;
  std::uint64_t more_length = 0;
  std::uint64_t length = 0;  ///< instead of the right one, where not 0
};

std::string json_string(const std::string& text) { return nlohmann::ordered_json(text).dump(); }

void place(SafetensorsDraft& d, std::size_t from, std::uint64_t offset) {
  for (std::size_t i = from; i < d.entries.size(); ++i) {
    d.entries[i].begin = std::to_string(offset);
    offset += d.entries[i].size;
    d.entries[i].end = std::to_string(offset);
  }
  d.data = offset;
}

SafetensorsEntry draw_entry(Source& source, std::size_t index) {
  SafetensorsEntry e;
  e.name = draw_name(source, index);
  const Dtype dtype = source.pick(kDtypes);
  e.dtype = dtype.name;
  std::uint64_t bits = dtype.bits;
  for (std::uint64_t i = source.below(4); i > 0; --i) {
    const std::uint64_t size =
        source.once_in(12) ? 0 : source.pick({std::uint64_t{1}, std::uint64_t{4}, std::uint64_t{3}, std::uint64_t{8}});
    bits *= size;
    e.shape.push_back(std::to_string(size));
  }
  if (bits % 8 != 0) {  // 4 and 6 bits: four elements are whole bytes
    e.shape.push_back("4");
    bits *= 4;
  }
  e.size = bits / 8;
  return e;
}

SafetensorsDraft draw_safetensors(Source& source) {
  SafetensorsDraft d;
  for (std::uint64_t i = source.once_in(2) ? source.below(3) : 0; i > 0; --i)
    d.metadata.push_back(json_string("m" + draw_name(source, i)) + ":" + json_string(draw_name(source, i)));
  for (std::uint64_t i = source.below(4); i > 0; --i) d.entries.push_back(draw_entry(source, d.entries.size()));
  place(d, 0, 0);
  if (source.once_in(2)) d.padding = std::string(source.below(9), ' ');
  // More than the first request of a client that reads from afar.
  if (source.once_in(40)) d.inner = std::string(100'000 + source.below(3), ' ');
  // Another order in the header than in the data.
  if (source.once_in(3)) std::reverse(d.entries.begin(), d.entries.end());
  return d;
}

std::uint64_t number_in(const std::string& digits) { return std::stoull(digits); }

/// Changes numbers and words of one tensor.
void change_entry(Source& source, SafetensorsDraft& d) {
  if (d.entries.empty()) {
    d.entries.push_back(draw_entry(source, 0));
    place(d, 0, 0);
  }
  const std::size_t index = source.below(d.entries.size());
  SafetensorsEntry& e = d.entries[index];
  switch (source.below(14)) {
    case 0: std::swap(e.begin, e.end); break;
    case 1: e = {e.name, "U8", {"0"}, "64", "0", 0}; break;  // ends before it begins
    case 2: e.end = std::to_string(number_in(e.end) + 1 + source.below(64)); break;
    case 3:  // the data follows the offsets, the shape does not
      e.size += 1 + source.below(9);
      place(d, 0, 0);
      break;
    case 4:
      e = {e.name, "U8", {"4294967296", "4294967296"}, e.begin, e.begin, 0};
      place(d, 0, 0);
      break;
    case 5: e.shape.push_back("4294967297"); break;
    case 6: place(d, index, number_in(e.begin) + 1 + source.below(8)); break;  // a hole
    case 7: {                                                                  // overlap
      const std::uint64_t shift = std::min<std::uint64_t>(number_in(e.begin), 1 + source.below(4));
      place(d, index, number_in(e.begin) - shift);
      break;
    }
    case 8: e.dtype = source.pick({std::string_view("f32"), std::string_view("F128"), std::string_view("")}); break;
    case 9:
      e.shape.emplace_back(source.pick({std::string_view("-1"), std::string_view("1.0"), std::string_view("1e0"),
                                        std::string_view("\"1\""), std::string_view("[1]"), std::string_view("null"),
                                        std::string_view("01"), std::string_view("-0")}));
      break;
    case 10:
      e.end = source.pick({std::string_view("18446744073709551615"), std::string_view("18446744073709551616"),
                           std::string_view("9007199254740993")});
      break;
    case 11:
      d.entries.push_back(e);
      place(d, 0, 0);
      break;    // a name twice
    case 12: {  // both ends wrap to sound ones
      e.begin = std::to_string(std::uint64_t{0} - 8 - e.size);
      e.end = std::to_string(std::uint64_t{0} - 8);
      d.data -= std::min(d.data, e.size);
      break;
    }
    default: e.shape = {"18446744073709551615", "2", "1", "1"}; break;
  }
}

/// Changes the text around the tensors.
void change_text(Source& source, SafetensorsDraft& d) {
  static constexpr std::string_view kExtra[] = {
      R"("n":null)",
      R"("n":{})",
      R"("n":{"dtype":"U8","shape":[0]})",
      R"("n":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]})",
      R"("n":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"more":[[{"a":1}]]})",
      R"("n":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]})",
      R"("n":{"dtype":"U8","shape":[0],"data_offsets":[0]})",
      R"("n":[1])",
      R"("k":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"k":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})",
      R"("\u006B":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"k":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})",
      R"("\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})",
      "\"\xFF\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
      R"(,)",
      R"("a":1,)",
      R"("n":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"};
  static constexpr std::string_view kMetadata[] = {R"("a":1)",           R"("a":null)",    R"("a":{"b":"c"})",
                                                   R"("a":"b","a":"b")", "\"a\":\"\x01\"", R"("a":"\x")"};
  static constexpr std::string_view kPadding[] = {"\n", "\t ", "x", "{}", "}"};
  switch (source.below(7)) {
    case 0: d.before = source.pick({std::string_view(" "), std::string_view("\n"), std::string_view("[")}); break;
    case 1: d.padding = source.pick(kPadding); break;
    case 2: d.metadata.emplace_back(source.pick(kMetadata)); break;
    case 3:
      d.length =
          source.pick({~std::uint64_t{0}, ~std::uint64_t{0} - 4, std::uint64_t{1} << 63, kPast32, std::uint64_t{1}});
      break;
    case 4: d.more_length = source.pick({std::uint64_t{1}, std::uint64_t{7}, ~std::uint64_t{0}}); break;
    default: d.extra = source.pick(kExtra);
  }
}

std::string text_of(const SafetensorsDraft& d) {
  std::string text = d.before + "{";
  const auto add = [&text](const std::string& member) {
    if (text.back() != '{') text += ',';
    text += member;
  };
  if (!d.metadata.empty()) {
    std::string members;
    for (const std::string& member : d.metadata) members.append(members.empty() ? "" : ",").append(member);
    add("\"__metadata__\":{" + members + "}");
  }
  for (const SafetensorsEntry& e : d.entries) {
    std::string shape;
    for (const std::string& size : e.shape) shape.append(shape.empty() ? "" : ",").append(size);
    add(json_string(e.name) + R"(:{"dtype":")" + e.dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
        e.begin + "," + e.end + "]}");
  }
  if (!d.extra.empty()) add(d.extra);
  return text + d.inner + "}" + d.padding;
}

Bytes draw_safetensors_file(Source& source, std::uint64_t change) {
  SafetensorsDraft d = draw_safetensors(source);
  if (change == 1) change_text(source, d);
  if (change == 2) change_entry(source, d);
  const std::string text = text_of(d);
  Bytes file;
  put(file, d.length != 0 ? d.length : text.size() + d.more_length, 8);
  put(file, text);
  const Bytes data = draw_data(source, std::min<std::uint64_t>(d.data, 1 << 16));
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

/// Changes any file: cut short, made longer, a byte or some changed.
void change_bytes(Source& source, Bytes& file) {
  switch (source.below(4)) {
    case 0: file.resize(source.below(file.size() + 1)); break;
    case 1: file.resize(file.size() - std::min<std::size_t>(file.size(), 1 + source.below(8))); break;
    case 2: file.insert(file.end(), 1 + source.below(40), static_cast<std::uint8_t>(source.bits(8))); break;
    default:
      for (std::uint64_t i = 1 + source.below(3); i > 0 && !file.empty(); --i)
        file[source.below(std::min<std::size_t>(file.size(), 256))] ^= static_cast<std::uint8_t>(1U << source.below(8));
  }
}

/// Hex strings, and runs of one byte as counts.
nlohmann::ordered_json pieces_of(const Bytes& file) {
  nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
  std::size_t written = 0;
  const auto hex = [&](std::size_t end) {
    if (end > written) pieces.push_back(hex_of_bytes(std::span(file).subspan(written, end - written)));
  };
  for (std::size_t at = 0; at < file.size();) {
    std::size_t end = at + 1;
    while (end < file.size() && file[end] == file[at]) ++end;
    if (end - at >= kRun) {
      hex(at);
      pieces.push_back({{"byte", hex_of_bytes(std::span(file).subspan(at, 1))}, {"times", end - at}});
      written = end;
    }
    at = end;
  }
  hex(file.size());
  return pieces;
}

class FileType final : public TypedCaseType<FileCase> {
 public:
  using TypedCaseType::TypedCaseType;

  FileCase draw_value(Source& source, std::string_view variant) const override {
    FileCase c{variant == "gguf" ? FileKind::gguf : FileKind::safetensors, {}};
    // 0: as it is; 1 and 2: the draft changed; 3: the bytes.
    const std::uint64_t change = source.once_in(3) ? 0 : source.below(4);
    c.bytes = c.kind == FileKind::gguf ? draw_gguf_file(source, change) : draw_safetensors_file(source, change);
    if (change == 3) change_bytes(source, c.bytes);
    return c;
  }
  std::string variant_of(const FileCase& c) const override { return std::string(file_kind_name(c.kind)); }
  Json write(const FileCase& c) const override {
    return {{"kind", file_kind_name(c.kind)}, {"file", pieces_of(c.bytes)}};
  }
  Result<FileCase> read(MemberReader& members) const override {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 26;
    const std::string kind = members.text("kind");
    FileCase c{kind == "gguf" ? FileKind::gguf : FileKind::safetensors, {}};
    if (kind != file_kind_name(c.kind))
      members.fail({"unknown kind '" + kind + "'", "file case/kind", "safetensors or gguf"});
    const Json pieces = members.value("file");
    const Error wrong{"not a list of pieces", "file case/file", R"(["hex", {"byte": "20", "times": 1000}, …])"};
    if (!pieces.is_array()) members.fail(wrong);
    for (const Json& piece : pieces) {
      const bool run = piece.is_object() && piece.size() == 2 && piece.contains("byte") && piece.contains("times");
      const Json& text = run ? piece.at("byte") : piece;
      const std::uint64_t times = !run                                     ? 1
                                  : piece.at("times").is_number_unsigned() ? piece.at("times").get<std::uint64_t>()
                                                                           : 0;
      const Result<Bytes> bytes = parse_hex_bytes(text.is_string() ? text.get<std::string>() : "?");
      if (!bytes || times == 0 || (run && bytes->size() != 1) ||
          times > kLargest - std::min<std::uint64_t>(c.bytes.size(), kLargest)) {
        members.fail(wrong);
        break;
      }
      if (run)
        c.bytes.insert(c.bytes.end(), times, bytes->front());
      else
        c.bytes.insert(c.bytes.end(), bytes->begin(), bytes->end());
    }
    return c;
  }
  /// The file itself.
  std::optional<Case> from_wire(std::span<const std::uint8_t> bytes, std::string_view variant) const override {
    return wrap({variant == "gguf" ? FileKind::gguf : FileKind::safetensors, Bytes(bytes.begin(), bytes.end())});
  }
};

const FileType kType("file");

}  // namespace

const CaseType& file_cases = kType;

}  // namespace packcheck
