#include "core/storage/change_encoding.h"

#include <utility>

#include "core/storage/decode.h"
#include "core/storage/messages.h"

namespace packcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view kRepack = "repack_to";
constexpr std::string_view kRequantize = "requantize_to";

/// The faulty order: whoever reads first has read whatever comes of the checks.
void read_too_early(const TensorStorage& tensor, BufferResolver* resolver, const StorageRules& rules) {
  if (rules.read == ReadTime::before_the_checks)
    (void)read_bytes(tensor.buffer, 0, region_size(tensor.buffer), resolver);
}

/// The faulty answer to an equal encoding: another object, its blocks encoded from their decoded values.
Result<StoragePtr> encoded_again(const TensorStorage& tensor, BufferResolver* resolver, const StorageRules& rules) {
  const Result<Bytes> bytes = gather(tensor, resolver, rules);
  if (!bytes) return tl::unexpected(bytes.error());
  if (tensor.encoding.is_dense() || !tensor.encoding.row().quantizes)
    return with_bytes(tensor, tensor.encoding, *bytes, rules);
  const Result<Bytes> singles = decode_f32(tensor.encoding, *bytes, kRepack, rules);
  if (!singles) return tl::unexpected(singles.error());
  Result<Bytes> blocks = encode_f32(tensor.encoding.row(), *singles, rules);
  if (!blocks) return tl::unexpected(blocks.error());
  return with_bytes(tensor, tensor.encoding, std::move(*blocks), rules);
}

}  // namespace

Keeping repack_keeps(const StorageEncoding& source, const StorageEncoding& target) {
  if (source == target) return Keeping::every_value;
  if (!target.is_dense()) return Keeping::never;
  if (!source.is_dense()) return target.format() == Format::f32 ? Keeping::every_value : Keeping::never;
  return holds_every_value(source.format(), target.format()) ? Keeping::every_value : Keeping::where_it_can;
}

StoragePtr with_bytes(const TensorStorage& source, const StorageEncoding& encoding, Bytes bytes,
                      const StorageRules& rules) {
  TensorStorage result;
  result.shape = source.shape;
  result.dtype = rules.tag == DtypeTag::kept ? source.dtype : encoding.format();
  result.encoding = encoding;
  result.buffer = owned(std::move(bytes));
  result.placement.device = source.placement.device;
  return std::make_shared<const TensorStorage>(std::move(result));
}

Result<StoragePtr> repack_to(const StoragePtr& tensor, const StorageEncoding& target, BufferResolver* resolver,
                             const StorageRules& rules) {
  read_too_early(*tensor, resolver, rules);
  const StorageEncoding& source = tensor->encoding;
  if (source == target)
    return rules.equal == EqualEncoding::same_object ? tensor : encoded_again(*tensor, resolver, rules);
  if (repack_keeps(source, target) == Keeping::never)
    return tl::unexpected(storage_error(Message::lossy_repack, kRepack, {source.id(), target.id()}));
  const Result<Bytes> bytes = gather(*tensor, resolver, rules);
  if (!bytes) return tl::unexpected(bytes.error());
  Result<Bytes> changed = source.is_dense() ? move_elements(source.format(), target.format(), *bytes, kRepack, rules)
                                            : decode_f32(source, *bytes, kRepack, rules);
  if (!changed) return tl::unexpected(changed.error());
  return with_bytes(*tensor, target, std::move(*changed), rules);
}

Result<StoragePtr> requantize_to(const StoragePtr& tensor, const StorageEncoding& target, BufferResolver* resolver,
                                 const StorageRules& rules) {
  read_too_early(*tensor, resolver, rules);
  if (auto ok = check_requantize(*tensor, target, kRequantize, rules); !ok) return tl::unexpected(ok.error());
  if (tensor->encoding == target)
    return rules.equal == EqualEncoding::same_object ? tensor : encoded_again(*tensor, resolver, rules);
  const Result<Bytes> bytes = gather(*tensor, resolver, rules);
  if (!bytes) return tl::unexpected(bytes.error());
  const Result<Bytes> singles = decode_f32(tensor->encoding, *bytes, kRequantize, rules);
  if (!singles) return tl::unexpected(singles.error());
  Result<Bytes> blocks = encode_f32(target.row(), *singles, rules);
  if (!blocks) return tl::unexpected(blocks.error());
  return with_bytes(*tensor, target, std::move(*blocks), rules);
}

}  // namespace packcheck
