#include "core/storage/messages.h"

#include <array>

#include "core/storage/tensor_storage.h"

namespace packcheck {
namespace {

struct Row {
  std::string_view what;
  std::string_view right;
};

/// {0}, {1} … stand for the details, in the order that messages.h gives.
constexpr std::array<Row, 12> kRows{{
    {"requantizing to {0} is not supported: every target needs a quantizer of its own, and there is none of it",
     "one of {1}"},
    {"{0} is no source of a quantizer, which takes the numbers of an f32",
     "a source whose every number an f32 holds; convert it first"},
    {"dequantizing to {0} is not supported", "dense(f32), which every decoder gives"},
    {"device-resident buffer of '{0}' cannot be read on the host", "a copy that the device has made in host memory"},
    {"a scalar (rank 0) has no dimension to divide into blocks of {0}", "a tensor with a last dimension"},
    {"shape {0} has no elements", "at least one block of {1}"},
    {"strides {0} of shape {1} are not contiguous", "contiguous elements; copy_materialize gives them"},
    {"last dimension {0} of shape {1}", "a multiple of {2}, the block of {3}"},
    {"volume {0} of shape {1}", "a multiple of {2}, the block of {3}"},
    {"last dimension {0} of shape {1}", "{2}, the row of {3}"},
    {"{0} to {1} does not keep every value", "requantize_to, which may lose precision"},
    {"element {0}, {1} of {2}, is no value of {3}",
     "values that survive bit for bit; requantize_to, or a conversion, where precision may be lost"},
}};

std::string filled(std::string_view text, std::initializer_list<std::string> details) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      line += text[i];
      continue;
    }
    line += details.begin()[text[i + 1] - '0'];
    i += 2;
  }
  return line;
}

}  // namespace

Error storage_error(Message message, std::string_view speaker, std::initializer_list<std::string> details) {
  const Row& row = kRows[static_cast<std::size_t>(message)];
  return {filled(row.what, details), std::string(speaker), filled(row.right, details)};
}

std::string device_of(const TensorStorage& tensor) {
  const auto* device = std::get_if<DeviceResident>(&root_of(tensor.buffer));
  return device == nullptr ? std::string() : device->device;
}

}  // namespace packcheck
