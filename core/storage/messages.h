// core/storage/messages.h: what the loader and the storage path say when they refuse, once for both.
//
// A refusal of either is a row of one table with the names and numbers filled in; only its place differs, which the
// speaker gives: "requantize_to", or the loader's "weightForm". So the two cannot drift apart in what they say.
// What each must name follows SKaiNET's StreamingGgufParametersLoader.kt, Q4_0Quantizer.kt and TensorStorage.kt; the
// words are this project's own. Proved by tests/core/change_encoding_test.cc.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/result.h"

namespace packcheck {

struct TensorStorage;

/// The refusals, each with what is filled in.
enum class Message : std::uint8_t {
  unsupported_target,  ///< target, all that are supported
  unsupported_source,  ///< source
  dequantize_target,   ///< target
  device_resident,     ///< device
  rank_zero,           ///< target
  no_elements,         ///< shape, target
  not_contiguous,      ///< strides, shape
  last_dimension,      ///< last dimension, shape, block size, target
  whole_volume,        ///< volume, shape, block size, target
  whole_row,           ///< last dimension, shape, block size, target
  lossy_repack,        ///< source, target
  value_lost           ///< index, bits, source, target
};

/// The row with `details` in its places, said by `speaker`.
[[nodiscard]] Error storage_error(Message message, std::string_view speaker,
                                  std::initializer_list<std::string> details);
/// The name of the device that has the tensor's bytes; empty where the host has them.
[[nodiscard]] std::string device_of(const TensorStorage& tensor);

}  // namespace packcheck
