// core/storage/storage_encoding.h: how the numbers of a stored tensor are coded: dense(format), or a row of the
// registry of encodings.
//
// Two encodings are equal when their names are, dialect included: q4_0:ggml is not q4_0:skainet. A new format or
// encoding needs no change here. Proved by tests/core/tensor_storage_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

class StorageEncoding {
 public:
  /// Elements of `format`, little-endian, one after the other; a format narrower than a byte takes the low bits of one.
  [[nodiscard]] static StorageEncoding dense(Format format) { return StorageEncoding(nullptr, format); }
  /// Blocks of a row that outlives this object (those of all_encodings() always do).
  [[nodiscard]] static StorageEncoding of(const Encoding& row) { return StorageEncoding(&row, Format::f32); }

  [[nodiscard]] bool is_dense() const { return row_ == nullptr; }
  /// Of the elements when dense, else f32: what every decoder gives.
  [[nodiscard]] Format format() const { return format_; }
  /// Only where it is not dense.
  [[nodiscard]] const Encoding& row() const { return *row_; }
  /// "dense(f16)", "q8_0:ggml".
  [[nodiscard]] std::string id() const;

  friend bool operator==(const StorageEncoding& a, const StorageEncoding& b) {
    if (a.is_dense() || b.is_dense()) return a.is_dense() == b.is_dense() && a.format_ == b.format_;
    return a.row_->name == b.row_->name && a.row_->dialect == b.row_->dialect;
  }

 private:
  StorageEncoding(const Encoding* row, Format format) : row_(row), format_(format) {}
  const Encoding* row_;
  Format format_;
};

/// By its id. Refuses an unknown one, and says which are near.
[[nodiscard]] Result<StorageEncoding> storage_encoding_named(std::string_view id);
/// dense(format) of every format, then every row.
[[nodiscard]] std::vector<StorageEncoding> all_storage_encodings();

}  // namespace packcheck
