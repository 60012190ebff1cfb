#include "properties/oracles/json_tree.h"

#include <algorithm>
#include <set>

#include "properties/oracles/text_oracle.h"

namespace packcheck::oracle {
namespace {

constexpr int kDeepest = 64;

/// The number of bytes of the UTF-8 character at the front; 0 where there is none. By the table of
/// well-formed byte sequences in the Unicode standard.
std::size_t character(std::string_view text) {
  struct Row {
    unsigned char first, last, second_first, second_last, length;
  };
  constexpr Row kRows[] = {{0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                           {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                           {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (const Row& row : kRows) {
    if (at(0) < row.first || at(0) > row.last) continue;
    if (text.size() < row.length) return 0;
    if (row.length > 1 && (at(1) < row.second_first || at(1) > row.second_last)) return 0;
    for (std::size_t i = 2; i < row.length; ++i)
      if (at(i) < 0x80 || at(i) > 0xBF) return 0;
    return row.length;
  }
  return 0;
}

void put_character(std::string& out, unsigned code) {
  const auto put = [&](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 + code / 64);
    put(0x80 + code % 64);
  } else if (code < 0x10000) {
    put(0xE0 + code / 4096);
    put(0x80 + code / 64 % 64);
    put(0x80 + code % 64);
  } else {
    put(0xF0 + code / 262144);
    put(0x80 + code / 4096 % 64);
    put(0x80 + code / 64 % 64);
    put(0x80 + code % 64);
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  bool document(JsonNode& out) {
    if (!value(out, 0)) return false;
    space();
    return rest_.empty();
  }

 private:
  void space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size())); }
  bool next(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    if (rest_.substr(0, expected.size()) != expected) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  bool value(JsonNode& out, int depth) {
    space();
    if (rest_.empty() || depth > kDeepest) return false;
    switch (rest_[0]) {
      case '{': out.kind = JsonNode::object; return object(out, depth);
      case '[': out.kind = JsonNode::array; return array(out, depth);
      case '"': out.kind = JsonNode::string; return string(out.text);
      case 'n': out.kind = JsonNode::null; return word("null");
      case 't': out.kind = JsonNode::boolean; return word("true");
      case 'f': out.kind = JsonNode::boolean; return word("false");
      default: out.kind = JsonNode::number; return number(out.text);
    }
  }

  bool number(std::string& out) {
    const std::size_t size = std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return is_json_number(out);
  }

  bool array(JsonNode& out, int depth) {
    next('[');
    space();
    if (next(']')) return true;
    do {
      if (!value(out.elements.emplace_back(), depth + 1)) return false;
      space();
    } while (next(','));
    return next(']');
  }

  bool object(JsonNode& out, int depth) {
    next('{');
    space();
    if (next('}')) return true;
    do {
      space();
      JsonNode& element = out.elements.emplace_back();
      if (rest_.empty() || rest_[0] != '"' || !string(element.key)) return false;
      space();
      if (!next(':') || !value(element, depth + 1)) return false;
      space();
    } while (next(','));
    return next('}') && keys_differ(out.elements);
  }
  static bool keys_differ(const std::vector<JsonNode>& members) {
    constexpr std::size_t kFew = 16;  // of more, a set knows sooner
    std::set<std::string_view> keys;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members.size() > kFew && !keys.insert(members[i].key).second) return false;
      for (std::size_t k = 0; k < i && members.size() <= kFew; ++k)
        if (members[k].key == members[i].key) return false;
    }
    return true;
  }

  bool four_digits(unsigned& out) {
    if (rest_.size() < 4 || rest_.substr(0, 4).find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
      return false;
    out = static_cast<unsigned>(std::stoul(std::string(rest_.substr(0, 4)), nullptr, 16));
    rest_.remove_prefix(4);
    return true;
  }

  bool escape(std::string& out) {
    if (rest_.empty()) return false;
    const char letter = rest_[0];
    rest_.remove_prefix(1);
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t at = kLetters.find(letter); at != std::string_view::npos) {
      out.push_back(kMeanings[at]);
      return true;
    }
    unsigned code = 0;
    if (letter != 'u' || !four_digits(code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      unsigned low = 0;
      if (!word("\\u") || !four_digits(low) || low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + (code - 0xD800) * 1024 + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      return false;
    }
    put_character(out, code);
    return true;
  }

  bool string(std::string& out) {
    next('"');
    while (!rest_.empty()) {
      out.append(take_plain());
      if (rest_.empty()) return false;
      if (next('"')) return true;
      if (next('\\')) {
        if (!escape(out)) return false;
        continue;
      }
      const std::size_t size = character(rest_);
      if (size == 0 || static_cast<unsigned char>(rest_[0]) < 0x20) return false;
      out.append(rest_.substr(0, size));
      rest_.remove_prefix(size);
    }
    return false;
  }

  /// What stands for itself at the front: ASCII but quotes, backslashes and control characters.
  std::string_view take_plain() {
    std::size_t size = 0;
    while (size < rest_.size() && rest_[size] >= ' ' && rest_[size] < 0x7F && rest_[size] != '"' && rest_[size] != '\\')
      ++size;
    const std::string_view plain = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return plain;
  }

  std::string_view rest_;
};

}  // namespace

const JsonNode* JsonNode::member(std::string_view name) const {
  if (kind != object) return nullptr;
  for (const JsonNode& element : elements)
    if (element.key == name) return &element;
  return nullptr;
}

std::optional<JsonNode> read_tree(std::string_view text) {
  JsonNode root;
  if (!Parser(text).document(root)) return std::nullopt;
  return root;
}

bool is_utf8_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace packcheck::oracle
