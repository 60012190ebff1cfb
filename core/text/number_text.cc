#include "core/text/number_text.h"

#include <fast_float/fast_float.h>

#include <array>
#include <bit>
#include <charconv>

#include "core/environment.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;
constexpr std::uint64_t kTwoTo53 = std::uint64_t{1023 + 53} << 52;

std::string bare_non_finite(std::uint64_t bits) {
  if ((bits & ~kSign) > kInfinity) return "NaN";
  return (bits & kSign) != 0 ? "-Infinity" : "Infinity";
}

[[gnu::noinline]] std::string print_finite(const std::uint64_t& bits, Digits digits) {
  std::array<char, 40> text{};
  const double value = std::bit_cast<double>(bits);
  char* const end = text.data() + text.size();
  std::to_chars_result written{};
  // In the general form to_chars spells integers from 2^53 on with all their digits.
  if (digits == Digits::six)
    written = std::to_chars(text.data(), end, value, std::chars_format::general, 6);
  else if ((bits & ~kSign) >= kTwoTo53)
    written = std::to_chars(text.data(), end, value, std::chars_format::scientific);
  else
    written = std::to_chars(text.data(), end, value);
  std::string result(text.data(), written.ptr);
  if (result.find_first_of(".e") == std::string::npos) result += ".0";
  return result;
}

[[gnu::noinline]] std::uint64_t parse_finite(std::string_view text) {
  double value = 0.0;
  fast_float::from_chars(text.data(), text.data() + text.size(), value);
  return std::bit_cast<std::uint64_t>(value);
}

/// The start of a text, in quotes. Appended piece by piece: g++ 12 warns wrongly of overlap in a
/// chain of operator+ at -O3.
std::string quoted_start(std::string_view text) {
  std::string quoted(1, '\'');
  quoted.append(text.substr(0, 40));
  quoted.push_back('\'');
  return quoted;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Skips digits from `at`; the position after them.
std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

}  // namespace

Result<std::string> print_number(std::uint64_t bits, const PrintRules& rules) {
  if ((bits & ~kSign) >= kInfinity) {
    if (rules.non_finite == NonFinitePrinting::bare) return bare_non_finite(bits);
    return refuse(bare_non_finite(bits) + " is not a JSON number", "print",
                  "a finite double, or the 64 bits as a hex string in a field of their own");
  }
  const ExactEnvironment exact;
  return print_finite(bits, rules.digits);
}

bool is_json_number(std::string_view text) {
  std::size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t integer = at;
  at = skip_digits(text, at);
  if (at == integer || (text[integer] == '0' && at - integer > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = at + 1;
    at = skip_digits(text, fraction);
    if (at == fraction) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    at = skip_digits(text, exponent);
    if (at == exponent) return false;
  }
  return at == text.size();
}

Result<std::uint64_t> parse_number(std::string_view text, const ParseRules& rules) {
  if (rules.non_finite == NonFiniteParsing::accept) {
    const bool negative = !text.empty() && text[0] == '-';
    const std::string_view word = negative ? text.substr(1) : text;
    if (word == "Infinity") return kInfinity | (negative ? kSign : 0);
    if (word == "NaN") return kInfinity | std::uint64_t{1} << 51;
  }
  if (!is_json_number(text))
    return refuse(quoted_start(text).append(" is not a JSON number"), "parse",
                  "-? digits, optional fraction, optional exponent (RFC 8259 section 6)");
  const ExactEnvironment exact;
  const std::uint64_t bits = parse_finite(text);
  if ((bits & ~kSign) >= kInfinity && rules.non_finite == NonFiniteParsing::refuse)
    return refuse(quoted_start(text).append(" is too large for a double"), "parse",
                  "a magnitude below 1.7976931348623159e308");
  if (rules.precision == ParsePrecision::f32)
    return convert(Format::f32, Format::f64, convert(Format::f64, Format::f32, bits));
  return bits;
}

}  // namespace packcheck
