// core/file/checks.h: the arithmetic that both readers and both writers check alike. For .cc files of
// this room, but printable(), which every command needs that shows names out of files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/file/tensor_file.h"

namespace packcheck {

/// Whether the bytes are UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes);
/// A stranger's text for a terminal, at most about `most` bytes of it: '?' for control characters, C1 ones and those
/// that turn the direction of text among them, and for what is no UTF-8.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = std::string_view::npos - 8);
/// "'name'" for messages: at most about 60 bytes of it, printable.
[[nodiscard]] std::string quoted(std::string_view name);

/// The product of a shape; nothing where the product of the dimensions that are not 0 does not fit 64 bits.
[[nodiscard]] std::optional<std::uint64_t> product(std::span<const std::uint64_t> shape, const FileRules& rules);

/// Bytes of a tensor of this type and shape (outermost first). Refuses a product that does not fit, rows that
/// are no whole blocks, and bits that are no whole bytes. `where` names the tensor.
[[nodiscard]] Result<std::uint64_t> stored_bytes(const StoredType& type, std::span<const std::uint64_t> shape,
                                                 const std::string& where, const FileRules& rules);

/// Fills in what the type says: dtype, dense format, encoding.
void set_type(FileTensor& tensor, const StoredType& type);

/// Refuses tensors that share a byte, naming both.
[[nodiscard]] Result<void> check_overlap(const TensorFile& file);

/// Of equal names only the last stays, as in a reader that puts them into a map; for a faulty twin.
void keep_last_of_equals(TensorFile& file);

}  // namespace packcheck
