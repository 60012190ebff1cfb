#include "core/storage/tensor_storage.h"

#include <cstring>
#include <utility>

#include "core/storage/messages.h"

namespace packcheck {
namespace {

std::uint64_t element_bytes(const TensorStorage& tensor) { return spec(tensor.encoding.format()).bytes(); }

/// Elements from the first to the last of a strided view, both included; the shape has no 0.
Result<std::uint64_t> span_of(const Shape& shape, const Shape& strides) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::uint64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) || __builtin_add_overflow(last, reach, &last))
      return refuse("strides " + shape_text(strides), {}, "strides whose reach is below 2^64");
  }
  if (last == UINT64_MAX) return refuse("strides " + shape_text(strides), {}, "strides whose reach is below 2^64");
  return last + 1;
}

bool divides(const Encoding& row, const Shape& shape, std::uint64_t count) {
  if (count % row.block_size != 0) return false;
  if (row.blocking == Blocking::row) return !shape.empty() && shape.back() % row.block_size == 0;
  return row.blocking == Blocking::volume || count == row.block_size;
}

std::uint64_t first_byte(const TensorStorage& tensor, const StorageRules& rules) {
  if (rules.offset == ViewOffset::ignored) return 0;
  return rules.offset == ViewOffset::twice ? 2 * tensor.byte_offset : tensor.byte_offset;
}

/// Copies element by element, the last dimension fastest.
void copy_strided(const TensorStorage& tensor, const std::uint8_t* from, std::vector<std::uint8_t>& to) {
  const std::uint64_t size = element_bytes(tensor);
  const Shape& strides = *tensor.strides;
  Shape index(tensor.shape.size(), 0);
  std::uint64_t element = 0;
  for (std::size_t at = 0; at < to.size(); at += size) {
    std::memcpy(&to[at], from + element * size, size);
    for (std::size_t d = index.size(); d-- > 0;) {
      element += strides[d];
      if (++index[d] < tensor.shape[d]) break;
      element -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

Result<std::uint64_t> volume(const Shape& shape) {
  std::uint64_t product = 1;
  for (const std::uint64_t length : shape)
    if (length == 0) return 0;
  for (const std::uint64_t length : shape)
    if (__builtin_mul_overflow(product, length, &product))
      return refuse("shape " + shape_text(shape), {}, "a shape of fewer than 2^64 elements");
  return product;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (const std::uint64_t length : shape) text.append(text.size() > 1 ? ", " : "").append(std::to_string(length));
  return text.append("]");
}

bool is_contiguous(const TensorStorage& tensor) {
  if (!tensor.strides) return true;
  if (tensor.strides->size() != tensor.shape.size()) return false;
  if (const auto count = volume(tensor.shape); !count || *count == 0) return count.has_value();
  std::uint64_t right = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0;) {
    if (tensor.shape[d] != 1 && (*tensor.strides)[d] != right) return false;
    right *= tensor.shape[d];
  }
  return true;
}

Result<std::uint64_t> physical_bytes(const StorageEncoding& encoding, const Shape& shape) {
  const Result<std::uint64_t> count = volume(shape);
  if (!count) return count;
  if (!encoding.is_dense()) {
    if (!divides(encoding.row(), shape, *count))
      return refuse("shape " + shape_text(shape) + " does not divide into blocks", encoding.id(),
                    "blocks of " + std::to_string(encoding.row().block_size) + " by " +
                        std::string(blocking_name(encoding.row().blocking)));
    return encoded_bytes(encoding.row(), *count);
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(*count, spec(encoding.format()).bytes(), &bytes))
    return refuse("shape " + shape_text(shape), encoding.id(), "a shape of fewer than 2^64 bytes");
  return bytes;
}

Result<std::uint64_t> extent_bytes(const TensorStorage& tensor) {
  const Result<std::uint64_t> packed = physical_bytes(tensor.encoding, tensor.shape);
  if (!packed || *packed == 0 || !tensor.strides || is_contiguous(tensor)) return packed;
  const Result<std::uint64_t> elements = span_of(tensor.shape, *tensor.strides);
  if (!elements) return elements;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(*elements, element_bytes(tensor), &bytes))
    return refuse("strides " + shape_text(*tensor.strides), tensor.encoding.id(), "strides whose reach is below 2^64");
  return bytes;
}

Result<void> check_storage(const TensorStorage& tensor, const BufferResolver* resolver, const StorageRules& rules) {
  if (tensor.dtype != tensor.encoding.format())
    return refuse("dtype " + std::string(spec(tensor.dtype).name), tensor.encoding.id(),
                  std::string(spec(tensor.encoding.format()).name) + ", which the encoding holds");
  if (tensor.strides && tensor.strides->size() != tensor.shape.size())
    return refuse("strides " + shape_text(*tensor.strides) + " of shape " + shape_text(tensor.shape),
                  tensor.encoding.id(), "one stride per dimension");
  if (!tensor.encoding.is_dense() && !is_contiguous(tensor))
    return refuse("strides " + shape_text(*tensor.strides) + " of blocks", tensor.encoding.id(),
                  "row-major order: blocks have no elements to step over");
  const Result<std::uint64_t> extent = extent_bytes(tensor);
  if (!extent) return tl::unexpected(extent.error());
  if (std::holds_alternative<DeviceResident>(root_of(tensor.buffer)))
    return tl::unexpected(storage_error(Message::device_resident, "storage", {device_of(tensor)}));
  return check_readable(tensor.buffer, first_byte(tensor, rules), *extent, resolver);
}

Result<std::vector<std::uint8_t>> gather(const TensorStorage& tensor, BufferResolver* resolver,
                                         const StorageRules& rules) {
  if (auto ok = check_storage(tensor, resolver, rules); !ok) return tl::unexpected(ok.error());
  const std::uint64_t packed = *physical_bytes(tensor.encoding, tensor.shape);
  if (packed > kLargestRepeat && packed > *extent_bytes(tensor))
    return refuse(std::to_string(packed) + " bytes from repeated elements", tensor.encoding.id(),
                  "at most " + std::to_string(kLargestRepeat));
  const bool strided = !is_contiguous(tensor) && rules.strides == ViewStrides::honoured;
  // A view without gaps has its bytes together; whoever ignores strides takes it for one.
  const std::uint64_t extent = strided ? *extent_bytes(tensor) : packed;
  const Result<ByteView> view = read_bytes(tensor.buffer, first_byte(tensor, rules), extent, resolver);
  if (!view) return tl::unexpected(view.error());
  if (!strided) return std::vector<std::uint8_t>(view->bytes.begin(), view->bytes.end());
  std::vector<std::uint8_t> bytes(packed);
  copy_strided(tensor, view->bytes.data(), bytes);
  return bytes;
}

Result<StoragePtr> copy_materialize(const TensorStorage& tensor, BufferResolver* resolver, const StorageRules& rules) {
  Result<std::vector<std::uint8_t>> bytes = gather(tensor, resolver, rules);
  if (!bytes) return tl::unexpected(bytes.error());
  TensorStorage copy = tensor;
  copy.buffer = owned(std::move(*bytes));
  copy.placement.domain = MemoryDomain::host_heap;
  copy.byte_offset = 0;
  copy.strides.reset();
  return std::make_shared<const TensorStorage>(std::move(copy));
}

}  // namespace packcheck
