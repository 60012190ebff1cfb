#include "core/file/checks.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace packcheck {
namespace {

/// Bytes of the UTF-8 character that begins at `at`; 0 where there is none.
std::size_t character_bytes(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() - at < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  const unsigned second = byte(1);
  // Overlong forms, surrogates, and numbers above U+10FFFF.
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) || (lead == 0xF0 && second < 0x90) ||
      (lead == 0xF4 && second > 0x8F))
    return 0;
  return length;
}

/// C1 controls, which begin commands to a terminal like ESC [, and those that turn the direction of text around.
bool commands_a_terminal(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7F;
  if (character.size() == 2) return byte(0) == 0xC2 && byte(1) < 0xA0;
  if (character.size() != 3 || byte(0) != 0xE2) return false;
  const bool overrides =
      byte(1) == 0x80 && ((byte(2) >= 0xA8 && byte(2) <= 0xAE) || byte(2) == 0x8E || byte(2) == 0x8F);
  return overrides || (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9);
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_bytes(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    if (line.size() > most) return line + "…";
    const std::size_t length = character_bytes(text, at);
    const std::string_view character = text.substr(at, length);
    if (length == 0 || commands_a_terminal(character))
      line += '?';
    else
      line.append(character);
    at += std::max<std::size_t>(length, 1);
  }
  return line;
}

std::string quoted(std::string_view name) {
  constexpr std::size_t kMost = 59;
  return "'" + printable(name, kMost) + "'";
}

std::optional<std::uint64_t> product(std::span<const std::uint64_t> shape, const FileRules& rules) {
  std::uint64_t all = 1;
  bool zero = false;
  for (const std::uint64_t size : shape) {
    if (size == 0) zero = true;
    if (size != 0 && __builtin_mul_overflow(all, size, &all) && !rules.product_wraps) return std::nullopt;
  }
  return zero ? 0 : all;
}

Result<std::uint64_t> stored_bytes(const StoredType& type, std::span<const std::uint64_t> shape,
                                   const std::string& where, const FileRules& rules) {
  if (type.block_elements == 0) return refuse(std::string(type.name) + " was withdrawn", where, "a type in use");
  const std::uint64_t row = shape.empty() ? 1 : shape.back();
  if (row % type.block_elements != 0 && !rules.partial_blocks)
    return refuse("rows of " + std::to_string(row) + " elements", where,
                  "a multiple of the " + std::to_string(type.block_elements) + " elements of a block of " +
                      std::string(type.name));
  const std::optional<std::uint64_t> count = product(shape, rules);
  if (!count) return refuse("the product of the shape does not fit 64 bits", where, "a product below 2^64");
  std::uint64_t bits = 0;
  const bool wraps = __builtin_mul_overflow(*count / type.block_elements, type.block_bits, &bits);
  // Bits may pass 2^64 where bytes do not: then whole bytes per block are multiplied.
  if (!wraps && bits % 8 == 0) return bits / 8;
  if (!wraps)
    return refuse(std::to_string(*count) + " elements of " + std::string(type.name) + " are no whole bytes", where,
                  "a multiple of 8 bits");
  std::uint64_t bytes = 0;
  const bool too_many =
      type.block_bits % 8 != 0 || __builtin_mul_overflow(*count / type.block_elements, type.block_bits / 8, &bytes);
  if (too_many && !rules.product_wraps)
    return refuse("the size in bytes does not fit 64 bits", where, "less than 2^64 bytes");
  return bytes;
}

void set_type(FileTensor& tensor, const StoredType& type) {
  tensor.dtype = std::string(type.name);
  tensor.dense = format_named(type.format);
  if (!type.encoding.empty()) tensor.encoding = *encoding_named(type.encoding);
}

Result<void> check_overlap(const TensorFile& file) {
  std::vector<const FileTensor*> order;
  for (const FileTensor& tensor : file.tensors)
    if (tensor.bytes != 0) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const FileTensor* a, const FileTensor* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const FileTensor& one = *order[i - 1];
    const FileTensor& next = *order[i];
    if (next.offset - one.offset < one.bytes)
      return refuse("begins at byte " + std::to_string(next.offset) + ", within " + quoted(one.name) + " (bytes " +
                        std::to_string(one.offset) + " to " + std::to_string(one.offset + one.bytes) + ")",
                    "tensor " + quoted(next.name), "tensors that share no byte");
  }
  return {};
}

void keep_last_of_equals(TensorFile& file) {
  const auto keep = [](auto& rows, const auto& name_of) {
    std::unordered_set<std::string> seen;
    for (std::size_t i = rows.size(); i-- > 0;)
      if (!seen.insert(name_of(rows[i])).second) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
  };
  keep(file.tensors, [](const FileTensor& tensor) { return tensor.name; });
  keep(file.metadata, [](const MetadataEntry& entry) { return entry.key; });
}

}  // namespace packcheck
