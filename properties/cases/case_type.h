// properties/cases/case_type.h: shared by the .cc files of the case types: a typed base over the
// erased CaseType. Include only from .cc files (it brings in nlohmann_json).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "properties/case.h"
#include "properties/strict_json.h"

namespace packcheck {

/// A case type for struct T: implement the typed functions, get the erased ones.
template <class T>
class TypedCaseType : public CaseType {
 public:
  using CaseType::CaseType;
  using Json = nlohmann::ordered_json;

  [[nodiscard]] virtual T draw_value(Source& source, std::string_view variant) const = 0;
  [[nodiscard]] virtual std::string variant_of(const T& value) const = 0;
  [[nodiscard]] virtual Json write(const T& value) const = 0;
  [[nodiscard]] virtual Result<T> read(MemberReader& members) const = 0;
  [[nodiscard]] virtual std::vector<T> split(const T&) const { return {}; }
  /// The length of the JSON form where a type says nothing else.
  [[nodiscard]] virtual std::size_t payload(const T& value) const { return write(value).dump().size(); }

  [[nodiscard]] Case wrap(T value) const { return {this, std::make_shared<const T>(std::move(value))}; }

  [[nodiscard]] Case draw(Source& source, std::string_view name) const final { return wrap(draw_value(source, name)); }
  [[nodiscard]] std::string variant(const Case& c) const final { return variant_of(c.as<T>()); }
  [[nodiscard]] std::string to_json(const Case& c) const final { return write(c.as<T>()).dump(); }
  [[nodiscard]] Result<Case> from_json(std::string_view text) const final {
    const Result<Json> parsed = parse_strict_json(text);
    if (!parsed) return tl::unexpected(parsed.error());
    MemberReader members(*parsed, std::string(name()) + " case");
    Result<T> value = read(members);
    if (Result<void> ok = members.finish(); !ok) return tl::unexpected(ok.error());
    if (!value) return tl::unexpected(value.error());
    return wrap(std::move(*value));
  }
  /// The bits of classes_of(); call member_bits() with the conditions in the order of classes().
  [[nodiscard]] virtual std::uint64_t members(const T&) const { return 0; }
  [[nodiscard]] std::uint64_t classes_of(const Case& c) const final { return members(c.as<T>()); }
  [[nodiscard]] std::size_t payload_bytes(const Case& c) const final { return payload(c.as<T>()); }
  [[nodiscard]] std::vector<Case> halves(const Case& c) const final {
    std::vector<Case> cases;
    for (T& half : split(c.as<T>())) cases.push_back(wrap(std::move(half)));
    return cases;
  }
};

/// Bit i for the i-th condition.
inline std::uint64_t member_bits(std::initializer_list<bool> conditions) {
  std::uint64_t bits = 0;
  std::uint64_t bit = 1;
  for (const bool condition : conditions) {
    bits |= condition ? bit : 0;
    bit <<= 1;
  }
  return bits;
}

/// Smaller numbers than `bits`, a power of two below it each, the largest first.
inline std::vector<std::uint64_t> smaller_numbers(std::uint64_t bits) {
  std::vector<std::uint64_t> smaller;
  for (std::uint64_t step = std::uint64_t{1} << 63; step != 0; step >>= 1)
    if (step <= bits) smaller.push_back(bits - step);
  return smaller;
}

/// Both halves of an array that holds `unit`-sized pieces; nothing when it holds only one.
template <class Array>
std::vector<Array> split_array(const Array& whole, std::size_t unit) {
  const std::size_t pieces = whole.size() / unit;
  if (pieces < 2) return {};
  const auto middle = whole.begin() + static_cast<std::ptrdiff_t>(pieces / 2 * unit);
  return {Array(whole.begin(), middle), Array(middle, whole.end())};
}

}  // namespace packcheck
