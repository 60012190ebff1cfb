// core/storage/weight_form.h: the loader's path: a weight is brought into the form that was asked for while it is read.
//
// The same questions as repack_to and requantize_to, asked before a tensor exists. Targets, refusals and quantizers
// come from the one registry; only the place of a refusal is the loader's own ("weightForm"). Sources: SKaiNET
// memory/plan/WeightForm.kt. Proved by tests/core/change_encoding_test.cc and storage.loader_equals_storage.
#pragma once

#include "core/storage/change_encoding.h"

namespace packcheck {

enum class EncodingRequest : std::uint8_t { keep_as_stored, dequantize_to, requantize_to };

struct WeightForm {
  EncodingRequest request = EncodingRequest::keep_as_stored;
  StorageEncoding target = StorageEncoding::dense(Format::f32);  ///< plays no part in keep_as_stored
};

/// The weight that `stored` describes, in host memory of its own. It is read piece by piece and converted as it
/// comes, so that no second copy of a large source is held; planes and strided views are read at once.
/// dequantize_to takes dense(f32) alone and loses no value; requantize_to refuses what requantize_to() refuses.
/// A tensor that has the target encoding already is copied as it is.
[[nodiscard]] Result<StoragePtr> load_weight(const TensorStorage& stored, const WeightForm& form,
                                             BufferResolver* resolver = nullptr, const StorageRules& rules = {});

}  // namespace packcheck
