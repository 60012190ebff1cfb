// core/storage/conversion_table.h: what becomes of every encoding when it is to become another.
//
// One pure function, computed from the rules that repack_to and requantize_to themselves follow, with the law that
// proves the answer. For the report, and for people who ask before they convert. Proved by
// tests/core/conversion_table_test.cc, which puts every pair to the real functions.
#pragma once

#include "core/storage/change_encoding.h"

namespace packcheck {

enum class Conversion : std::uint8_t {
  lossless,          ///< repack_to keeps every value
  lossless_if_kept,  ///< repack_to keeps every value, or refuses at the first that does not survive
  lossy,             ///< repack_to refuses; requantize_to does it
  refused            ///< both refuse
};
/// "lossless", "lossless when every value survives", "lossy", "refused".
[[nodiscard]] std::string_view conversion_name(Conversion conversion);

/// One cell: source encoding × target encoding.
struct ConversionCell {
  Conversion conversion;
  std::string_view law;      ///< the id of the law that proves what is done, or that requantize_to refuses
  std::string_view refusal;  ///< of the law that proves that repack_to refuses; empty where it does not
};
[[nodiscard]] ConversionCell conversion_between(const StorageEncoding& source, const StorageEncoding& target);

}  // namespace packcheck
