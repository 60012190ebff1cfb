// properties/oracles/json_tree.h: a JSON text as a tree, by recursive descent, for oracles.
//
// Strict: RFC 8259 in UTF-8, nothing after the value, no key twice in an object, no unpaired
// surrogate, at most 64 levels. Numbers stay as written. Shares no code with the core or nlohmann_json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace packcheck::oracle {

struct JsonNode {
  enum Kind { null, boolean, number, string, array, object };
  Kind kind = null;
  std::string text;  ///< of a number as written, of a string unescaped
  std::string key;   ///< of a member of an object, unescaped
  std::vector<JsonNode> elements;

  /// The member of an object, or null.
  [[nodiscard]] const JsonNode* member(std::string_view name) const;
};

[[nodiscard]] std::optional<JsonNode> read_tree(std::string_view text);
[[nodiscard]] bool is_utf8_text(std::string_view text);

}  // namespace packcheck::oracle
