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

[[gnu::noinline]] void append_finite(std::string& out, const std::uint64_t& bits, Digits digits) {
  std::array<char, 40> text;  // NOLINT(cppcoreguidelines-pro-type-member-init): to_chars fills what is used
  const double value = std::bit_cast<double>(bits);
  char* const end = text.data() + text.size();
  std::to_chars_result written{};
  // In the general form to_chars spells integers from 2^53 on with all their digits.
  if (digits != Digits::shortest)
    written = std::to_chars(text.data(), end, value, std::chars_format::general, digits == Digits::six ? 6 : 15);
  else if ((bits & ~kSign) >= kTwoTo53)
    written = std::to_chars(text.data(), end, value, std::chars_format::scientific);
  else
    written = std::to_chars(text.data(), end, value);
  const std::string_view result(text.data(), static_cast<std::size_t>(written.ptr - text.data()));
  out.append(result);
  if (result.find_first_of(".e") == std::string_view::npos) out.append(".0");
}

[[gnu::noinline]] std::uint64_t parse_finite(std::string_view text) {
  double value = 0.0;
  fast_float::from_chars(text.data(), text.data() + text.size(), value);
  return std::bit_cast<std::uint64_t>(value);
}

/// What serde_json and RapidJSON do by default: as many digits as an integer of 64 bits holds, then one division or
/// product a power of ten, each rounded.
[[gnu::noinline]] double best_effort(const std::string_view& text) {
  std::uint64_t significand = 0;
  int exponent = 0;
  std::size_t at = text[0] == '-' ? 1 : 0;
  bool after_point = false;
  bool full = false;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      after_point = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(text[at] - '0');
    full = full || significand > (~std::uint64_t{0} - digit) / 10;
    if (!full) significand = significand * 10 + digit;
    exponent += (full ? 1 : 0) - (after_point ? 1 : 0);
  }
  if (at < text.size()) {
    int written = 0;
    const std::size_t sign = text[at + 1] == '+' ? 1 : 0;
    if (std::from_chars(text.data() + at + 1 + sign, text.data() + text.size(), written).ec == std::errc())
      exponent += written < -100000 ? -100000 : written > 100000 ? 100000 : written;
  }
  const auto power_of_ten = [](int power) {
    double value = 0.0;
    const std::string written = "1e" + std::to_string(power);
    fast_float::from_chars(written.data(), written.data() + written.size(), value);
    return value;
  };
  double value = static_cast<double>(significand);
  for (; exponent < -308 && value != 0.0; exponent += 308) value /= 1e308;
  if (value != 0.0)
    value = exponent < 0 ? value / power_of_ten(-exponent) : value * power_of_ten(exponent > 308 ? 400 : exponent);
  return text[0] == '-' ? -value : value;
}

[[gnu::noinline]] std::string decimal_expansion(const std::uint64_t& bits) {
  std::array<char, 1500> text{};
  constexpr int kMostFraction = 1074;  // 2^-1074 has that many digits after the point
  const auto written = std::to_chars(text.data(), text.data() + text.size(), std::bit_cast<double>(bits & ~kSign),
                                     std::chars_format::fixed, kMostFraction);
  return {text.data(), written.ptr};
}

/// A decimal as its significant digits and the power of ten of the first: 0.05e3 is "5" and 1. Zero has no digits.
struct Decimal {
  std::string digits;
  std::int64_t power = 0;
};

Decimal decimal_of(std::string_view text) {
  Decimal decimal;
  std::int64_t point = 0;  // digits before it, leading zeros counted
  std::int64_t leading = 0;
  bool after_point = false;
  std::size_t at = text[0] == '-' ? 1 : 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      after_point = true;
      continue;
    }
    point += after_point ? 0 : 1;
    if (text[at] != '0' || !decimal.digits.empty()) decimal.digits.push_back(text[at]);
    if (decimal.digits.empty()) ++leading;
  }
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  std::int64_t exponent = 0;
  if (at < text.size()) {
    const std::size_t sign = text[at + 1] == '+' ? 1 : 0;
    const auto read = std::from_chars(text.data() + at + 1 + sign, text.data() + text.size(), exponent);
    constexpr std::int64_t kFar = std::int64_t{1} << 40;  // longer than any text
    if (read.ec != std::errc()) exponent = text[at + 1] == '-' ? -kFar : kFar;
  }
  decimal.power = point - leading - 1 + exponent;
  return decimal;
}

/// Below 0, 0 or above 0: |text| against |bits|, exactly.
int compare_magnitude(std::string_view text, std::uint64_t bits) {
  const Decimal one = decimal_of(text);
  const Decimal other = decimal_of(decimal_expansion(bits));
  if (one.digits.empty() || other.digits.empty())
    return static_cast<int>(!one.digits.empty()) - static_cast<int>(!other.digits.empty());
  if (one.power != other.power) return one.power < other.power ? -1 : 1;
  return one.digits.compare(other.digits);
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
  std::string text;
  const Result<void> printed = append_number(text, bits, rules);
  if (!printed) return tl::unexpected(printed.error());
  return text;
}

Result<void> append_number(std::string& out, std::uint64_t bits, const PrintRules& rules) {
  if ((bits & ~kSign) >= kInfinity) {
    if (rules.non_finite == NonFinitePrinting::refuse)
      return refuse(bare_non_finite(bits) + " is not a JSON number", "print",
                    "a finite double, or the 64 bits as a hex string in a field of their own");
    out.append(rules.non_finite == NonFinitePrinting::bare ? bare_non_finite(bits) : "null");
    return {};
  }
  if (rules.subnormal == SubnormalPrinting::flushed && (bits & kInfinity) == 0) bits &= kSign;
  if (rules.zero == ZeroPrinting::without_sign && bits == kSign) bits = 0;
  const ExactEnvironment exact;
  append_finite(out, bits, rules.digits);
  return {};
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

namespace {

/// What rules other than the reference's make of the right bits.
Result<std::uint64_t> as_ruled(std::uint64_t bits, std::string_view text, const ParseRules& rules) {
  const std::uint64_t magnitude = bits & ~kSign;
  const bool subnormal = magnitude != 0 && (bits & kInfinity) == 0;
  if (subnormal && rules.subnormal == SubnormalParsing::refused)
    return refuse(quoted_start(text).append(" is out of range"), "parse", "a normal number");
  if (subnormal && rules.subnormal == SubnormalParsing::flushed) return bits & kSign;
  if (rules.negative_zero == NegativeZeroParsing::integer && text == "-0") return 0;
  if (rules.precision == ParsePrecision::f32)
    return convert(Format::f32, Format::f64, convert(Format::f64, Format::f32, bits));
  return bits;
}

}  // namespace

Result<std::uint64_t> parse_number(std::string_view text, const ParseRules& rules) {
  if (rules.null == NullParsing::zero && text == "null") return 0;
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
  if (rules.point == PointParsing::ends_the_number) text = text.substr(0, text.find('.'));
  const std::uint64_t bits = rules.precision == ParsePrecision::best_effort
                                 ? std::bit_cast<std::uint64_t>(best_effort(text))
                                 : parse_finite(text);
  if ((bits & ~kSign) >= kInfinity && rules.non_finite == NonFiniteParsing::refuse)
    return refuse(quoted_start(text).append(" is too large for a double"), "parse",
                  "a magnitude below 1.7976931348623159e308");
  return as_ruled(bits, text, rules);
}

Result<std::uint64_t> parse_number_as(Format format, std::string_view text) {
  const Result<std::uint64_t> parsed = parse_number(text);
  if (!parsed || format == Format::f64) return parsed;
  const std::uint64_t bits = *parsed;
  const ExactEnvironment exact;
  std::uint64_t code = convert(Format::f64, format, bits);
  if ((bits & ~kSign) != 0) {
    // The middle of two codes is the smallest double that goes up where ties do.
    const ConvertRules ties_away{.rounding = Rounding::nearest_away};
    const std::uint64_t above = convert(Format::f64, format, bits, ties_away);
    const std::uint64_t below = convert(Format::f64, format, bits - 1, ties_away);
    const int side = above == below ? 0 : compare_magnitude(text, bits);
    if (side != 0) code = side < 0 ? below : above;
  }
  const FormatSpec& s = spec(format);
  if (!is_infinite(s, code) && !is_nan(s, code)) return code;
  std::string what = quoted_start(text);
  what.append(" is too large for ").append(s.name);
  return refuse(std::move(what), "parse", "a number that does not round past the largest");
}

Result<bool> is_exact_number(std::string_view text) {
  const Result<std::uint64_t> bits = parse_number(text);
  if (!bits) return tl::unexpected(bits.error());
  const ExactEnvironment exact;
  return compare_magnitude(text, *bits) == 0;
}

}  // namespace packcheck
