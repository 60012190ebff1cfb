// core/storage/requantizers.h: the one registry of quantizers that a stored tensor can be given to.
//
// The loader (weight_form.h) and requantize_to (change_encoding.h) both ask here, so that they accept the same
// targets, refuse the same tensors in the same words and write the same bytes. Add a target: one line in
// requantizers.cc. Sources: SKaiNET's registry (Q8_0, Q4_0, BITNET_PLANES), Q4_0Quantizer.kt (volume), ggml
// (ggml_row_size: last dimension). Proved by tests/core/change_encoding_test.cc and storage.loader_equals_storage.
#pragma once

#include <span>
#include <string_view>

#include "core/storage/tensor_storage.h"

namespace packcheck {

/// Which length of a shape must divide into blocks: where real systems differ over one encoding.
enum class BlocksBy : std::uint8_t {
  last_dimension,  ///< [16, 2] is refused by a block of 32: a row begins a block
  volume,          ///< [16, 2] is one block of 32
  whole_row        ///< the last dimension is the block: its scale is a row's
};

struct Requantizer {
  std::string_view target;  ///< the id of a row that quantizes
  BlocksBy blocks;
};

/// Every target of requantize_to and of the loader's RequantizeTo; no others.
[[nodiscard]] std::span<const Requantizer> supported_requantizers();
/// "q8_0:ggml, q4_0:ggml, …".
[[nodiscard]] const std::string& supported_names();
/// The row for `target`; null where it is not supported.
[[nodiscard]] const Requantizer* requantizer_of(const StorageEncoding& target);
/// Whether a quantizer can be given its numbers: f32 holds all of them. True of every row with a decoder.
[[nodiscard]] bool is_requantize_source(const StorageEncoding& source);

/// Everything that can be refused without reading, in this order: the target; then, unless the tensor has the target
/// encoding already, the source, a device-resident buffer, rank 0, no elements, strides that are not contiguous, and a
/// shape that does not divide; in `speaker`'s name.
[[nodiscard]] Result<void> check_requantize(const TensorStorage& tensor, const StorageEncoding& target,
                                            std::string_view speaker, const StorageRules& rules = {});

}  // namespace packcheck
