// core/storage/device_memory.h: a device that is none, so that code about devices can be tried without one.
//
// It has an address space of its own: its addresses are no pointers of any process of this machine (bit 63 is set and
// bit 62 is not), so that reading one on the host cannot go unnoticed. Not for anything but tests of the rule that
// the host reads no device buffer. Its functions are in buffer.cc. Proved by tests/core/tensor_storage_test.cc.
#pragma once

#include <map>

#include "core/storage/buffer.h"

namespace packcheck {

class DeviceMemory {
 public:
  explicit DeviceMemory(std::string name);

  /// Copies bytes to the device.
  [[nodiscard]] DeviceResident upload(std::vector<std::uint8_t> bytes);
  /// Copies a buffer back to the host. Refuses another device's, and an address or a size that it did not give out.
  [[nodiscard]] Result<Owned> download(const DeviceResident& buffer) const;

 private:
  static constexpr std::uint64_t kPage = 4096;
  std::string name_;
  std::uint64_t next_ = std::uint64_t{1} << 63;
  std::map<std::uint64_t, std::vector<std::uint8_t>> allocations_;
};

}  // namespace packcheck
