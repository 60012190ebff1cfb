// subjects/process/mailbox.h: memory that packcheck and the worker of a shared library have in common.
//
// Large payloads lie here instead of going through the pipes, which would copy them through the kernel four times;
// the pipe then carries only the word "mailbox" and a size. Made anew before each fork, so that no two workers
// share one. What a worker says of it is checked like everything it says. Programs know nothing of it.
// Proved by tests/process/native_subject_test.cc, which sends arrays on both sides of each limit.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace packcheck {

class Mailbox {
 public:
  /// Payloads shorter than this go through the pipe, and so do those longer than the box.
  static constexpr std::size_t kLeast = std::size_t{32} << 10;
  static constexpr std::size_t kMost = std::size_t{8} << 20;

  Mailbox();
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Whether a payload of that size goes through here.
  [[nodiscard]] bool takes(std::size_t size) const { return memory_ != nullptr && size >= kLeast && size <= kMost; }
  /// Where the parent writes requests, and the worker replies; kMost bytes each. Only where takes().
  [[nodiscard]] char* request() const { return memory_; }
  [[nodiscard]] char* reply() const { return memory_ + kMost; }

  /// What goes through the pipe for a payload of `size` bytes in the box.
  [[nodiscard]] static std::string note(std::size_t size);
  /// The size that a note tells; nothing if `payload` is no note, or one of a size that no box takes.
  [[nodiscard]] std::optional<std::size_t> noted(std::string_view payload) const;

 private:
  char* memory_ = nullptr;  ///< null where there is no memory to share: then nothing goes through here
};

}  // namespace packcheck
