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

#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

enum class NonFinitePrinting : std::uint8_t {
  refuse,  ///< the reference: JSON has no NaN or infinity
  bare,    ///< the seed's exporter without its guard: NaN, Infinity, -Infinity
  null     ///< nlohmann_json, JavaScript: the value is dropped
};
enum class Digits : std::uint8_t { shortest, six, fifteen };
enum class SubnormalPrinting : std::uint8_t { kept, flushed };  ///< flushed: 0, as under flush-to-zero
enum class ZeroPrinting : std::uint8_t { with_sign, without_sign };
enum class NonFiniteParsing : std::uint8_t { refuse, accept };
enum class ParsePrecision : std::uint8_t {
  f64,
  f32,         ///< read into a float field: every packed parameter becomes 0
  best_effort  ///< the digits as an integer, times or divided by a power of ten: two roundings (serde_json's default)
};
enum class SubnormalParsing : std::uint8_t {
  kept,
  flushed,  ///< 0, as under flush-to-zero
  refused   ///< strtod's ERANGE taken for an error (std::stod, parson, ember)
};
enum class NegativeZeroParsing : std::uint8_t {
  kept,
  integer  ///< "-0" has no point, so it is the integer 0 (nlohmann_json's DOM, Python)
};
enum class PointParsing : std::uint8_t {
  read,
  ends_the_number  ///< strtod under a locale with a decimal comma: 9.7517E-319 is 9
};
enum class NullParsing : std::uint8_t {
  refuse,
  zero  ///< null in a number's place is 0.0 (Jackson, protobuf)
};

/// The choices of one printer; the defaults are the reference.
struct PrintRules {
  NonFinitePrinting non_finite = NonFinitePrinting::refuse;
  Digits digits = Digits::shortest;
  SubnormalPrinting subnormal = SubnormalPrinting::kept;
  ZeroPrinting zero = ZeroPrinting::with_sign;
  friend bool operator==(const PrintRules&, const PrintRules&) = default;
};
/// The choices of one parser; the defaults are the reference.
struct ParseRules {
  NonFiniteParsing non_finite = NonFiniteParsing::refuse;
  ParsePrecision precision = ParsePrecision::f64;
  SubnormalParsing subnormal = SubnormalParsing::kept;
  NegativeZeroParsing negative_zero = NegativeZeroParsing::kept;
  PointParsing point = PointParsing::read;
  NullParsing null = NullParsing::refuse;
  friend bool operator==(const ParseRules&, const ParseRules&) = default;
};

/// The shortest JSON number that reads back to these 64 bits. It always has a point or an exponent
/// ("5.0", "-0.0"), so that no reader takes it for an integer. Refuses NaN and infinities.
[[nodiscard]] Result<std::string> print_number(std::uint64_t bits, const PrintRules& rules = {});
/// The same, at the end of `out`; a refusal appends nothing.
[[nodiscard]] Result<void> append_number(std::string& out, std::uint64_t bits, const PrintRules& rules = {});

/// Whether `text` is a number of RFC 8259 §6, nothing before or after it.
[[nodiscard]] bool is_json_number(std::string_view text);

/// The bits of the double nearest to `text`, ties to even. Refuses what is not a JSON number
/// and what is too large for a double; text below half the smallest subnormal gives (-)0.
[[nodiscard]] Result<std::uint64_t> parse_number(std::string_view text, const ParseRules& rules = {});

/// The code of the number of `format` (f64 f32 f16 bf16 or another floating one) nearest to `text`, ties to even, in
/// one rounding: a decimal just beside the middle of two halves is a tie once it is a double, and goes to its own
/// side here. Refuses what is not a JSON number and what rounds past the largest.
[[nodiscard]] Result<std::uint64_t> parse_number_as(Format format, std::string_view text);

/// Whether the double nearest to `text` is exactly the number that is written: 0.5 and 9007199254740992 are,
/// 0.1 and 9007199254740993 are not. Refuses as parse_number() does.
[[nodiscard]] Result<bool> is_exact_number(std::string_view text);

}  // namespace packcheck
