#include "subjects/process/mailbox.h"

#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "subjects/process/frames.h"

namespace packcheck {
namespace {

constexpr std::string_view kWord = "mailbox";

}  // namespace

Mailbox::Mailbox() {
  void* const memory =
      ::mmap(nullptr, 2 * kMost, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) memory_ = static_cast<char*>(memory);
}

Mailbox::~Mailbox() {
  if (memory_ != nullptr) ::munmap(memory_, 2 * kMost);
}

std::string Mailbox::note(std::size_t size) {
  const std::array<char, kLengthBytes> length = encode_length(size);
  return encode_parts(std::array{std::string(kWord), std::string(length.data(), length.size())});
}

std::optional<std::size_t> Mailbox::noted(std::string_view payload) const {
  const std::string like = note(0);
  if (payload.size() != like.size() ||
      payload.substr(0, like.size() - kLengthBytes) != std::string_view(like).substr(0, like.size() - kLengthBytes))
    return std::nullopt;
  const std::size_t size = decode_length(payload.substr(like.size() - kLengthBytes));
  if (!takes(size)) return std::nullopt;
  return size;
}

}  // namespace packcheck
