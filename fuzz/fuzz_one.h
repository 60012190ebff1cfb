// fuzz/fuzz_one.h: what every fuzz target does: bytes to a case, the reference to the law, and a stop
// with the line that reproduces it when the law breaks.
//
// The stop looks like a failed assertion with the signature as its message, so that crash
// deduplication upstream tells findings apart by law and place, never by value.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace packcheck {

/// Puts the bytes to one law in one variant: wire format where its case type has one, else choices.
void fuzz_law(std::string_view law, std::string_view variant, std::span<const std::uint8_t> bytes);

/// Every law whose case type is `family`, in this variant.
void fuzz_variant(std::string_view family, std::string_view variant, std::span<const std::uint8_t> bytes);

/// Every law whose case type is `family`, in every variant the reference declares if they are few, else in the one
/// that the bytes choose.
void fuzz_family(std::string_view family, std::span<const std::uint8_t> bytes);

/// The first two bytes choose a law and a variant, the rest is put to it: any row of the registry.
void fuzz_any_law(std::span<const std::uint8_t> bytes);

}  // namespace packcheck
