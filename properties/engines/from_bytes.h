// properties/engines/from_bytes.h: a fuzzer's bytes as a case: wire format where the case type has
// one, choices elsewhere. Used by the fuzz engine, the libFuzzer targets and `packcheck repro`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "properties/engines/hunt.h"

namespace packcheck {

/// A case and the recipe that shrinks it.
struct ByteCase {
  Case c;
  Recipe recipe;
};
/// Every byte string as choices, also where the case type has a wire format.
[[nodiscard]] ByteCase case_from_choice_bytes(const Law& law, std::string_view variant,
                                              std::span<const std::uint8_t> bytes);
/// As wire format where the case type has one, else as choices.
[[nodiscard]] ByteCase case_from_bytes(const Law& law, std::string_view variant, std::span<const std::uint8_t> bytes);

/// What the first bytes of an input choose where a target judges several laws, as laws_fuzzer does: `law` and `variant`
/// are to be taken modulo how many there are. The case is made of the rest. Nothing where there are too few bytes.
struct ChosenBytes {
  std::size_t law;      ///< 1 byte
  std::size_t variant;  ///< 2 bytes, little-endian
  std::span<const std::uint8_t> rest;
};
inline constexpr std::size_t kChoosingBytes = 3;
[[nodiscard]] std::optional<ChosenBytes> chosen_by(std::span<const std::uint8_t> bytes);

}  // namespace packcheck
