#include "properties/strict_json.h"

#include <algorithm>

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;
constexpr int kDeepest = 100;

/// Watches a parse and remembers a duplicate key or too deep a nesting.
class Watcher {
 public:
  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kDeepest) error_ = "nested deeper than " + std::to_string(kDeepest);
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key && !keys_.back().insert(parsed.get<std::string>()).second)
      error_ = "duplicate key '" + parsed.get<std::string>() + "'";
    return true;
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::string error_;
};

bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<json> parse_strict_json(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return refuse("a NUL byte", "JSON", "text");
  if (too_deep(text)) return refuse("nested deeper than " + std::to_string(kDeepest), "JSON", "a flatter document");
  Watcher watcher;
  try {
    json parsed = json::parse(text.begin(), text.end(), std::ref(watcher));
    if (!watcher.error().empty()) return refuse(watcher.error(), "JSON", "each key once");
    return parsed;
  } catch (const json::exception& problem) {
    return refuse(problem.what(), "JSON", "one well-formed JSON value");
  }
}

std::string hex_of(std::uint64_t bits, int width_in_bits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = (width_in_bits - 1) / 4 * 4; shift >= 0; shift -= 4) text += kDigits[bits >> shift & 15];
  return text;
}

Result<std::uint64_t> parse_hex(std::string_view text, int width_in_bits) {
  const int digits = (width_in_bits + 3) / 4;
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - width_in_bits);
  const std::string right = "0x and 1 to " + std::to_string(digits) + " hex digits" +
                            (width_in_bits % 4 == 0 ? "" : ", at most " + hex_of(most, width_in_bits));
  const auto wrong = [&] { return refuse("'" + std::string(text.substr(0, 80)) + "'", "bits", right); };
  if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return wrong();
  if (text.size() - 2 > static_cast<std::size_t>(digits)) return wrong();
  std::uint64_t bits = 0;
  for (const char c : text.substr(2)) {
    if (hex_digit(c) < 0) return wrong();
    bits = bits << 4 | static_cast<std::uint64_t>(hex_digit(c));
  }
  if (bits > most) return wrong();
  return bits;
}

std::string hex_of_bytes(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += hex_of(byte, 8).substr(2);
  return text;
}

Result<std::vector<std::uint8_t>> parse_hex_bytes(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  if (text.size() % 2 != 0) return refuse("an odd number of hex digits", "bytes", "two digits a byte");
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0)
      return refuse("'" + std::string(text.substr(i, 2)) + "' at digit " + std::to_string(i), "bytes", "hex digits");
    bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return bytes;
}

MemberReader::MemberReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  if (!object.is_object()) fail({"not an object", where_, "{…}"});
}

void MemberReader::fail(Error error) { errors_.push_back(std::move(error)); }

bool MemberReader::has(std::string_view key) const { return object_.is_object() && object_.contains(key); }

const json* MemberReader::find(std::string_view key, std::string_view right) {
  seen_.insert(std::string(key));
  if (has(key)) return &object_[std::string(key)];
  fail({"missing", where_ + "/" + std::string(key), std::string(right)});
  return nullptr;
}

json MemberReader::value(std::string_view key) {
  const json* found = find(key, "a value");
  return found == nullptr ? json() : *found;
}

std::string MemberReader::text(std::string_view key) {
  const json* found = find(key, "a string");
  if (found == nullptr) return {};
  if (found->is_string()) return found->get<std::string>();
  fail({"not a string", where_ + "/" + std::string(key), "a string"});
  return {};
}

std::uint64_t MemberReader::hex(std::string_view key, int width_in_bits) {
  const std::string written = text(key);
  if (!errors_.empty()) return 0;
  Result<std::uint64_t> bits = parse_hex(written, width_in_bits);
  if (bits) return *bits;
  fail({bits.error().what, where_ + "/" + std::string(key), bits.error().right});
  return 0;
}

std::uint64_t MemberReader::unsigned_integer(std::string_view key) {
  const json* found = find(key, "a non-negative integer");
  if (found == nullptr) return 0;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  fail({"not a non-negative integer", where_ + "/" + std::string(key), "0 to 18446744073709551615"});
  return 0;
}

std::vector<std::int64_t> MemberReader::integers(std::string_view key) {
  std::vector<std::int64_t> values;
  const json* found = find(key, "an array of integers");
  if (found == nullptr) return values;
  const Error wrong{"not an array of 64-bit integers", where_ + "/" + std::string(key), "[1, 2, …]"};
  if (!found->is_array()) fail(wrong);
  for (const json& value : *found) {
    const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX;
    if (!value.is_number_integer() || too_large) {
      fail(wrong);
      break;
    }
    values.push_back(value.get<std::int64_t>());
  }
  return values;
}

std::vector<std::uint8_t> MemberReader::elements(std::string_view key, Format format_of_elements) {
  std::vector<std::uint8_t> bytes;
  const json* found = find(key, "an array of hex strings");
  if (found == nullptr) return bytes;
  const FormatSpec& s = spec(format_of_elements);
  if (!found->is_array()) fail({"not an array", where_ + "/" + std::string(key), "[\"0x…\", …]"});
  for (const json& value : *found) {
    const Result<std::uint64_t> bits =
        value.is_string() ? parse_hex(value.get<std::string>(), s.width()) : parse_hex("not a string", s.width());
    if (!bits) {
      fail({bits.error().what, where_ + "/" + std::string(key), bits.error().right});
      break;
    }
    bytes.resize(bytes.size() + s.bytes());
    store_element(s, bytes, bytes.size() / s.bytes() - 1, *bits);
  }
  return bytes;
}

std::vector<std::uint8_t> MemberReader::bytes(std::string_view key) {
  Result<std::vector<std::uint8_t>> parsed = parse_hex_bytes(text(key));
  if (parsed) return std::move(*parsed);
  fail({parsed.error().what, where_ + "/" + std::string(key), parsed.error().right});
  return {};
}

Format MemberReader::format(std::string_view key) {
  const std::string name = text(key);
  const std::optional<Format> found = format_named(name);
  if (!found) fail({"unknown format '" + name + "'", where_ + "/" + std::string(key), std::string(format_names())});
  return found.value_or(Format::f32);
}

Result<void> MemberReader::finish() {
  if (object_.is_object())
    for (const auto& [key, value] : object_.items())
      if (seen_.find(key) == seen_.end()) fail({"unknown member '" + key + "'", where_, "only known members"});
  if (errors_.empty()) return {};
  return tl::unexpected(errors_.front());
}

json elements_json(std::span<const std::uint8_t> elements, Format format) {
  json array = json::array();
  const FormatSpec& s = spec(format);
  for (std::size_t i = 0; i < elements.size() / s.bytes(); ++i)
    array.push_back(hex_of(load_element(s, elements, i), s.width()));
  return array;
}

}  // namespace packcheck
