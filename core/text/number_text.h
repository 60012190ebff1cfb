// core/text: doubles as JSON number text, exactly.
//
// Printing is std::to_chars (shortest) and parsing fast_float, both inside an ExactEnvironment,
// because to_chars prints a subnormal as 0 under flush-to-zero. Both are independent of the locale.
// Proved by tests/core/text_test.cc (under FTZ/DAZ, four rounding modes, a comma locale, against
// MPFR) and by the text.* laws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"

namespace packcheck {

enum class NonFinitePrinting : std::uint8_t {
  refuse,  ///< the reference: JSON has no NaN or infinity
  bare     ///< the seed's exporter without its guard: NaN, Infinity, -Infinity
};
enum class Digits : std::uint8_t { shortest, six };
enum class NonFiniteParsing : std::uint8_t { refuse, accept };
enum class ParsePrecision : std::uint8_t {
  f64,
  f32  ///< read into a float field: every packed parameter becomes 0
};

/// The choices of one printer; the defaults are the reference.
struct PrintRules {
  NonFinitePrinting non_finite = NonFinitePrinting::refuse;
  Digits digits = Digits::shortest;
  friend bool operator==(const PrintRules&, const PrintRules&) = default;
};
/// The choices of one parser; the defaults are the reference.
struct ParseRules {
  NonFiniteParsing non_finite = NonFiniteParsing::refuse;
  ParsePrecision precision = ParsePrecision::f64;
  friend bool operator==(const ParseRules&, const ParseRules&) = default;
};

/// The shortest JSON number that reads back to these 64 bits. It always has a point or an exponent
/// ("5.0", "-0.0"), so that no reader takes it for an integer. Refuses NaN and infinities.
[[nodiscard]] Result<std::string> print_number(std::uint64_t bits, const PrintRules& rules = {});

/// Whether `text` is a number of RFC 8259 §6, nothing before or after it.
[[nodiscard]] bool is_json_number(std::string_view text);

/// The bits of the double nearest to `text`, ties to even. Refuses what is not a JSON number
/// and what is too large for a double; text below half the smallest subnormal gives (-)0.
[[nodiscard]] Result<std::uint64_t> parse_number(std::string_view text, const ParseRules& rules = {});

}  // namespace packcheck
