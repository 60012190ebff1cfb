#include "fuzz/counters.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

// Of libFuzzer, by the linker's names for a function that is wrapped.
extern "C" void __real___sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end);
extern "C" void __real___sanitizer_cov_pcs_init(const std::uintptr_t* begin, const std::uintptr_t* end);

namespace packcheck {
namespace {

/// The counters of one program or library, and their rows in its table of places: two words a counter.
struct Counters {
  std::uint8_t* begin = nullptr;
  std::uint8_t* end = nullptr;
  const std::uintptr_t* places = nullptr;
  // Whole pages; the parts before and after share theirs with other data.
  std::uint8_t* first_page = nullptr;
  std::uint8_t* past_pages = nullptr;
};

constexpr std::size_t kMostModules = 8;
constexpr std::size_t kMostPages = 1024;
// Plain data, ready before any constructor runs.
std::array<Counters, kMostModules> modules;
std::size_t module_count = 0;
std::array<std::uint8_t*, kMostPages> written;  // pages that libFuzzer does not have yet
std::size_t written_count = 0;
struct sigaction handler_before;

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void show(const Counters& of, std::uint8_t* begin, std::uint8_t* end) {
  if (begin == end) return;
  __real___sanitizer_cov_8bit_counters_init(begin, end);
  __real___sanitizer_cov_pcs_init(of.places + 2 * (begin - of.begin), of.places + 2 * (end - of.begin));
}

const Counters* module_of(const std::uint8_t* page) {
  for (std::size_t i = 0; i < module_count; ++i)
    if (page >= modules[i].first_page && page < modules[i].past_pages) return &modules[i];
  return nullptr;
}

std::uint8_t* page_of(std::uint8_t* address) {
  return address - reinterpret_cast<std::uintptr_t>(address) % page_size();
}

/// Makes a page writable, or leaves the signal to whoever had it before.
void on_write(int signal, siginfo_t* info, void* context) {
  std::uint8_t* const page = page_of(static_cast<std::uint8_t*>(info->si_addr));
  if (module_of(page) != nullptr && written_count < kMostPages &&
      mprotect(page, page_size(), PROT_READ | PROT_WRITE) == 0) {
    written[written_count++] = page;
    return;
  }
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, info, context);
  sigaction(SIGSEGV, &handler_before, nullptr);  // by default: it happens again, and ends the process
}

void hide(const Counters& counters) {
  const auto size = static_cast<std::size_t>(counters.past_pages - counters.first_page);
  if (size == 0) return;
  std::fill_n(counters.first_page, size, std::uint8_t{0});
  if (mprotect(counters.first_page, size, PROT_READ) != 0) show(counters, counters.first_page, counters.past_pages);
}

}  // namespace

void hide_idle_counters() {
  // After libFuzzer set its handler, which it would not over another.
  struct sigaction handler = {};
  handler.sa_sigaction = on_write;
  handler.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &handler, &handler_before);
  std::for_each_n(modules.begin(), module_count, hide);
}

void show_used_counters() {
  for (; written_count != 0; --written_count) {
    std::uint8_t* const page = written[written_count - 1];
    show(*module_of(page), page, page + page_size());
  }
}

}  // namespace packcheck

// Called by every object file's constructor with the bounds of the whole program or library.
extern "C" void __wrap___sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end) {
  using namespace packcheck;
  if (begin == end || (module_count != 0 && modules[module_count - 1].begin == begin)) return;
  if (module_count == kMostModules) return __real___sanitizer_cov_8bit_counters_init(begin, end);
  std::uint8_t* const first = page_of(begin + page_size() - 1);
  std::uint8_t* const past = page_of(end);
  modules[module_count++] =
      first < past ? Counters{begin, end, nullptr, first, past} : Counters{begin, end, nullptr, end, end};
}

extern "C" void __wrap___sanitizer_cov_pcs_init(const std::uintptr_t* begin, const std::uintptr_t* end) {
  using namespace packcheck;
  if (begin == end || module_count == 0 || modules[module_count - 1].places == begin) return;
  Counters& counters = modules[module_count - 1];
  if (counters.places != nullptr) return __real___sanitizer_cov_pcs_init(begin, end);
  counters.places = begin;
  show(counters, counters.begin, counters.first_page);
  show(counters, counters.past_pages, counters.end);
}
