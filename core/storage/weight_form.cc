#include "core/storage/weight_form.h"

#include <algorithm>
#include <utility>

#include "core/storage/decode.h"
#include "core/storage/messages.h"

namespace packcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view kLoader = "weightForm";
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 16;

/// The numbers as f32, read in pieces of whole elements or blocks.
Result<Bytes> read_f32(const TensorStorage& stored, BufferResolver* resolver, const StorageRules& rules) {
  const StorageEncoding& encoding = stored.encoding;
  // What may be refused by its index is read at once, too.
  const bool in_planes = !encoding.is_dense() && encoding.row().planes[0] != 0;
  if (!is_contiguous(stored) || in_planes || !is_requantize_source(encoding)) {
    const Result<Bytes> all = gather(stored, resolver, rules);
    if (!all) return tl::unexpected(all.error());
    return decode_f32(encoding, *all, kLoader, rules);
  }
  if (auto ok = check_storage(stored, resolver, rules); !ok) return tl::unexpected(ok.error());
  const std::uint64_t unit = encoding.is_dense() ? spec(encoding.format()).bytes() : encoding.row().block_bytes;
  const std::uint64_t piece = std::max(kPieceBytes / unit, std::uint64_t{1}) * unit;
  const std::uint64_t size = *physical_bytes(encoding, stored.shape);
  Bytes singles;
  for (std::uint64_t at = 0; at < size; at += piece) {
    const Result<ByteView> view =
        read_bytes(stored.buffer, stored.byte_offset + at, std::min(piece, size - at), resolver);
    if (!view) return tl::unexpected(view.error());
    const Result<Bytes> run = decode_f32(encoding, view->bytes, kLoader, rules);
    if (!run) return run;
    singles.insert(singles.end(), run->begin(), run->end());
  }
  return singles;
}

Result<StoragePtr> dequantized(const TensorStorage& stored, const StorageEncoding& target, BufferResolver* resolver,
                               const StorageRules& rules) {
  if (!(target == StorageEncoding::dense(Format::f32)))
    return tl::unexpected(storage_error(Message::dequantize_target, kLoader, {target.id()}));
  if (stored.encoding == target) return copy_materialize(stored, resolver, rules);
  // What f32 does not hold is refused at its first value, as repack_to does.
  Result<Bytes> singles = read_f32(stored, resolver, rules);
  if (!singles) return tl::unexpected(singles.error());
  return with_bytes(stored, target, std::move(*singles), rules);
}

Result<StoragePtr> requantized(const TensorStorage& stored, const StorageEncoding& target, BufferResolver* resolver,
                               const StorageRules& rules) {
  if (auto ok = check_requantize(stored, target, kLoader, rules); !ok) return tl::unexpected(ok.error());
  if (stored.encoding == target) return copy_materialize(stored, resolver, rules);
  const Result<Bytes> singles = read_f32(stored, resolver, rules);
  if (!singles) return tl::unexpected(singles.error());
  Encoding row = target.row();
  if (rules.loader == LoaderRounding::truncates) row.rules.code = CodeRounding::truncate;
  Result<Bytes> blocks = encode_f32(row, *singles, rules);
  if (!blocks) return tl::unexpected(blocks.error());
  return with_bytes(stored, target, std::move(*blocks), rules);
}

}  // namespace

Result<StoragePtr> load_weight(const TensorStorage& stored, const WeightForm& form, BufferResolver* resolver,
                               const StorageRules& rules) {
  if (form.request == EncodingRequest::requantize_to) return requantized(stored, form.target, resolver, rules);
  if (form.request == EncodingRequest::dequantize_to) return dequantized(stored, form.target, resolver, rules);
  return copy_materialize(stored, resolver, rules);
}

}  // namespace packcheck
