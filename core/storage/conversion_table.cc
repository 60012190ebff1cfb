#include "core/storage/conversion_table.h"

#include <array>

namespace packcheck {
namespace {

/// Whether any shape divides into blocks of both: a row of 32 is no whole block of 128, nor 30 elements one of 32.
bool some_shape_divides(const StorageEncoding& source, const Requantizer& requantizer, std::uint64_t block) {
  if (source.is_dense()) return true;
  const Encoding& row = source.row();
  if (row.blocking == Blocking::tensor) return row.block_size % block == 0;
  if (row.blocking == Blocking::row && requantizer.blocks == BlocksBy::whole_row) return block % row.block_size == 0;
  return true;
}

}  // namespace

std::string_view conversion_name(Conversion conversion) {
  static constexpr std::array<std::string_view, 4> kNames{"lossless", "lossless when every value survives", "lossy",
                                                          "refused"};
  return kNames[static_cast<std::size_t>(conversion)];
}

ConversionCell conversion_between(const StorageEncoding& source, const StorageEncoding& target) {
  constexpr std::string_view kRefusal = "storage.repack_to_refuses_before_reading";
  switch (repack_keeps(source, target)) {
    case Keeping::every_value: return {Conversion::lossless, "storage.repack_to_keeps_every_value", {}};
    case Keeping::where_it_can: return {Conversion::lossless_if_kept, "storage.repack_to_keeps_every_value", {}};
    case Keeping::never: break;
  }
  const Requantizer* const requantizer = requantizer_of(target);
  if (requantizer != nullptr && is_requantize_source(source) &&
      some_shape_divides(source, *requantizer, target.row().block_size))
    return {Conversion::lossy, "storage.requantize_to_agrees_with_the_declared_dialect", kRefusal};
  return {Conversion::refused, "storage.requantize_to_refuses_before_reading", kRefusal};
}

}  // namespace packcheck
