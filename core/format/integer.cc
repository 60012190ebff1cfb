#include "core/format/integer.h"

#include <algorithm>
#include <bit>
#include <string>

namespace packcheck {
namespace {

/// Doubles without fractions: the smallest subnormal is 1, so that codes below 2^53 are the whole numbers
/// themselves, and rounding to this format rounds to whole numbers.
constexpr FormatSpec kWhole{Format::f64, "whole", 11, 52, -51, true, NanCodes::ieee, Overflow::infinity, true};
constexpr std::uint64_t kExact = std::uint64_t{1} << 53;

/// A number rounded to a whole one.
struct Whole {
  bool is_nan = false;
  std::int64_t value = 0;  ///< a number of 2^53 and more, and an infinity, counts as 2^53
};

std::int64_t sign_extended(const FormatSpec& s, std::uint64_t bits) {
  const int above = 64 - s.width();
  return static_cast<std::int64_t>(bits << above) >> above;
}

Whole whole_of(Format from, std::uint64_t bits, const ConvertRules& rules) {
  if (spec(from).is_integer()) return {false, sign_extended(spec(from), bits)};
  if (is_nan(spec(from), bits)) return {true, 0};
  const FormatSpec& f64 = spec(Format::f64);
  const std::uint64_t wide = convert(spec(from), f64, bits, {.subnormal = rules.subnormal});
  const std::uint64_t code = convert(f64, kWhole, wide, {.rounding = rules.rounding, .random_bits = rules.random_bits});
  const auto magnitude = static_cast<std::int64_t>(std::min(code & f64.magnitude_mask(), kExact));
  return {false, (code & f64.sign_bit()) != 0 ? -magnitude : magnitude};
}

std::int64_t largest(const FormatSpec& s) { return static_cast<std::int64_t>(s.largest_finite()); }
bool holds(const FormatSpec& s, std::int64_t value) { return value >= -largest(s) - 1 && value <= largest(s); }
std::int64_t saturated(const FormatSpec& s, std::int64_t value) {
  return std::clamp(value, -largest(s) - 1, largest(s));
}

std::int64_t by_rule(const FormatSpec& to, const Whole& whole, IntegerRule rule) {
  const FormatSpec& i32 = spec(Format::i32);
  switch (rule) {
    case IntegerRule::saturate:
    case IntegerRule::refuse: return saturated(to, whole.value);
    case IntegerRule::wrap: return saturated(i32, whole.value);
    case IntegerRule::indefinite: return !whole.is_nan && holds(i32, whole.value) ? whole.value : -largest(i32) - 1;
  }
  return 0;
}

std::uint64_t to_floating(Format from, Format to, std::uint64_t bits, ConvertRules rules) {
  if (rules.from_integer == FromInteger::truncated) rules.rounding = Rounding::toward_zero;
  const std::int64_t value = sign_extended(spec(from), bits);
  const auto exact = static_cast<double>(value);  // at most 32 bits: no rounding, in any environment
  return convert(spec(Format::f64), spec(to), value == 0 ? 0 : std::bit_cast<std::uint64_t>(exact), rules);
}

}  // namespace

std::uint64_t convert_integer(Format from, Format to, std::uint64_t bits, const ConvertRules& rules) {
  if (!spec(to).is_integer()) return to_floating(from, to, bits, rules);
  return static_cast<std::uint64_t>(by_rule(spec(to), whole_of(from, bits, rules), rules.integer)) &
         spec(to).all_bits();
}

bool integer_holds(Format from, Format to, std::uint64_t bits, const ConvertRules& rules) {
  const Whole whole = whole_of(from, bits, rules);
  return !whole.is_nan && holds(spec(to), whole.value);
}

Result<void> check_integers(Format from, Format to, std::span<const std::uint8_t> in, const ConvertRules& rules) {
  if (rules.integer != IntegerRule::refuse || !spec(to).is_integer()) return {};
  const std::int64_t most = largest(spec(to));
  for (std::size_t i = 0; i < in.size() / spec(from).bytes(); ++i) {
    if (integer_holds(from, to, load_element(spec(from), in, i), rules)) continue;
    return refuse("element " + std::to_string(i) + " is no number of " + std::string(spec(to).name),
                  "convert " + std::string(spec(from).name) + "->" + std::string(spec(to).name),
                  "numbers that round to " + std::to_string(-most - 1) + ".." + std::to_string(most));
  }
  return {};
}

}  // namespace packcheck
