// safetensors files: small sound ones by construction, or with one thing changed.
#include <algorithm>

#include "properties/cases/file_drafts.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

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
  bool escaped = false;      ///< names are written in ASCII
};

/// `escaped`: in ASCII, with an escape for every other character.
std::string json_string(const std::string& text, bool escaped) {
  return nlohmann::ordered_json(text).dump(-1, ' ', escaped);
}

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
  d.escaped = source.once_in(4);
  for (std::uint64_t i = source.once_in(2) ? source.below(3) : 0; i > 0; --i) {
    const std::string key = json_string("m" + draw_name(source, i), d.escaped);
    d.metadata.push_back(key + ":" + json_string(draw_name(source, i), d.escaped));
  }
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
      d.length = ~std::uint64_t{0} - source.below(8);  // the end of such a header is below 2^64 only if it wraps
      if (source.once_in(3)) d.length = source.pick({std::uint64_t{1} << 63, kPast32, std::uint64_t{1}});
      if (source.once_in(2)) {  // no data, so that the header might well be the rest of the file
        d.entries.clear();
        d.data = 0;
      }
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
    add(json_string(e.name, d.escaped) + R"(:{"dtype":")" + e.dtype + R"(","shape":[)" + shape +
        R"(],"data_offsets":[)" + e.begin + "," + e.end + "]}");
  }
  if (!d.extra.empty()) add(d.extra);
  return text + d.inner + "}" + d.padding;
}

}  // namespace

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

}  // namespace packcheck
