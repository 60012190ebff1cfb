// Trees of core/text/json_document.h against the oracle's, written again, and with every limit one too low.
#include <algorithm>
#include <charconv>

#include "core/text/json_document.h"
#include "properties/checks/checks.h"
#include "properties/oracles/json_tree.h"
#include "properties/oracles/text_oracle.h"

namespace packcheck {
namespace {

constexpr std::size_t kOracleDepth = 64;

std::size_t depth_of(const oracle::JsonNode& node) {
  std::size_t deepest = 0;
  for (const oracle::JsonNode& element : node.elements) deepest = std::max(deepest, depth_of(element));
  return deepest + (node.kind == oracle::JsonNode::array || node.kind == oracle::JsonNode::object ? 1 : 0);
}

/// Whether some number is one that no double holds, which the core refuses.
bool has_overflow(const oracle::JsonNode& node) {
  if (node.kind == oracle::JsonNode::number) {
    const auto parsed = oracle::parse(node.text);
    return parsed && parsed->overflow;
  }
  return std::any_of(node.elements.begin(), node.elements.end(), has_overflow);
}

/// An integer of 64 bits as it is written, and no other token.
Fault integer_fault(std::string_view token) {
  const bool digits = token.find_first_not_of("0123456789", token[0] == '-' ? 1 : 0) == std::string_view::npos;
  const std::string_view least = "9223372036854775808";
  const std::string_view magnitude = token.substr(token[0] == '-' ? 1 : 0);
  const bool fits = magnitude.size() < least.size() ||
                    (magnitude.size() == least.size() && (token[0] == '-' ? magnitude <= least : magnitude < least));
  const Result<std::int64_t> integer = parse_json_integer(token, "/n");
  if (integer.has_value() != (digits && fits && token != "-0")) return "integers";
  return integer && std::to_string(*integer) != token ? "an integer's value" : "";
}

/// A value and everything in it; `pointer` is where it is.
Fault difference(const JsonValue& value, const oracle::JsonNode& node, const std::string& pointer) {
  static constexpr JsonKind kKinds[] = {JsonKind::null,   JsonKind::boolean, JsonKind::number,
                                        JsonKind::string, JsonKind::array,   JsonKind::object};
  if (!value.is(kKinds[node.kind]) || json_kind_name(value.kind()) == "unknown") return "kind";
  if (value.key() != node.key || value.size() != node.elements.size()) return "key or size";
  if (value.pointer() != pointer) return "pointer";
  const bool has_text = value.is(JsonKind::number) || value.is(JsonKind::string);
  if (value.text() != (has_text ? std::string_view(node.text) : std::string_view())) return "text";
  if (value.is(JsonKind::number)) return integer_fault(value.text());
  std::size_t i = 0;
  for (const JsonValue element : value) {
    std::string token = std::to_string(i);
    if (value.is(JsonKind::object)) {
      token.clear();
      for (const char letter : element.key())
        letter == '~' ? token.append("~0") : letter == '/' ? token.append("~1") : token.append(1, letter);
      const std::optional<JsonValue> found = value.member(element.key());
      if (!found || found->pointer() != element.pointer()) return "member";
    }
    Fault fault = difference(element, node.elements[i++], std::string(pointer).append("/").append(token));
    if (!fault.empty()) return fault;
  }
  return value.member("no such key, surely") ? "a member that is not there" : "";
}

void write(std::string& out, const JsonValue& value) {
  switch (value.kind()) {
    case JsonKind::null: out.append("null"); return;
    case JsonKind::boolean: out.append(value.truth() ? "true" : "false"); return;
    case JsonKind::number: out.append(value.text()); return;
    case JsonKind::string: (void)append_json_string(out, value.text()); return;
    case JsonKind::array:
    case JsonKind::object: break;
  }
  const bool object = value.is(JsonKind::object);
  out.push_back(object ? '{' : '[');
  for (const JsonValue element : value) {
    if (element.pointer() != (*value.begin()).pointer()) out.push_back(',');
    if (object) (void)append_json_string(out, element.key());
    if (object) out.push_back(':');
    write(out, element);
  }
  out.push_back(object ? '}' : ']');
}

/// Any bytes as a string: written where they are UTF-8, and then read as the same.
Fault string_fault(std::string_view text) {
  std::string written = "before";
  const bool is_text = append_json_string(written, text).has_value();
  if (is_text != oracle::is_utf8_text(text)) return "UTF-8";
  if (!is_text) return written == "before" ? "" : "a refused string that left letters";
  const Result<JsonDocument> read = read_json(std::string_view(written).substr(6));
  return read && read->root().text() == text ? "" : "a string that is not read back";
}

}  // namespace

Fault json_tree_fault(std::string_view text) {
  if (Fault fault = string_fault(text); !fault.empty()) return fault;
  const std::optional<oracle::JsonNode> tree = oracle::read_tree(text);
  const Result<JsonDocument> document = read_json(text);
  if (!document) {
    if (document.error().what.empty() || document.error().where.empty()) return "a refusal without a place";
    if (tree && !has_overflow(*tree)) return "a sound text that is refused";
    const Result<JsonDocument> twice = read_json(text, {.duplicate_keys = DuplicateKeys::keep});
    return twice && document.error().what.find("twice") == std::string::npos ? "keys kept that were not there twice"
                                                                             : "";
  }
  if (!tree) {
    // The oracle goes less deep.
    const JsonLimits limits{.depth = kOracleDepth};
    return read_json(text, limits) ? "an unsound text that is read" : "";
  }
  if (Fault fault = difference(document->root(), *tree, {}); !fault.empty()) return fault;
  std::string written;
  write(written, document->root());
  const std::optional<oracle::JsonNode> again = oracle::read_tree(written);
  const Result<JsonDocument> read_again = read_json(written);
  if (!again || !read_again || !difference(read_again->root(), *tree, {}).empty()) return "text that was written";
  const std::size_t depth = depth_of(*tree);
  if (depth != 0 && read_json(text, {.depth = depth - 1})) return "too deep, and read";
  return read_json(text, {.bytes = text.size() - 1}) ? "too long, and read" : "";
}

}  // namespace packcheck
