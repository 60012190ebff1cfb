// core/file/header_json.h: the JSON that a safetensors header may hold, read strictly and with exact integers.
//
// Only strings, unsigned integers and the punctuation around them: a header has no other value, so what is
// nested deeper, a fraction or a null is refused where it stands. No recursion, no tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace packcheck {

/// Walks through JSON text. The first failure is kept, with its place; later calls do nothing.
class HeaderJson {
 public:
  /// `base` is the text's first byte in the file.
  HeaderJson(std::string_view text, std::uint64_t base) : text_(text), base_(base) {}

  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] const Error& error() const { return error_; }
  /// The JSON pointer of what is read next, for messages.
  void set_pointer(std::string pointer) { pointer_ = std::move(pointer); }
  void fail(std::string what, std::string right);

  /// Takes the mark, after whitespace; else fails.
  void expect(char mark);
  /// Takes the mark if it is next.
  [[nodiscard]] bool next_is(char mark);
  /// A string, its escapes resolved, as UTF-8.
  [[nodiscard]] std::string string();
  /// An integer from 0 to 2^64 - 1, without sign, fraction, exponent or leading zeros.
  [[nodiscard]] std::uint64_t integer();
  /// Fails where anything but whitespace is left.
  void finish();

 private:
  void skip_space();
  [[nodiscard]] bool escape(std::string& text);
  [[nodiscard]] bool hex4(unsigned& unit);
  std::string_view text_;
  std::uint64_t base_;
  std::size_t at_ = 0;
  bool failed_ = false;
  Error error_;
  std::string pointer_;
};

/// A key as a part of a JSON pointer: ~ and / escaped.
[[nodiscard]] std::string pointer_part(std::string_view key);
/// Appends the text as a JSON string with the escapes that the Rust library writes.
void append_header_string(std::string& out, std::string_view text);

}  // namespace packcheck
