#include "core/storage/storage_encoding.h"

namespace packcheck {
namespace {
constexpr std::string_view kDense = "dense(";
}

std::string StorageEncoding::id() const {
  if (!is_dense()) return row_->id();
  std::string id(kDense);
  id.append(spec(format_).name).append(")");
  return id;
}

Result<StorageEncoding> storage_encoding_named(std::string_view id) {
  if (id.substr(0, kDense.size()) == kDense && id.back() == ')') {
    const std::string_view name = id.substr(kDense.size(), id.size() - kDense.size() - 1);
    if (const auto format = format_named(name)) return StorageEncoding::dense(*format);
    return refuse("unknown format '" + std::string(name) + "'", std::string(id),
                  "one of " + std::string(format_names()));
  }
  const Result<const Encoding*> row = encoding_named(id);
  if (!row) return refuse(row.error().what, row.error().where, "dense(FORMAT), " + row.error().right);
  return StorageEncoding::of(**row);
}

std::vector<StorageEncoding> all_storage_encodings() {
  std::vector<StorageEncoding> all;
  for (const FormatSpec& s : all_formats()) all.push_back(StorageEncoding::dense(s.format));
  for (const Encoding& row : all_encodings()) all.push_back(StorageEncoding::of(row));
  return all;
}

}  // namespace packcheck
