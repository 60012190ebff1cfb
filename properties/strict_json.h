// properties/strict_json.h: reading our own JSON files without forgiving anything.
//
// nlohmann_json's DOM keeps the last of two equal keys in silence; a case file with a duplicate key
// is refused here. Include only from .cc files: nlohmann_json is heavy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

/// Parses a document; refuses syntax errors (with the byte offset), duplicate keys, text after the
/// value (a NUL included) and nesting deeper than 100.
[[nodiscard]] Result<nlohmann::ordered_json> parse_strict_json(std::string_view text);

/// "0x3f800000": as many digits as the format has.
[[nodiscard]] std::string hex_of(std::uint64_t bits, int width_in_bits);
/// The inverse; accepts 1 to width/4 digits after 0x, either case.
[[nodiscard]] Result<std::uint64_t> parse_hex(std::string_view text, int width_in_bits);
/// "00ff…": two digits a byte.
[[nodiscard]] std::string hex_of_bytes(std::span<const std::uint8_t> bytes);
[[nodiscard]] Result<std::vector<std::uint8_t>> parse_hex_bytes(std::string_view text);

/// Reads the members of one JSON object; the first problem is kept and later reads give defaults.
class MemberReader {
 public:
  MemberReader(const nlohmann::ordered_json& object, std::string where);

  [[nodiscard]] std::string text(std::string_view key);
  [[nodiscard]] std::uint64_t hex(std::string_view key, int width_in_bits);
  [[nodiscard]] std::uint64_t unsigned_integer(std::string_view key);
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key);
  /// An array of hex strings, one per element of `format`, as little-endian bytes.
  [[nodiscard]] std::vector<std::uint8_t> elements(std::string_view key, Format format);
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::string_view key);
  [[nodiscard]] Format format(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const;
  /// Any JSON value; null with an error where the key is missing.
  [[nodiscard]] nlohmann::ordered_json value(std::string_view key);

  void fail(Error error);
  /// Unknown members are an error, too.
  [[nodiscard]] Result<void> finish();

 private:
  const nlohmann::ordered_json* find(std::string_view key, std::string_view right);
  const nlohmann::ordered_json& object_;
  std::string where_;
  std::set<std::string, std::less<>> seen_;
  std::vector<Error> errors_;
};

/// An array of hex strings, one per element.
[[nodiscard]] nlohmann::ordered_json elements_json(std::span<const std::uint8_t> elements, Format format);

}  // namespace packcheck
