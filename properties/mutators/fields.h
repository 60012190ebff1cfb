// properties/mutators/fields.h: numbers in binary files as little-endian bytes, for the mutators of binary formats.
#pragma once

#include <cstdint>
#include <span>

#include "properties/mutators/mutators.h"

namespace packcheck {

/// Takes fields off the front. What reaches past the end gives 0 and fails for good.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  /// Passes over `count` bytes.
  bool skip(std::uint64_t count) {
    if (failed_ || count > left()) return failed_ = true, false;
    at_ += static_cast<std::size_t>(count);
    return true;
  }
  std::uint64_t number(std::size_t size) {
    const std::size_t from = at_;
    if (!skip(size)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(bytes_[from + i]) << 8 * i;
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

inline void append_number(Bytes& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}
inline void set_number(Bytes& out, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
}

}  // namespace packcheck
