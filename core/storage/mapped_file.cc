#include "core/storage/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace packcheck {
namespace {

/// An open file; closed at the end of its scope, which a mapping outlives.
class File {
 public:
  explicit File(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

tl::unexpected<Error> system_error(const char* what, const std::string& path) {
  return refuse(std::string(what) + ": " + std::strerror(errno), path, "a regular file that can be read");
}

}  // namespace

Result<ByteView> MappedFileResolver::read(const FileBacked& file, std::uint64_t offset, std::uint64_t size) {
  const File opened(file.path);
  if (opened.descriptor() < 0) return system_error("cannot open", file.path);
  struct stat status {};
  if (::fstat(opened.descriptor(), &status) != 0) return system_error("cannot look at", file.path);
  if (!S_ISREG(status.st_mode)) return refuse("no regular file", file.path, "a regular file");
  const auto end = static_cast<std::uint64_t>(status.st_size);
  if (file.offset > end || offset > end - file.offset || size > end - file.offset - offset)
    return refuse("bytes past the end of the file", file.path,
                  "a region within the file's " + std::to_string(end) + " bytes");
  if (size == 0) return ByteView{};
  const std::uint64_t start = file.offset + offset;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t lead = start % page;
  void* const mapped =
      ::mmap(nullptr, lead + size, PROT_READ, MAP_PRIVATE, opened.descriptor(), static_cast<off_t>(start - lead));
  if (mapped == MAP_FAILED) return system_error("cannot map", file.path);
  const std::uint64_t length = lead + size;
  std::shared_ptr<const void> keeper(mapped, [length](void* pages) { ::munmap(pages, length); });
  return ByteView{{static_cast<const std::uint8_t*>(mapped) + lead, size}, std::move(keeper)};
}

}  // namespace packcheck
