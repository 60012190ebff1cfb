// core/file/byte_cursor.h: reading little-endian numbers and strings out of bytes that may end anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace packcheck {

/// The first failure is kept; every later read gives zeros and empty strings. A loop over reads asks ok().
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return !error_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] Error error() const { return error_.value_or(Error{}); }
  /// Who owns what is read next, for messages: "metadata 'general.name'".
  void set_owner(std::string owner) { owner_ = std::move(owner); }

  /// A failure at byte `at`.
  void fail(std::size_t at, std::string what, std::string right) {
    if (error_) return;
    std::string where = "byte " + std::to_string(at);
    if (!owner_.empty()) where.append(", ").append(owner_);
    error_ = Error{std::move(what), std::move(where), std::move(right)};
  }

  /// The next `size` bytes; none and a failure where fewer are left.
  [[nodiscard]] std::string_view take(std::uint64_t size, std::string_view what) {
    if (!ok()) return {};
    if (size > left()) {
      std::string text(what);
      text.append(" of ").append(std::to_string(size)).append(" bytes, and ");
      text.append(std::to_string(left())).append(" are left");
      fail(at_, std::move(text), "a file that is not cut short");
      return {};
    }
    const auto* const first = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += static_cast<std::size_t>(size);
    return {first, static_cast<std::size_t>(size)};
  }

  /// The next number of `size` bytes, at most 8.
  [[nodiscard]] std::uint64_t number(std::size_t size, std::string_view what) {
    const std::string_view bytes = take(size, what);
    std::uint64_t bits = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
    return bits;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::string owner_;
  std::optional<Error> error_;
};

}  // namespace packcheck
