#include "core/storage/buffer.h"

#include <array>
#include <utility>

#include "core/storage/device_memory.h"

namespace packcheck {
namespace {

std::string range_text(std::uint64_t offset, std::uint64_t size) {
  std::string text = std::to_string(size);
  text.append(" bytes from ").append(std::to_string(offset)).append(" on");
  return text;
}

bool lies_in(std::uint64_t offset, std::uint64_t size, std::uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

Result<void> check_range(const BufferHandle& handle, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t whole = region_size(handle);
  if (lies_in(offset, size, whole)) return {};
  std::string where(ownership_name(ownership_of(handle)));
  where += " buffer";
  return refuse("a range of " + range_text(offset, size), std::move(where),
                "one within the buffer's " + std::to_string(whole) + " bytes");
}

}  // namespace

Ownership ownership_of(const BufferHandle& handle) { return static_cast<Ownership>(handle.index()); }

std::string_view ownership_name(Ownership ownership) {
  static constexpr std::array<std::string_view, 5> kNames{"owned", "borrowed", "aliased", "file-backed",
                                                          "device-resident"};
  return kNames[static_cast<std::size_t>(ownership)];
}

Owned owned(std::vector<std::uint8_t> bytes) {
  return {std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes))};
}

Result<BufferHandle> aliased(BufferHandle parent, std::uint64_t offset, std::uint64_t size) {
  if (auto ok = check_range(parent, offset, size); !ok) return tl::unexpected(ok.error());
  return Aliased{std::make_shared<const BufferHandle>(std::move(parent)), offset, size};
}

std::uint64_t region_size(const BufferHandle& handle) {
  if (const auto* o = std::get_if<Owned>(&handle)) return o->bytes == nullptr ? 0 : o->bytes->size();
  if (const auto* b = std::get_if<Borrowed>(&handle)) return b->bytes.size();
  if (const auto* a = std::get_if<Aliased>(&handle)) return a->size;
  if (const auto* f = std::get_if<FileBacked>(&handle)) return f->size;
  return std::get<DeviceResident>(handle).size;
}

const BufferHandle& root_of(const BufferHandle& handle) {
  const BufferHandle* at = &handle;
  while (const auto* alias = std::get_if<Aliased>(at)) {
    if (alias->parent == nullptr) break;
    at = alias->parent.get();
  }
  return *at;
}

Result<void> check_readable(const BufferHandle& handle, std::uint64_t offset, std::uint64_t size,
                            const BufferResolver* resolver) {
  if (const auto* device = std::get_if<DeviceResident>(&root_of(handle)))
    return refuse("a device-resident buffer cannot be read on the host", "buffer on device '" + device->device + "'",
                  "a copy that the device has made in host memory");
  const BufferHandle* at = &handle;
  while (true) {
    if (auto ok = check_range(*at, offset, size); !ok) return ok;
    const auto* alias = std::get_if<Aliased>(at);
    if (alias == nullptr) break;
    if (alias->parent == nullptr) return refuse("an alias without a parent", "aliased buffer", "a parent");
    // The alias itself must lie in its parent, however much of it is read.
    if (auto ok = check_range(*alias->parent, alias->offset, alias->size); !ok) return ok;
    offset += alias->offset;
    at = alias->parent.get();
  }
  const auto* file = std::get_if<FileBacked>(at);
  if (file == nullptr) return {};
  if (file->offset > UINT64_MAX - file->size)
    return refuse("a region of " + range_text(file->offset, file->size), file->path, "one that ends below 2^64");
  if (resolver == nullptr && size != 0)
    return refuse("no resolver for a file-backed buffer", file->path, "a resolver that reads files");
  return {};
}

Result<ByteView> read_bytes(const BufferHandle& handle, std::uint64_t offset, std::uint64_t size,
                            BufferResolver* resolver) {
  if (auto ok = check_readable(handle, offset, size, resolver); !ok) return tl::unexpected(ok.error());
  if (size == 0) return ByteView{};
  const BufferHandle* at = &handle;
  while (const auto* alias = std::get_if<Aliased>(at)) {
    offset += alias->offset;
    at = alias->parent.get();
  }
  if (const auto* o = std::get_if<Owned>(at))
    return ByteView{std::span<const std::uint8_t>(*o->bytes).subspan(offset, size), o->bytes};
  if (const auto* b = std::get_if<Borrowed>(at)) return ByteView{b->bytes.subspan(offset, size), nullptr};
  const auto& file = std::get<FileBacked>(*at);
  Result<ByteView> view = resolver->read(file, offset, size);
  if (view && view->bytes.size() != size)
    return refuse("the resolver gave " + std::to_string(view->bytes.size()) + " bytes", file.path,
                  std::to_string(size) + " bytes");
  return view;
}

// Only tests and subjects have objects of these two. They are defined here so that mutants of them are tried as well.

CountingResolver::CountingResolver(BufferResolver& inner) : inner_(inner) {}

Result<ByteView> CountingResolver::read(const FileBacked& file, std::uint64_t offset, std::uint64_t size) {
  ++reads_;
  bytes_ += size;
  return inner_.read(file, offset, size);
}

DeviceMemory::DeviceMemory(std::string name) : name_(std::move(name)) {}

DeviceResident DeviceMemory::upload(std::vector<std::uint8_t> bytes) {
  const std::uint64_t address = next_;
  const std::uint64_t size = bytes.size();
  next_ += (size / kPage + 1) * kPage;
  allocations_.emplace(address, std::move(bytes));
  return {name_, address, size};
}

Result<Owned> DeviceMemory::download(const DeviceResident& buffer) const {
  const auto found = allocations_.find(buffer.address);
  if (buffer.device != name_ || found == allocations_.end() || found->second.size() != buffer.size)
    return refuse("not a buffer of this device", "device '" + name_ + "'", "what upload() gave");
  return owned(found->second);
}

}  // namespace packcheck
