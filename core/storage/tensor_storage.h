// core/storage/tensor_storage.h: a stored tensor as it is described: shape, coding, where its bytes are.
//
// A description, not the bytes: views share a buffer and differ in offset and strides. Nothing that is described is
// believed: check_storage() compares it with the region that is there before a byte is read. Contiguity is computed
// from shape and strides, so that no flag can contradict them. Sources of the fields: SKaiNET tensor/storage/
// TensorStorage.kt and BufferHandle.kt. Proved by tests/core/tensor_storage_test.cc and the storage.* laws.
#pragma once

#include <memory>
#include <optional>

#include "core/storage/buffer.h"
#include "core/storage/storage_encoding.h"
#include "core/storage/storage_rules.h"

namespace packcheck {

using Shape = std::vector<std::uint64_t>;

struct TensorStorage {
  Shape shape;  ///< none: a scalar, one element
  /// The format of the numbers: of the elements where the encoding is dense, else f32, which every decoder gives. It
  /// says nothing that the encoding does not; a description in which it says something else is refused.
  Format dtype = Format::f32;
  StorageEncoding encoding = StorageEncoding::dense(Format::f32);
  BufferHandle buffer;
  Placement placement{};
  std::uint64_t byte_offset = 0;  ///< of the first element or block, from the start of the buffer
  /// Elements between neighbours along each dimension; 0 repeats one. None: row-major. Dense encodings only.
  std::optional<Shape> strides;
};
/// Tensors are never changed once made, so that "the same object" can be an answer.
using StoragePtr = std::shared_ptr<const TensorStorage>;

/// The number of elements. Refuses a product above 2^64 - 1; a 0 anywhere makes it 0.
[[nodiscard]] Result<std::uint64_t> volume(const Shape& shape);
/// "[2, 64]", "[]".
[[nodiscard]] std::string shape_text(const Shape& shape);
/// Whether the elements lie in row-major order without gaps; a dimension of 1 may have any stride, and a tensor
/// without elements any strides.
[[nodiscard]] bool is_contiguous(const TensorStorage& tensor);
/// Bytes of the numbers alone, laid out without gaps. Refuses a shape that does not divide into blocks as the
/// encoding's `blocking` says, and a size that does not fit.
[[nodiscard]] Result<std::uint64_t> physical_bytes(const StorageEncoding& encoding, const Shape& shape);
/// Bytes from the first that belongs to the tensor to the last: physical_bytes(), plus the gaps of a strided view.
[[nodiscard]] Result<std::uint64_t> extent_bytes(const TensorStorage& tensor);

/// Refuses a dtype that contradicts the encoding, strides of another rank or of blocks, a shape that does not
/// divide, a view that does not lie in its buffer, and a buffer that cannot be read here (a device's; a file's
/// without a resolver). Reads nothing.
[[nodiscard]] Result<void> check_storage(const TensorStorage& tensor, const BufferResolver* resolver,
                                         const StorageRules& rules = {});

/// A view that repeats elements becomes no larger than this, so that no description asks for more memory than the
/// bytes that are there and 1 GiB.
inline constexpr std::uint64_t kLargestRepeat = std::uint64_t{1} << 30;

/// The numbers of the tensor in row-major order without gaps, physical_bytes() of them, whatever its handle, offset
/// and strides. One read of extent_bytes() at most. Refuses what check_storage() refuses, what the resolver does,
/// and repeated elements of more than kLargestRepeat bytes.
[[nodiscard]] Result<std::vector<std::uint8_t>> gather(const TensorStorage& tensor, BufferResolver* resolver,
                                                       const StorageRules& rules = {});

/// A copy in host memory of its own: an owned buffer with nothing but the tensor in it, offset 0, no strides.
/// Shape, dtype, encoding and device are kept. Refuses as gather() does.
[[nodiscard]] Result<StoragePtr> copy_materialize(const TensorStorage& tensor, BufferResolver* resolver = nullptr,
                                                  const StorageRules& rules = {});

}  // namespace packcheck
