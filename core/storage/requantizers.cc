#include "core/storage/requantizers.h"

#include <array>

#include "core/storage/decode.h"
#include "core/storage/messages.h"

namespace packcheck {
namespace {

// The registry: one line a target. A row size of bitnet_planes is a target of its own, as it is an encoding.
constexpr std::array<Requantizer, 5> kSupported{{
    {"q8_0:ggml", BlocksBy::last_dimension},
    {"q4_0:ggml", BlocksBy::last_dimension},
    {"q4_0:skainet", BlocksBy::volume},
    {"bitnet_planes(4):skainet", BlocksBy::whole_row},
    {"bitnet_planes(32):skainet", BlocksBy::whole_row},
}};

BlocksBy checked_by(const Requantizer& requantizer, const StorageRules& rules) {
  if (requantizer.blocks == BlocksBy::whole_row || rules.blocking == BlockingCheck::declared) return requantizer.blocks;
  return rules.blocking == BlockingCheck::volume ? BlocksBy::volume : BlocksBy::last_dimension;
}

Result<void> check_blocks(const Shape& shape, std::uint64_t count, const Encoding& row, BlocksBy by,
                          std::string_view speaker) {
  const std::uint64_t length = by == BlocksBy::volume ? count : shape.back();
  if (by == BlocksBy::whole_row ? length == row.block_size : length % row.block_size == 0) return {};
  const Message message = by == BlocksBy::volume      ? Message::whole_volume
                          : by == BlocksBy::whole_row ? Message::whole_row
                                                      : Message::last_dimension;
  return tl::unexpected(storage_error(
      message, speaker, {std::to_string(length), shape_text(shape), std::to_string(row.block_size), row.id()}));
}

}  // namespace

std::span<const Requantizer> supported_requantizers() { return kSupported; }

const std::string& supported_names() {
  static const std::string names = [] {
    std::string all;
    for (const Requantizer& requantizer : kSupported) all.append(all.empty() ? "" : ", ").append(requantizer.target);
    return all;
  }();
  return names;
}

const Requantizer* requantizer_of(const StorageEncoding& target) {
  if (target.is_dense()) return nullptr;
  for (const Requantizer& requantizer : kSupported)
    if (target.row().has_id(requantizer.target)) return &requantizer;
  return nullptr;
}

bool is_requantize_source(const StorageEncoding& source) {
  return !source.is_dense() || holds_every_value(source.format(), Format::f32);
}

Result<void> check_requantize(const TensorStorage& tensor, const StorageEncoding& target, std::string_view speaker,
                              const StorageRules& rules) {
  const auto refused = [speaker](Message message, std::initializer_list<std::string> details) {
    return tl::unexpected(storage_error(message, speaker, details));
  };
  const Requantizer* const requantizer = requantizer_of(target);
  if (requantizer == nullptr) return refused(Message::unsupported_target, {target.id(), supported_names()});
  if (tensor.encoding == target) return {};
  if (!is_requantize_source(tensor.encoding)) return refused(Message::unsupported_source, {tensor.encoding.id()});
  if (std::string device = device_of(tensor); !device.empty()) return refused(Message::device_resident, {device});
  if (tensor.shape.empty()) return refused(Message::rank_zero, {target.id()});
  const Result<std::uint64_t> count = volume(tensor.shape);
  if (!count) return tl::unexpected(count.error());
  if (*count == 0) return refused(Message::no_elements, {shape_text(tensor.shape), target.id()});
  if (!is_contiguous(tensor))
    return refused(Message::not_contiguous, {shape_text(*tensor.strides), shape_text(tensor.shape)});
  if (rules.partial == PartialBlock::dropped) return {};
  return check_blocks(tensor.shape, *count, target.row(), checked_by(*requantizer, rules), speaker);
}

}  // namespace packcheck
