// The safetensors half of the file oracle, after the format's README; what the Rust library forgives is a choice.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "properties/oracles/file_oracle.h"

namespace packcheck::oracle {
namespace {

using file_detail::Draft;
using file_detail::Refusal;
using Json = nlohmann::ordered_json;
using Wide = unsigned __int128;

const std::map<std::string, unsigned>& bits_of_types() {
  static const std::map<std::string, unsigned> bits{
      {"BOOL", 8},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},
      {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16}, {"F16", 16},
      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"BF16", 16},   {"I32", 32},    {"U32", 32}, {"F32", 32},
      {"C64", 64},        {"F64", 64},        {"I64", 64},    {"U64", 64}};
  return bits;
}

/// The header's object; every key of every object once.
Json parse_header(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  bool twice = false;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) twice = !keys.back().insert(parsed.get<std::string>()).second || twice;
    return true;
  };
  // To nlohmann_json a NUL is the end of the text.
  if (text.find('\0') != std::string_view::npos) throw Refusal{"no JSON"};
  Json header = Json::parse(text.begin(), text.end(), watch, false);
  if (header.is_discarded()) throw Refusal{"no JSON"};
  if (twice) throw Refusal{"duplicate key"};
  return header;
}

std::vector<std::uint64_t> integers(const Json& entry, const char* member) {
  if (!entry.contains(member)) throw Refusal{"a tensor without dtype, shape or data_offsets"};
  const Json& array = entry.at(member);
  if (!array.is_array()) throw Refusal{"no array of integers"};
  std::vector<std::uint64_t> values;
  for (const Json& value : array) {
    if (!value.is_number_unsigned()) throw Refusal{"no array of integers"};
    values.push_back(value.get<std::uint64_t>());
  }
  return values;
}

struct Tensor {
  std::string name;
  std::string type;
  std::string shape;
  std::uint64_t begin;
  std::uint64_t end;
};

Tensor tensor_of(const std::string& name, const Json& entry, Draft& draft) {
  if (!entry.is_object()) throw Refusal{"a tensor that is no object"};
  for (const auto& [member, value] : entry.items())
    if (member != "dtype" && member != "shape" && member != "data_offsets")
      draft.may_refuse("an unknown member of a tensor");
  if (!entry.contains("dtype") || !entry.at("dtype").is_string())
    throw Refusal{"a tensor without dtype, shape or data_offsets"};
  const std::string type = entry.at("dtype").get<std::string>();
  const std::vector<std::uint64_t> sizes = integers(entry, "shape");
  const std::vector<std::uint64_t> offsets = integers(entry, "data_offsets");
  if (offsets.size() != 2) throw Refusal{"not two offsets"};
  if (bits_of_types().count(type) == 0) throw Refusal{"an unknown dtype"};
  if (offsets[1] < offsets[0]) throw Refusal{"an end before the begin"};
  Wide count = 1;
  bool zero = false;
  bool large = false;
  Tensor t{name, type, {}, offsets[0], offsets[1]};
  for (const std::uint64_t size : sizes) {
    if (size == 0) zero = true;
    if (size != 0) count *= size;
    if (count >> 64 != 0) large = true, count = 1;
    t.shape.append(t.shape.empty() ? "" : ",").append(std::to_string(size));
  }
  if (large && zero) draft.may_refuse("a shape whose sizes that are not 0 multiply past 64 bits");
  const Wide bits = zero ? 0 : count * bits_of_types().at(type);
  if ((large && !zero) || bits / 8 >> 64 != 0) throw Refusal{"a size that does not fit 64 bits"};
  if (bits % 8 != 0) throw Refusal{"bits that are no whole bytes"};
  if (bits / 8 != t.end - t.begin) throw Refusal{"offsets and shape disagree"};
  return t;
}

void metadata_of(const Json& map, Draft& draft) {
  if (map.is_null()) return draft.may_refuse("null for __metadata__");
  if (!map.is_object()) throw Refusal{"__metadata__ that is no map of strings"};
  for (const auto& [key, value] : map.items()) {
    if (!value.is_string()) throw Refusal{"__metadata__ that is no map of strings"};
    draft.metadata.append("metadata ").append(word_of(key)).append(" string ");
    draft.metadata.append(word_of(value.get<std::string>())).append("\n");
  }
}

void check_cover(std::vector<Tensor> tensors, std::uint64_t data) {
  std::sort(tensors.begin(), tensors.end(),
            [](const Tensor& a, const Tensor& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t next = 0;
  for (const Tensor& t : tensors) {
    if (t.begin > next) throw Refusal{"a hole in the data"};
    if (t.begin < next) throw Refusal{"tensors that share bytes"};
    next = t.end;
  }
  if (next > data) throw Refusal{"data past the end of the file"};
  if (next < data) throw Refusal{"bytes after the last tensor"};
}

FileAnswer follow(std::span<const std::uint8_t> file) {
  if (file.size() < 8) throw Refusal{"less than 8 bytes"};
  std::uint64_t length = 0;
  for (unsigned i = 0; i < 8; ++i) length |= static_cast<std::uint64_t>(file[i]) << (8 * i);
  if (length > file.size() - 8) throw Refusal{"a header longer than the file"};
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + 8, static_cast<std::size_t>(length));
  if (text.empty() || text[0] != '{') throw Refusal{"a header that does not begin with '{'"};
  Draft draft;
  if (length > 100'000'000) draft.may_refuse("a header of more than 100 MB");
  const Json header = parse_header(text);
  const std::size_t last = text.find_last_of('}');
  if (text.find_first_not_of(' ', last + 1) != std::string_view::npos)
    draft.may_refuse("padding of the header other than spaces");
  std::vector<Tensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__")
      metadata_of(entry, draft);
    else
      tensors.push_back(tensor_of(name, entry, draft));
  }
  const std::uint64_t start = 8 + length;
  check_cover(tensors, file.size() - start);
  draft.head = "file safetensors\ndata_start " + std::to_string(start) + "\n";
  draft.written = "file safetensors\n";
  for (const Tensor& t : tensors)
    draft.add_tensor(
        t.name, t.type, t.shape, start + t.begin,
        file.subspan(static_cast<std::size_t>(start + t.begin), static_cast<std::size_t>(t.end - t.begin)));
  return draft.finish();
}

}  // namespace

FileAnswer read_safetensors(std::span<const std::uint8_t> bytes) {
  try {
    return follow(bytes);
  } catch (const Refusal& refusal) {
    return {Soundness::unsound, refusal.reason, {}, {}};
  }
}

}  // namespace packcheck::oracle
