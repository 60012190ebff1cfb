#include "core/file/header_json.h"

#include "core/file/checks.h"

namespace packcheck {
namespace {

void append_utf8(std::string& text, unsigned code) {
  const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
    return put(0x80 | (code & 0x3F));
  }
  if (code < 0x10000) {
    put(0xE0 | code >> 12);
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
  }
  put(0x80 | (code >> 6 & 0x3F));
  put(0x80 | (code & 0x3F));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::string_view kEscapes = "\"\\/bfnrt";
constexpr std::string_view kEscaped = "\"\\/\b\f\n\r\t";

}  // namespace

void HeaderJson::fail(std::string what, std::string right) {
  if (failed_) return;
  failed_ = true;
  std::string where = "header byte " + std::to_string(base_ + at_);
  if (!pointer_.empty()) where.append(", ").append(pointer_);
  error_ = Error{std::move(what), std::move(where), std::move(right)};
}

void HeaderJson::skip_space() {
  constexpr std::string_view kSpace = " \t\n\r";
  while (at_ < text_.size() && kSpace.find(text_[at_]) != std::string_view::npos) ++at_;
}

bool HeaderJson::next_is(char mark) {
  skip_space();
  if (failed_ || at_ == text_.size() || text_[at_] != mark) return false;
  ++at_;
  return true;
}

void HeaderJson::expect(char mark) {
  if (next_is(mark)) return;
  fail(at_ == text_.size() ? "the header ends" : quoted(text_.substr(at_, 1)), quoted(std::string_view(&mark, 1)));
}

void HeaderJson::finish() {
  skip_space();
  if (at_ < text_.size()) fail(quoted(text_.substr(at_, 1)) + " after the header's object", "spaces only");
}

std::string HeaderJson::string() {
  skip_space();
  std::string text;
  if (failed_) return text;
  if (at_ == text_.size() || text_[at_] != '"') {
    fail(at_ == text_.size() ? "the header ends" : quoted(text_.substr(at_, 1)), "a string");
    return text;
  }
  ++at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      if (!is_utf8(text)) fail("a string that is no UTF-8", "UTF-8");
      return text;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      fail("a control character in a string", "an escape such as \\n");
      return text;
    }
    ++at_;
    if (c != '\\')
      text += c;
    else if (!escape(text))
      return text;
  }
  fail("a string without an end", "'\"'");
  return text;
}

bool HeaderJson::escape(std::string& text) {
  const char kind = at_ < text_.size() ? text_[at_] : '\0';
  ++at_;
  if (const std::size_t known = kEscapes.find(kind); known != std::string_view::npos) {
    text += kEscaped[known];
    return true;
  }
  unsigned unit = 0;
  if (kind == 'u' && hex4(unit)) {
    const bool high = unit >= 0xD800 && unit < 0xDC00;
    unsigned low = 0;
    if (high && text_.substr(at_, 2) == "\\u") {
      at_ += 2;
      if (hex4(low) && low >= 0xDC00 && low < 0xE000) {
        append_utf8(text, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
        return true;
      }
    } else if (!high && !(unit >= 0xDC00 && unit < 0xE000)) {
      append_utf8(text, unit);
      return true;
    }
  }
  at_ = std::min(at_, text_.size());
  fail("an escape that is none",
       "\\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and a character, pairs of surrogates together");
  return false;
}

bool HeaderJson::hex4(unsigned& unit) {
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
    if (digit < 0) return false;
    unit = unit << 4 | static_cast<unsigned>(digit);
  }
  return true;
}

std::uint64_t HeaderJson::integer() {
  skip_space();
  if (failed_) return 0;
  const std::size_t first = at_;
  std::uint64_t value = 0;
  bool fits = true;
  for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
    if (__builtin_mul_overflow(value, 10U, &value) ||
        __builtin_add_overflow(value, static_cast<unsigned>(text_[at_] - '0'), &value))
      fits = false;
  const std::size_t digits = at_ - first;
  const bool goes_on = at_ < text_.size() && std::string_view(".eE").find(text_[at_]) != std::string_view::npos;
  if (digits == 0 || goes_on || (digits > 1 && text_[first] == '0')) {
    at_ = first;
    fail(at_ == text_.size() ? "the header ends" : quoted(text_.substr(at_, 12)), "an integer such as 12");
  } else if (!fits) {
    at_ = first;
    fail("an integer that does not fit 64 bits", "at most 18446744073709551615");
  }
  return failed_ ? 0 : value;
}

std::string pointer_part(std::string_view key) {
  std::string part = "/";
  for (const char c : key) {
    if (c == '~')
      part += "~0";
    else if (c == '/')
      part += "~1";
    else
      part += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  if (part.size() > 80) part.resize(80);
  return part;
}

void append_header_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t known = c == '/' ? std::string_view::npos : kEscaped.find(c);
    if (known != std::string_view::npos) {
      out += '\\';
      out += kEscapes[known];
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace packcheck
