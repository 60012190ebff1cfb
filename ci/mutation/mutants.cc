// Which mutant runs, read once, before any table of the core is made.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace packcheck_mutants {

extern unsigned chosen;
extern unsigned char* seen;

namespace {

unsigned number_of_environment() {
  const char* const text = std::getenv("PACKCHECK_MUTANT");
  return text == nullptr ? 0 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// The file's bytes, shared with every process that was forked; null where none is named.
unsigned char* memory_of_environment() {
  const char* const path = std::getenv("PACKCHECK_MUTANTS_SEEN");
  const int fd = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  const off_t size = ::lseek(fd, 0, SEEK_END);
  void* const memory = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

}  // namespace

unsigned chosen = 0;
unsigned char* seen = nullptr;

namespace {

struct Start {
  Start() {
    seen = memory_of_environment();
    chosen = number_of_environment();
  }
};
[[gnu::init_priority(101)]] Start start;

}  // namespace
}  // namespace packcheck_mutants
