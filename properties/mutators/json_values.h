// properties/mutators/json_values.h: where the values of a JSON text begin and end, and texts with one of
// them changed. Words that are no JSON (NaN, 0x10) are values too, so that a text stays one that can be
// mutated. Proved by tests/properties/mutators_test.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/mutators/dice.h"

namespace packcheck {

/// Where one value stands in a text.
struct JsonSpan {
  enum class Kind : std::uint8_t { object, array, string, word };  ///< word: a number, null, NaN
  Kind kind = Kind::word;
  std::size_t begin = 0;  ///< bytes of the value
  std::size_t end = 0;
  std::size_t parent = 0;     ///< the document is its own parent
  std::size_t key_begin = 0;  ///< with its quotes; equal to key_end in an array
  std::size_t key_end = 0;

  [[nodiscard]] bool is_member() const { return key_end > key_begin; }
  /// With its key, if it has one.
  [[nodiscard]] std::size_t whole_begin() const { return is_member() ? key_begin : begin; }
};
/// Every value, each after its parent; nothing where brackets or quotes do not match.
[[nodiscard]] std::vector<JsonSpan> json_values(std::string_view text);

/// The text with one value changed, moved, lost or said twice. `members` are worth adding: R"("id":0)".
[[nodiscard]] std::optional<std::string> mutated_json(std::string_view text, std::span<const std::string_view> members,
                                                      Dice& dice);
/// A value of `other` in the place of a value of the same kind.
[[nodiscard]] std::optional<std::string> crossed_json(std::string_view text, std::string_view other, Dice& dice);

}  // namespace packcheck
