#include "core/text/json_document.h"

#include <locale.h>

#include <algorithm>
#include <cfenv>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/environment.h"

namespace packcheck {

/// Values in the order of the text; offsets into one string of all keys, tokens and strings.
struct JsonTree {
  struct Entry {
    JsonKind kind = JsonKind::null;
    bool truth = false;
    std::uint32_t parent = 0;
    std::uint32_t next = 0;  ///< the index after its last descendant
    std::uint32_t key = 0;
    std::uint32_t key_size = 0;
    std::uint32_t text = 0;
    std::uint32_t size = 0;  ///< of the text; of an array or object, its elements or members
  };
  std::vector<Entry> entries;
  std::string letters;

  [[nodiscard]] std::string_view part(std::uint32_t from, std::uint32_t size) const {
    return std::string_view(letters).substr(from, size);
  }
  [[nodiscard]] std::string_view key_of(const Entry& entry) const { return part(entry.key, entry.key_size); }
  [[nodiscard]] bool is_nested(std::uint32_t index) const { return entries[index].kind >= JsonKind::array; }
};

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 31;  // offsets have 32 bits
constexpr std::string_view kReadingJson = "the JSON text";

/// nlohmann_json's lexer asks the locale for its decimal point and lets strtod decide what overflows: this thread gets
/// the "C" locale and rounds to nearest for a while. (strtod asks the x87 unit, which ExactEnvironment leaves alone.)
class ParserEnvironment {
 public:
  ParserEnvironment() : locale_(uselocale(c_locale())), rounding_(std::fegetround()) { std::fesetround(FE_TONEAREST); }
  ~ParserEnvironment() {
    std::fesetround(rounding_);
    uselocale(locale_);
  }
  ParserEnvironment(const ParserEnvironment&) = delete;
  ParserEnvironment& operator=(const ParserEnvironment&) = delete;

 private:
  static locale_t c_locale() {
    static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }
  locale_t locale_;
  int rounding_;
};

/// A token of a JSON pointer: "~" and "/" are escaped.
void append_token(std::string& pointer, std::string_view key) {
  pointer.push_back('/');
  for (const char letter : key) {
    if (letter == '~')
      pointer.append("~0");
    else if (letter == '/')
      pointer.append("~1");
    else
      pointer.push_back(letter);
  }
}

std::string pointer_to(const JsonTree& tree, std::uint32_t index) {
  std::vector<std::uint32_t> path;
  for (; index != 0; index = tree.entries[index].parent) path.push_back(index);
  std::string pointer;
  for (std::size_t i = path.size(); i-- > 0;) {
    const JsonTree::Entry& entry = tree.entries[path[i]];
    if (tree.entries[entry.parent].kind == JsonKind::object) {
      append_token(pointer, tree.key_of(entry));
      continue;
    }
    std::size_t position = 0;
    for (std::uint32_t at = entry.parent + 1; at != path[i]; at = tree.entries[at].next) ++position;
    append_token(pointer, std::to_string(position));
  }
  return pointer;
}

std::string place(const JsonTree& tree, std::uint32_t index) {
  std::string pointer = pointer_to(tree, index);
  return pointer.empty() ? std::string(kReadingJson) : pointer;
}

/// Receives nlohmann_json's events and grows the tree; the first error ends the parse.
class Builder {
 public:
  Builder(JsonTree& tree, const JsonLimits& limits) : tree_(tree), limits_(limits) {}
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  bool null() { return leaf(JsonKind::null, {}); }
  bool boolean(bool truth) {
    leaf(JsonKind::boolean, {});
    tree_.entries.back().truth = truth;
    return true;
  }
  // Called only for tokens with a minus: 0 was "-0". Integers have no other spelling than their decimal digits.
  bool number_integer(std::int64_t value) { return leaf(JsonKind::number, value == 0 ? "-0" : std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return leaf(JsonKind::number, std::to_string(value)); }
  bool number_float(double, const std::string& token) { return leaf(JsonKind::number, token); }
  bool string(const std::string& text) { return leaf(JsonKind::string, text); }
  static bool binary(const nlohmann::json::binary_t&) { return false; }  // no JSON text has it

  bool key(const std::string& name) {
    key_ = append(name);
    key_size_ = static_cast<std::uint32_t>(name.size());
    return true;
  }
  bool start_object(std::size_t) { return open(JsonKind::object); }
  bool start_array(std::size_t) { return open(JsonKind::array); }
  bool end_array() { return close(); }
  bool end_object() { return keys_differ(open_.back()) && close(); }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::json::exception& problem) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …": the part in brackets is for programs.
    std::string_view what = problem.what();
    if (const std::size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    std::string where = open_.empty() ? std::string(kReadingJson) : place(tree_, open_.back());
    where.append(", byte ").append(std::to_string(byte));
    error_ = Error{std::string(what), std::move(where), "one well-formed JSON value (RFC 8259)"};
    return false;
  }

 private:
  std::uint32_t append(std::string_view text) {
    const auto at = static_cast<std::uint32_t>(tree_.letters.size());
    tree_.letters.append(text);
    return at;
  }

  void add(JsonKind kind) {
    JsonTree::Entry entry;
    entry.kind = kind;
    if (!open_.empty()) {
      entry.parent = open_.back();
      JsonTree::Entry& parent = tree_.entries[entry.parent];
      ++parent.size;
      if (parent.kind == JsonKind::object) {
        entry.key = key_;
        entry.key_size = key_size_;
      }
    }
    entry.next = static_cast<std::uint32_t>(tree_.entries.size() + 1);
    tree_.entries.push_back(entry);
  }

  bool leaf(JsonKind kind, std::string_view text) {
    add(kind);
    JsonTree::Entry& entry = tree_.entries.back();
    entry.text = append(text);
    entry.size = static_cast<std::uint32_t>(text.size());
    return true;
  }

  bool open(JsonKind kind) {
    add(kind);
    open_.push_back(static_cast<std::uint32_t>(tree_.entries.size() - 1));
    if (open_.size() <= limits_.depth) return true;
    error_ =
        Error{"nested deeper than " + std::to_string(limits_.depth), place(tree_, open_.back()), "a flatter document"};
    return false;
  }

  bool close() {
    tree_.entries[open_.back()].next = static_cast<std::uint32_t>(tree_.entries.size());
    open_.pop_back();
    return true;
  }

  /// At the end of an object, so that a large one costs a sort and not a comparison of all pairs.
  bool keys_differ(std::uint32_t object) {
    if (limits_.duplicate_keys == DuplicateKeys::keep) return true;
    keys_.clear();
    for (std::uint32_t at = object + 1; at != tree_.entries.size(); at = tree_.entries[at].next)
      keys_.push_back(tree_.key_of(tree_.entries[at]));
    std::sort(keys_.begin(), keys_.end());
    const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
    if (twice == keys_.end()) return true;
    std::string what = "the key '";
    what.append(twice->substr(0, 80)).append("' appears twice");
    error_ = Error{std::move(what), place(tree_, object), "each key once: readers differ in which one they take"};
    return false;
  }

  JsonTree& tree_;
  const JsonLimits& limits_;
  std::vector<std::uint32_t> open_;
  std::vector<std::string_view> keys_;
  std::uint32_t key_ = 0;
  std::uint32_t key_size_ = 0;
  std::optional<Error> error_;
};

/// How many bytes the UTF-8 sequence at the start of `text` has; 0 where there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  // Overlong forms, surrogates, and what is above U+10FFFF.
  const bool wrong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) > 0x9F) ||
                     (byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : length;
}

void append_escaped(std::string& out, char letter) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (letter) {
    case '"': out.append("\\\""); return;
    case '\\': out.append("\\\\"); return;
    case '\n': out.append("\\n"); return;
    case '\r': out.append("\\r"); return;
    case '\t': out.append("\\t"); return;
    default: break;
  }
  if (static_cast<unsigned char>(letter) >= 0x20) {
    out.push_back(letter);
    return;
  }
  out.append("\\u00");
  out.push_back(kDigits[static_cast<unsigned char>(letter) >> 4]);
  out.push_back(kDigits[static_cast<unsigned char>(letter) & 15]);
}

}  // namespace

std::string_view json_kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::null: return "null";
    case JsonKind::boolean: return "a boolean";
    case JsonKind::number: return "a number";
    case JsonKind::string: return "a string";
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
  }
  return "unknown";
}

JsonKind JsonValue::kind() const { return tree_->entries[index_].kind; }
std::string_view JsonValue::key() const { return tree_->key_of(tree_->entries[index_]); }
bool JsonValue::truth() const { return tree_->entries[index_].truth; }
std::size_t JsonValue::size() const { return tree_->is_nested(index_) ? tree_->entries[index_].size : 0; }
std::string_view JsonValue::text() const {
  const JsonTree::Entry& entry = tree_->entries[index_];
  return tree_->is_nested(index_) ? std::string_view() : tree_->part(entry.text, entry.size);
}
std::string JsonValue::pointer() const { return pointer_to(*tree_, index_); }

JsonValue::Iterator& JsonValue::Iterator::operator++() {
  index_ = tree_->entries[index_].next;
  return *this;
}
JsonValue::Iterator JsonValue::begin() const { return {tree_, index_ + 1}; }
JsonValue::Iterator JsonValue::end() const { return {tree_, tree_->entries[index_].next}; }

std::optional<JsonValue> JsonValue::member(std::string_view key) const {
  if (!is(JsonKind::object)) return std::nullopt;
  for (const JsonValue value : *this)
    if (value.key() == key) return value;
  return std::nullopt;
}

JsonDocument::JsonDocument(std::unique_ptr<const JsonTree> tree) : tree_(std::move(tree)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

Result<JsonDocument> read_json(std::string_view text, const JsonLimits& limits) {
  const std::size_t most = std::min(limits.bytes, kMostBytes);
  if (text.size() > most)
    return refuse(std::to_string(text.size()) + " bytes", std::string(kReadingJson), "at most " + std::to_string(most));
  // nlohmann_json takes a NUL for the end of the text, and skips a byte order mark.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return refuse("a NUL", std::string(kReadingJson) + ", byte " + std::to_string(nul + 1), "text");
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    return refuse("a byte order mark", std::string(kReadingJson) + ", byte 1", "UTF-8 without one");
  auto tree = std::make_unique<JsonTree>();
  Builder builder(*tree, limits);
  const ParserEnvironment environment;
  const ExactEnvironment exact;
  const bool whole = nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder);
  if (builder.error()) return tl::unexpected(*builder.error());
  if (!whole) return refuse("not JSON", std::string(kReadingJson), "one well-formed JSON value (RFC 8259)");
  return JsonDocument(std::move(tree));
}

Result<std::int64_t> parse_json_integer(std::string_view token, std::string_view where) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (problem == std::errc() && end == token.data() + token.size() && token != "-0") return value;
  return refuse(std::string(token.substr(0, 40)), std::string(where),
                "an integer without fraction or exponent, from -2^63 to 2^63 - 1");
}

Result<void> append_json_string(std::string& out, std::string_view text) {
  const std::size_t before = out.size();
  out.push_back('"');
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      out.resize(before);
      return refuse("no UTF-8 at byte " + std::to_string(at), "a string", "UTF-8");
    }
    if (length == 1)
      append_escaped(out, text[at]);
    else
      out.append(text.substr(at, length));
    at += length;
  }
  out.push_back('"');
  return {};
}

}  // namespace packcheck
