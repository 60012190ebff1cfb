// Files that are mapped: of memory, which has a path under /proc, so that nothing is left on a disk.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "core/file/tensor_file.h"
#include "core/storage/mapped_file.h"
#include "properties/checks/checks.h"

namespace packcheck {
namespace {

class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : descriptor_(memfd_create("packcheck", MFD_CLOEXEC)) {
    sound_ = descriptor_ >= 0 && write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  }
  ~MemoryFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] bool sound() const { return sound_; }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
  bool sound_ = false;
};

bool equal(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

}  // namespace

Fault mapped_file_fault(Source& source) {
  std::vector<std::uint8_t> bytes(source.once_in(8) ? 4096 * source.below(3) : source.below(300));
  const std::uint64_t step = source.bits(8);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * step + i / 251);
  const MemoryFile file(bytes);
  if (!file.sound()) return {};  // a system without such files
  static constexpr std::string_view kNoFiles[] = {"/proc/self/fd", "/proc/self/no such file"};
  const bool is_file = !source.once_in(8);
  const std::string path = is_file ? file.path() : std::string(source.pick(kNoFiles));
  Result<MappedFile> mapped = MappedFile::open(path);
  if (mapped.has_value() != is_file) return "what can be mapped";
  if (!mapped) {
    if (mapped.error().where != path) return "a refusal without its path";
  } else {
    MappedFile moved;
    moved = std::move(*mapped);
    const MappedFile kept(std::move(moved));
    if (!equal(kept.bytes(), bytes)) return "a whole file";
  }
  // A region of a region: past the end now and then.
  const FileBacked region{path, source.below(bytes.size() + 2),
                          source.once_in(8) ? ~std::uint64_t{0} : source.below(400)};
  const std::uint64_t offset = source.below(300);
  const std::uint64_t size = 1 + source.below(300);
  MappedFileResolver mapping;
  CountingResolver resolver(mapping);
  const BufferHandle handle = region;
  const Result<ByteView> read = read_bytes(handle, offset, size, &resolver);
  const std::uint64_t begin = region.offset + offset;
  const bool inside = offset <= region.size && size <= region.size - offset && begin + size <= bytes.size();
  if (!is_file || !inside) return read ? "a region that is not there" : "";
  const bool representable = region.size <= ~std::uint64_t{0} - region.offset;
  if (!read) return representable ? "a region that is there" : "";
  if (resolver.reads() != 1 || resolver.bytes() != size) return "how often it is read";
  return equal(read->bytes, std::span(bytes).subspan(begin, size)) ? "" : "bytes of a region";
}

}  // namespace packcheck
