// core/storage/device_memory.h: a device that is none, so that code about devices can be tried without one.
//
// It has an address space of its own: its addresses are no pointers of any process of this machine (bit 63 is set and
// bit 62 is not), so that reading one on the host cannot go unnoticed. Not for anything but tests of the rule that
// the host reads no device buffer. Proved by tests/core/tensor_storage_test.cc.
#pragma once

#include <map>

#include "core/storage/buffer.h"

namespace packcheck {

class DeviceMemory {
 public:
  explicit DeviceMemory(std::string name) : name_(std::move(name)) {}

  /// Copies bytes to the device.
  [[nodiscard]] DeviceResident upload(std::vector<std::uint8_t> bytes) {
    const std::uint64_t address = next_;
    const std::uint64_t size = bytes.size();
    next_ += (size / kPage + 1) * kPage;
    allocations_.emplace(address, std::move(bytes));
    return {name_, address, size};
  }
  /// Copies a buffer back to the host. Refuses another device's, and an address or a size that it did not give out.
  [[nodiscard]] Result<Owned> download(const DeviceResident& buffer) const {
    const auto found = allocations_.find(buffer.address);
    if (buffer.device != name_ || found == allocations_.end() || found->second.size() != buffer.size)
      return refuse("not a buffer of this device", "device '" + name_ + "'", "what upload() gave");
    return owned(found->second);
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  std::string name_;
  std::uint64_t next_ = std::uint64_t{1} << 63;
  std::map<std::uint64_t, std::vector<std::uint8_t>> allocations_;
};

}  // namespace packcheck
