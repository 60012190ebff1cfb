#include "subjects/process/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace packcheck {
namespace {

constexpr std::size_t kPage = 4096;  // a multiple of it is also right where pages are larger
constexpr std::size_t kInaccessible = std::size_t{1} << 20;
constexpr std::size_t kGuard = 4096;
constexpr std::size_t kPeriod = 4096;

std::size_t page_size() {
  static const std::size_t size = std::max(kPage, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  return size;
}

/// Bytes that depend on their position, so that moved and repeated data are noticed too.
constexpr std::array<std::uint8_t, kPeriod> kPattern = [] {
  std::array<std::uint8_t, kPeriod> bytes{};
  std::uint32_t state = 0x9E3779B9;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;  // Numerical Recipes' generator; its top bits are the good ones
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return bytes;
}();

void write_pattern(std::uint8_t* to, std::size_t size) {
  for (std::size_t at = 0; at < size; at += kPeriod)
    std::memcpy(to + at, kPattern.data(), std::min(kPeriod, size - at));
}

/// Mycroft's test: only a zero byte borrows into its own top bit where that was clear.
bool has_zero_byte(std::uint64_t bytes) { return ((bytes - 0x0101010101010101) & ~bytes & 0x8080808080808080) != 0; }

bool holds_pattern(const std::uint8_t* from, std::size_t size) {
  for (std::size_t at = 0; at < size; at += kPeriod)
    if (std::memcmp(from + at, kPattern.data(), std::min(kPeriod, size - at)) != 0) return false;
  return true;
}

}  // namespace

void GuardedPages::unmap() {
  if (begin_ != nullptr) munmap(begin_ - kInaccessible, size_ + 2 * kInaccessible);
  begin_ = nullptr;
}

void GuardedPages::reserve(std::size_t size) {
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + page_size() - 1) / page_size() * page_size();
  if (rounded == size_ && begin_ != nullptr) {
    if (!writable_ && mprotect(begin_, size_, PROT_READ | PROT_WRITE) != 0) std::abort();
    writable_ = true;
    return;
  }
  unmap();
  void* const all = mmap(nullptr, rounded + 2 * kInaccessible, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) std::abort();
  begin_ = static_cast<std::uint8_t*>(all) + kInaccessible;
  size_ = rounded;
  if (mprotect(begin_, size_, PROT_READ | PROT_WRITE) != 0) std::abort();
  writable_ = true;
}

void GuardedPages::make_read_only() {
  if (writable_ && mprotect(begin_, size_, PROT_READ) != 0) std::abort();
  writable_ = false;
}

const std::uint8_t* InputBuffer::put(std::string_view bytes) {
  std::uint8_t* const end = pages_.begin() + pages_.size();
  if (pages_.begin() != nullptr && bytes.size() == used_ &&
      (used_ == 0 || std::memcmp(end - used_, bytes.data(), used_) == 0))
    return end - used_;
  pages_.reserve(bytes.size());
  std::uint8_t* const begin = pages_.begin() + pages_.size() - bytes.size();
  if (!bytes.empty()) std::memcpy(begin, bytes.data(), bytes.size());
  used_ = bytes.size();
  pages_.make_read_only();
  return begin;
}

const char* InputBuffer::put_text(const std::string& text) {
  return reinterpret_cast<const char*>(put({text.c_str(), text.size() + 1}));
}

std::size_t OutputBuffer::find_kept(std::string_view contents, std::size_t from, Fill fill) {
  const std::uint8_t flip = fill == Fill::inverse ? 0xFF : 0;
  const std::uint64_t flips = fill == Fill::inverse ? ~std::uint64_t{0} : 0;
  std::size_t i = from;
  while (i < contents.size()) {
    // By eight bytes at a time: an equal byte is a zero byte of the difference.
    if (i + sizeof flips <= contents.size() && i % kPeriod + sizeof flips <= kPeriod) {
      std::uint64_t is = 0;
      std::uint64_t was = 0;
      std::memcpy(&is, contents.data() + i, sizeof is);
      std::memcpy(&was, &kPattern[i % kPeriod], sizeof was);
      if (!has_zero_byte(is ^ was ^ flips)) {
        i += sizeof flips;
        continue;
      }
    }
    if (static_cast<std::uint8_t>(contents[i]) == (kPattern[i % kPeriod] ^ flip)) break;
    ++i;
  }
  return i;
}

std::uint8_t* OutputBuffer::prepare(std::size_t size, Fill fill) {
  pages_.reserve(kGuard + size + kGuard);
  size_ = size;
  std::uint8_t* const output = pages_.begin() + kGuard;
  write_pattern(pages_.begin(), kGuard);
  write_pattern(output + size, pages_.size() - kGuard - size);
  if (fill == Fill::zero) {
    std::memset(output, 0, size);
  } else {
    write_pattern(output, size);
  }
  if (fill == Fill::inverse)
    for (std::size_t i = 0; i < size; ++i) output[i] = static_cast<std::uint8_t>(~output[i]);
  return output;
}

std::optional<std::string> OutputBuffer::find_overrun() const {
  const std::uint8_t* const before = pages_.begin();
  const std::uint8_t* const after = before + kGuard + size_;
  const std::size_t after_size = pages_.size() - kGuard - size_;
  if (!holds_pattern(after, after_size)) {
    std::size_t at = 0;
    while (after[at] == kPattern[at % kPeriod]) ++at;
    return "byte " + std::to_string(at + 1) + " after its " + std::to_string(size_) + " bytes";
  }
  if (!holds_pattern(before, kGuard)) {
    std::size_t at = kGuard;
    while (before[at - 1] == kPattern[at - 1]) --at;
    return "byte " + std::to_string(kGuard - at + 1) + " before its " + std::to_string(size_) + " bytes";
  }
  return std::nullopt;
}

std::string OutputBuffer::contents() const { return {reinterpret_cast<const char*>(pages_.begin() + kGuard), size_}; }

}  // namespace packcheck
