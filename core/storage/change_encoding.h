// core/storage/change_encoding.h: the encoding of a stored tensor, changed without loss or with one that is asked for.
//
// repack_to keeps every value or refuses and names requantize_to, the only door through which precision is lost.
// Every refusal comes before a byte is read, but that of a value which the target does not have. What SKEEP-008 left
// open is decided thus:
//   dtype       the tag tells the format of the numbers, so it follows them: f32 after a dequantizer and after a
//               quantizer, the target's format between dense encodings. It is never kept beside other bytes.
//   equal       both calls return the same object when the tensor has the encoding already: decoding and encoding
//               again would change blocks for nothing (requantize_to checks first that the target is supported).
//   NaN, -0.0   moved between dense formats with their bits; a decoder's are what it gives, -0.0 of an empty q4_0
//               block with them.
//   views       repack_to reads a view's own elements by offset and strides; requantize_to takes offsets and refuses
//               strides, as the loader does.
//   result      owned host memory, offset 0, row-major; shape and device are kept.
// Proved by tests/core/change_encoding_test.cc, tests/core/conversion_table_test.cc and the storage.* laws.
#pragma once

#include "core/storage/requantizers.h"

namespace packcheck {

/// What repack_to can promise of two encodings, from their names alone.
enum class Keeping : std::uint8_t {
  every_value,   ///< equal encodings; a decoder to dense(f32); a dense format to one that holds it
  where_it_can,  ///< dense formats else: a tensor is repacked if each of its values survives
  never          ///< refused unread
};
[[nodiscard]] Keeping repack_keeps(const StorageEncoding& source, const StorageEncoding& target);

/// The same values in another encoding; the same object where that is equal. Refuses what repack_keeps() says and
/// the first value that does not survive, naming requantize_to, and what check_storage() refuses.
[[nodiscard]] Result<StoragePtr> repack_to(const StoragePtr& tensor, const StorageEncoding& target,
                                           BufferResolver* resolver = nullptr, const StorageRules& rules = {});

/// The values as the target's quantizer writes them; the same object where the encoding is equal. A packed source is
/// decoded to f32 first. Targets are supported_requantizers(). Refuses what check_requantize() and check_storage()
/// refuse, and numbers that the quantizer does not take.
[[nodiscard]] Result<StoragePtr> requantize_to(const StoragePtr& tensor, const StorageEncoding& target,
                                               BufferResolver* resolver = nullptr, const StorageRules& rules = {});

/// A tensor like `source` with these bytes in that encoding, in owned host memory.
[[nodiscard]] StoragePtr with_bytes(const TensorStorage& source, const StorageEncoding& encoding,
                                    std::vector<std::uint8_t> bytes, const StorageRules& rules = {});

}  // namespace packcheck
