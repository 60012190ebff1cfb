// core/text/json_document: a JSON text as a tree, read without forgiving or changing anything.
//
// Numbers stay the tokens that were written ("-0", "1.0E25", 40 digits): what they mean is
// core/text/number_text.h's business. The grammar is nlohmann_json's, through its SAX interface; what
// that lets pass is refused here: duplicate keys, a NUL, a byte order mark, too deep, too large. The
// answer does not depend on locale, rounding mode or FTZ/DAZ. To change a limit, pass JsonLimits; nlohmann_json
// stays in the .cc file. Proved by tests/core/json_document_test.cc, over JSONTestSuite where it is present.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace packcheck {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };
/// "a number", "an object" …
[[nodiscard]] std::string_view json_kind_name(JsonKind kind);

enum class DuplicateKeys : std::uint8_t {
  refuse,
  keep  ///< all of them are members, as RFC 8259 allows; member() gives the first
};

struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 28;  ///< of text; at most 2^31
  std::size_t depth = 100;                   ///< of nested arrays and objects
  DuplicateKeys duplicate_keys = DuplicateKeys::refuse;
};

struct JsonTree;  // the values in the order of the text, each with the index after its last descendant

/// One value of a document: a handle of two words, good while the document lives (moved or not).
class JsonValue {
 public:
  [[nodiscard]] JsonKind kind() const;
  [[nodiscard]] bool is(JsonKind kind_asked) const { return kind() == kind_asked; }

  /// The member's name, unescaped; empty for what is no member of an object.
  [[nodiscard]] std::string_view key() const;
  /// The token of a number as it was written, or the unescaped UTF-8 of a string; else empty.
  [[nodiscard]] std::string_view text() const;
  /// Whether this is `true`.
  [[nodiscard]] bool truth() const;
  /// How many elements or members; 0 for what has none.
  [[nodiscard]] std::size_t size() const;
  /// The member called `key`, or nothing. Takes time linear in the members.
  [[nodiscard]] std::optional<JsonValue> member(std::string_view key) const;

  /// Where it is, as a JSON pointer (RFC 6901): "/nodes/3/scalar"; "" for the whole document.
  /// For messages: takes time linear in the siblings before it.
  [[nodiscard]] std::string pointer() const;

  /// Elements or members, in the order of the text: for (const JsonValue element : array) …
  class Iterator {
   public:
    Iterator(const JsonTree* tree, std::uint32_t index) : tree_(tree), index_(index) {}
    JsonValue operator*() const { return {tree_, index_}; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const JsonTree* tree_;
    std::uint32_t index_;
  };
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

 private:
  friend class JsonDocument;
  JsonValue(const JsonTree* tree, std::uint32_t index) : tree_(tree), index_(index) {}
  const JsonTree* tree_;
  std::uint32_t index_;
};

/// A whole document; owns its text.
class JsonDocument {
 public:
  explicit JsonDocument(std::unique_ptr<const JsonTree> tree);
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();
  [[nodiscard]] JsonValue root() const { return {tree_.get(), 0}; }

 private:
  std::unique_ptr<const JsonTree> tree_;
};

/// Reads one JSON text (RFC 8259) in UTF-8. Refuses syntax errors, text after the value, a NUL or a byte
/// order mark anywhere outside the grammar, duplicate keys of one object (unless kept), numbers of 2^1024 and more, and
/// what passes the limits. The error's `where` is the JSON pointer of the value that was being read.
[[nodiscard]] Result<JsonDocument> read_json(std::string_view text, const JsonLimits& limits = {});

/// The integer in a number token, exactly. Refuses fractions and exponents ("3.0", "1e2"), -0, and what an i64
/// does not hold; `where` goes into the error.
[[nodiscard]] Result<std::int64_t> parse_json_integer(std::string_view token, std::string_view where = {});

/// Appends `text` as a JSON string, quoted and escaped. Refuses text that is no UTF-8 and then appends nothing.
[[nodiscard]] Result<void> append_json_string(std::string& out, std::string_view text);

}  // namespace packcheck
