#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/file/tensor_file.h"

namespace packcheck {
namespace {

tl::unexpected<Error> failed(std::string_view what, const std::string& path, std::string right) {
  const std::string reason = std::generic_category().message(errno);
  return refuse(std::string(what) + ": " + reason, path, std::move(right));
}

/// Closes a descriptor at the end of its scope. A mapping outlives it.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe would block here until someone writes to it.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0) return failed("cannot open", path, "a file that can be read");
  struct stat status {};
  if (::fstat(file.number, &status) != 0) return failed("cannot examine", path, "a file that can be read");
  if (!S_ISREG(status.st_mode))
    return refuse(S_ISDIR(status.st_mode) ? "a directory" : "no regular file", path, "a regular file");
  MappedFile mapped;
  if (status.st_size == 0) return mapped;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (at == MAP_FAILED) return failed("cannot map", path, "a file that can be mapped");
  mapped.bytes_ = {static_cast<const std::uint8_t*>(at), size};
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace packcheck
