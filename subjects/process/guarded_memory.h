// subjects/process/guarded_memory.h: the buffers a library in the worker is given.
//
// Inputs are read-only and end where an inaccessible page begins: writing to one, or reading past it,
// is a crash. Outputs lie between two zones filled with a pattern, which a small overrun changes, with
// inaccessible memory beyond, where a large overrun crashes. Mappings are kept from call to call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace packcheck {

/// Whole pages between two inaccessible zones. Ends the process when there is no memory: the worker
/// is allowed to.
class GuardedPages {
 public:
  GuardedPages() = default;
  ~GuardedPages() { unmap(); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  /// Makes `size` bytes, rounded up to pages, readable and writable. Keeps contents only when the
  /// number of pages stays the same.
  void reserve(std::size_t size);
  void make_read_only();
  [[nodiscard]] std::uint8_t* begin() const { return begin_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void unmap();
  std::uint8_t* begin_ = nullptr;
  std::size_t size_ = 0;
  bool writable_ = false;
};

/// A read-only copy of an argument.
class InputBuffer {
 public:
  /// `bytes` end exactly where readable memory does; aligned to their element size when their
  /// length is a multiple of it. Free when the buffer already holds them.
  const std::uint8_t* put(std::string_view bytes);
  /// The same for a NUL-terminated string.
  const char* put_text(const std::string& text);

 private:
  GuardedPages pages_;
  std::size_t used_ = 0;
};

/// An output of a call, before and after.
class OutputBuffer {
 public:
  enum class Fill : std::uint8_t { pattern, inverse, zero };
  /// `size` bytes, 64-byte aligned, holding `fill`, between fresh guard zones.
  std::uint8_t* prepare(std::size_t size, Fill fill);
  /// Where memory outside the output was changed, if it was: "byte 3 after its 34 bytes".
  [[nodiscard]] std::optional<std::string> find_overrun() const;
  [[nodiscard]] std::string contents() const;
  /// The first index, at or after `from`, where `contents` equals `fill` (pattern or inverse): it may
  /// never have been written. The size when there is none.
  [[nodiscard]] static std::size_t find_kept(std::string_view contents, std::size_t from, Fill fill);

 private:
  GuardedPages pages_;
  std::size_t size_ = 0;
};

}  // namespace packcheck
