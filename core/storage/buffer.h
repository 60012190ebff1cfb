// core/storage/buffer.h: where the bytes of a tensor are, and the one way to read them.
//
// Five handles, one per kind of ownership. Nothing here copies: a read gives a view and what keeps it alive. Every
// range is checked against the region it lies in, with sums that cannot overflow, before anybody is asked for a byte.
// Proved by tests/core/tensor_storage_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"

namespace packcheck {

/// Bytes that the tensor shares with nobody but copies of its handle.
struct Owned {
  std::shared_ptr<const std::vector<std::uint8_t>> bytes;
};
/// Bytes of somebody else, who keeps them as long as the tensor lives.
struct Borrowed {
  std::span<const std::uint8_t> bytes;
};
struct Aliased;
/// `size` bytes of a file from `offset` on; a resolver reads them.
struct FileBacked {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};
/// `size` bytes at an address of a device, which means nothing on the host.
struct DeviceResident {
  std::string device;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};
using BufferHandle = std::variant<Owned, Borrowed, Aliased, FileBacked, DeviceResident>;
/// `size` bytes of another handle's region from `offset` on.
struct Aliased {
  std::shared_ptr<const BufferHandle> parent;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// The kinds of handles, in the order of BufferHandle.
enum class Ownership : std::uint8_t { owned, borrowed, aliased, file_backed, device_resident };
[[nodiscard]] Ownership ownership_of(const BufferHandle& handle);
/// "owned", "file-backed" …
[[nodiscard]] std::string_view ownership_name(Ownership ownership);

enum class DeviceKind : std::uint8_t { automatic, cpu, gpu, npu };
enum class MemoryDomain : std::uint8_t { host_heap, host_off_heap, host_pinned, mapped_file, unified, device_local };
struct Placement {
  DeviceKind device = DeviceKind::cpu;
  MemoryDomain domain = MemoryDomain::host_heap;
  friend bool operator==(const Placement&, const Placement&) = default;
};

[[nodiscard]] Owned owned(std::vector<std::uint8_t> bytes);
/// A view of `parent`. Refuses a range that does not lie in it.
[[nodiscard]] Result<BufferHandle> aliased(BufferHandle parent, std::uint64_t offset, std::uint64_t size);

/// Bytes, and what keeps them where they are (null: nothing has to).
struct ByteView {
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> keeper;
};

/// Reads what is not in memory.
class BufferResolver {
 public:
  virtual ~BufferResolver() = default;
  /// `size` bytes of the region of `file` from `offset` on; the caller has checked that they lie in it.
  virtual Result<ByteView> read(const FileBacked& file, std::uint64_t offset, std::uint64_t size) = 0;
};

/// Passes every read on, and counts: what proves that a refusal came before the first byte was read.
class CountingResolver final : public BufferResolver {
 public:
  explicit CountingResolver(BufferResolver& inner);
  Result<ByteView> read(const FileBacked& file, std::uint64_t offset, std::uint64_t size) override;
  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  BufferResolver& inner_;
  std::uint64_t reads_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Bytes of the region that the handle names; no byte of it is read.
[[nodiscard]] std::uint64_t region_size(const BufferHandle& handle);
/// The handle that has the bytes in the end: an alias of an alias leads to its parent's parent.
[[nodiscard]] const BufferHandle& root_of(const BufferHandle& handle);
/// Refuses what read_bytes() would refuse without reading: a range outside the region, or a region outside its
/// parent; a file without a resolver; a device.
[[nodiscard]] Result<void> check_readable(const BufferHandle& handle, std::uint64_t offset, std::uint64_t size,
                                          const BufferResolver* resolver);
/// `size` bytes of the region from `offset` on. No bytes need no read. Refuses what check_readable() refuses, what
/// the resolver refuses, and a resolver's answer of another size.
[[nodiscard]] Result<ByteView> read_bytes(const BufferHandle& handle, std::uint64_t offset, std::uint64_t size,
                                          BufferResolver* resolver);

}  // namespace packcheck
