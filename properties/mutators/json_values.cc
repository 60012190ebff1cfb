#include "properties/mutators/json_values.h"

#include <algorithm>

namespace packcheck {
namespace {

constexpr std::size_t kDeepest = 64;

/// Goes through a text once and notes its values.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<JsonSpan> scan() {
    if (!value(0, 0, 0, 0)) return {};
    return std::move(values_);
  }

 private:
  void space() { at_ = std::min(text_.size(), text_.find_first_not_of(" \t\r\n", at_)); }
  [[nodiscard]] bool is_at(char letter) const { return at_ < text_.size() && text_[at_] == letter; }

  bool string() {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '"')
        return ++at_, true;
    }
    return false;
  }

  bool value(std::size_t parent, std::size_t key_begin, std::size_t key_end, std::size_t depth) {
    space();
    const std::size_t self = values_.size();
    JsonSpan found;
    found.begin = at_;
    found.parent = parent;
    found.key_begin = key_begin;
    found.key_end = key_end;
    values_.push_back(found);
    if (is_at('{') || is_at('[')) {
      values_[self].kind = is_at('{') ? JsonSpan::Kind::object : JsonSpan::Kind::array;
      if (depth == kDeepest || !elements(self, is_at('{') ? '}' : ']', depth)) return false;
    } else if (is_at('"')) {
      values_[self].kind = JsonSpan::Kind::string;
      if (!string()) return false;
    } else {
      const std::size_t end = std::min(text_.size(), text_.find_first_of(",:]}[{\" \t\r\n", at_));
      if (end == at_) return false;
      at_ = end;
    }
    values_[self].end = at_;
    return true;
  }

  bool elements(std::size_t self, char close, std::size_t depth) {
    ++at_;
    space();
    if (is_at(close)) return ++at_, true;
    for (;;) {
      std::size_t key_begin = 0;
      std::size_t key_end = 0;
      if (close == '}') {
        space();
        key_begin = at_;
        if (!is_at('"') || !string()) return false;
        key_end = at_;
        space();
        if (!is_at(':')) return false;
        ++at_;
      }
      if (!value(self, key_begin, key_end, depth + 1)) return false;
      space();
      if (is_at(close)) return ++at_, true;
      if (!is_at(',')) return false;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<JsonSpan> values_;
};

}  // namespace

std::vector<JsonSpan> json_values(std::string_view text) { return Scanner(text).scan(); }

}  // namespace packcheck
