#include "properties/oracles/format_oracle.h"

#include <bit>

namespace packcheck::oracle {
namespace {

using Wide = unsigned __int128;

/// What stands above the largest finite magnitude code.
enum class Above {
  infinity_and_nans,  ///< the next code is infinity, all others are NaNs
  one_nan,            ///< the next code is the only NaN (of each sign, where there are two)
  nothing             ///< no code is left
};

/// A format as an ordered list of magnitude codes 0 .. largest; OCP FP8 1.0 tables 1 and 2, OCP MX 1.0
/// tables 2 to 6, IEEE 754-2019 table 3.5.
struct Shape {
  int fraction_bits;
  int lowest;             ///< exponent of the last bit of the smallest numbers
  std::uint64_t largest;  ///< code of the largest finite number
  std::uint64_t sign;     ///< what the sign adds to a code; 0: no negative numbers
  Above above;
  bool minus_zero_is_nan = false;
  bool powers_of_two = false;  ///< and no zero
};

/// Codes 0 .. 2^60 are the numbers 0 .. 2^60: more than any integer format holds.
constexpr Shape kWholeNumbers{61, 0, std::uint64_t{1} << 60, std::uint64_t{1} << 63, Above::nothing};

Shape shape_of(Format format) {
  switch (format) {
    case Format::f64: return {52, -1074, 0x7FEFFFFFFFFFFFFF, 0x8000000000000000, Above::infinity_and_nans};
    case Format::f32: return {23, -149, 0x7F7FFFFF, 0x80000000, Above::infinity_and_nans};
    case Format::f16: return {10, -24, 0x7BFF, 0x8000, Above::infinity_and_nans};
    case Format::bf16: return {7, -133, 0x7F7F, 0x8000, Above::infinity_and_nans};
    case Format::e5m2: return {2, -16, 0x7B, 0x80, Above::infinity_and_nans};
    case Format::e4m3: return {3, -9, 0x77, 0x80, Above::infinity_and_nans};
    case Format::e3m4: return {4, -6, 0x6F, 0x80, Above::infinity_and_nans};
    case Format::e4m3fn: return {3, -9, 0x7E, 0x80, Above::one_nan};
    case Format::e4m3fnuz: return {3, -10, 0x7F, 0x80, Above::nothing, true};
    case Format::e5m2fnuz: return {2, -17, 0x7F, 0x80, Above::nothing, true};
    case Format::e4m3b11fnuz: return {3, -13, 0x7F, 0x80, Above::nothing, true};
    case Format::e8m0: return {0, -127, 0xFE, 0, Above::one_nan, false, true};
    case Format::e3m2: return {2, -4, 0x1F, 0x20, Above::nothing};
    case Format::e2m3: return {3, -3, 0x1F, 0x20, Above::nothing};
    case Format::e2m1: return {1, -1, 0x7, 0x8, Above::nothing};
    case Format::ue4m3: return {3, -9, 0x7E, 0, Above::one_nan};
    case Format::e5m3: return {3, -17, 0xFE, 0, Above::one_nan};
    case Format::i8:
    case Format::i32: return kWholeNumbers;
  }
  return {};
}

std::uint64_t power_of_two(int exponent) { return std::uint64_t{1} << exponent; }
/// How many codes share a magnitude field: codes modulo this are magnitudes.
std::uint64_t magnitudes(const Shape& s) { return s.sign != 0 ? s.sign : s.largest + 2; }
bool is_negative(const Shape& s, std::uint64_t bits) { return s.sign != 0 && bits / s.sign % 2 == 1; }
bool has_payload(const Shape& s) { return s.above == Above::infinity_and_nans; }
bool is_nan_code(const Shape& s, std::uint64_t bits) {
  const std::uint64_t magnitude = bits % magnitudes(s);
  if (s.minus_zero_is_nan) return magnitude == 0 && is_negative(s, bits);
  return magnitude > s.largest + (has_payload(s) ? 1 : 0);
}

/// The exact number significand · 2^exponent.
struct Exact {
  std::uint64_t significand;
  int exponent;
};

/// The number a finite magnitude code stands for; also of the code after the largest, were it one.
Exact value_of(const Shape& s, std::uint64_t code) {
  if (s.powers_of_two) return {1, s.lowest + static_cast<int>(code)};
  const std::uint64_t binade = power_of_two(s.fraction_bits);
  if (code < binade) return {code, s.lowest};
  const auto field = static_cast<int>(code / binade);
  return {binade + code % binade, s.lowest + field - 1};
}

/// -1, 0 or 1 as a < b, a = b, a > b.
int compare(const Exact& a, const Exact& b) {
  if (a.significand == 0 || b.significand == 0) return (a.significand != 0 ? 1 : 0) - (b.significand != 0 ? 1 : 0);
  const int a_top = static_cast<int>(std::bit_width(a.significand)) + a.exponent;
  const int b_top = static_cast<int>(std::bit_width(b.significand)) + b.exponent;
  if (a_top != b_top) return a_top < b_top ? -1 : 1;
  // Leading bits at the same place: the exponents differ by less than 64.
  const int common = a.exponent < b.exponent ? a.exponent : b.exponent;
  const Wide a_scaled = static_cast<Wide>(a.significand) << (a.exponent - common);
  const Wide b_scaled = static_cast<Wide>(b.significand) << (b.exponent - common);
  if (a_scaled == b_scaled) return 0;
  return a_scaled < b_scaled ? -1 : 1;
}

/// The largest finite code whose number is not above `x`; 0 if there is none.
std::uint64_t code_not_above(const Shape& s, const Exact& x) {
  std::uint64_t below = 0;
  std::uint64_t above = s.largest + 1;
  while (above - below > 1) {
    const std::uint64_t middle = below + (above - below) / 2;
    (compare(value_of(s, middle), x) <= 0 ? below : above) = middle;
  }
  return below;
}

/// Whether stochastic rounding of `x`, just above `low`, goes up: random_bits / 2^64 is below the distance,
/// counted in last places of `low`.
bool chance_goes_up(const Exact& x, const Exact& low, std::uint64_t random_bits) {
  std::uint64_t distance = x.significand;  // in units of 2^x.exponent
  if (low.significand != 0 && low.exponent >= x.exponent)
    distance -= low.significand << (low.exponent - x.exponent);  // at most x, so nothing is lost
  return compare({random_bits, -64}, {distance, x.exponent - low.exponent}) < 0;
}

/// The magnitude code for `x`, which lies between the codes `lower` and `lower + 1`. The code after
/// the largest finite one stands where the next number would be.
std::uint64_t choose(const Shape& s, const Exact& x, std::uint64_t lower, bool negative, const ConvertRules& rules) {
  const Exact low = value_of(s, lower);
  const int above_low = compare(x, low);
  if (above_low <= 0) return lower;  // below: x is smaller than the smallest number
  const std::uint64_t upper = lower + 1;
  switch (rules.rounding) {
    case Rounding::toward_zero: return lower;
    case Rounding::upward: return negative ? lower : upper;
    case Rounding::downward: return negative ? upper : lower;
    case Rounding::stochastic: return chance_goes_up(x, low, rules.random_bits) ? upper : lower;
    case Rounding::nearest_even:
    case Rounding::nearest_up:
    case Rounding::nearest_away: break;
  }
  const Exact high = value_of(s, upper);
  // Powers of two are their own last place: half way between 2^n and 2^(n+1) is 3 · 2^(n-1).
  const Exact half_way =
      s.powers_of_two ? Exact{3, high.exponent - 2} : Exact{2 * low.significand + 1, low.exponent - 1};
  const int side = compare(x, half_way);
  if (side != 0) return side < 0 ? lower : upper;
  if (rules.rounding == Rounding::nearest_away) return upper;
  if (rules.rounding == Rounding::nearest_up) return negative ? lower : upper;
  // One-digit significands are all odd: the larger number (IEEE 754-2019 section 4.3.1).
  if (s.powers_of_two) return upper;
  return lower % 2 == 0 ? lower : upper;
}

/// The NaN that a format makes where it has none to keep; -0 for want of a NaN.
std::uint64_t made_nan(const Shape& s, bool negative) {
  if (s.minus_zero_is_nan) return s.sign;
  if (s.above == Above::nothing) return s.sign;
  const std::uint64_t sign = negative ? s.sign : 0;
  return sign + s.largest + 1 + (has_payload(s) ? power_of_two(s.fraction_bits - 1) : 0);
}

/// The payload of a NaN as a 64-bit fraction, leading bit first, cut to the payload bits of `to`.
std::uint64_t kept_payload(const Shape& from, const Shape& to, std::uint64_t bits) {
  const std::uint64_t fraction = bits % power_of_two(from.fraction_bits) * power_of_two(64 - from.fraction_bits);
  return fraction / power_of_two(64 - to.fraction_bits);
}

/// The NaN of `to` for the NaN `bits` of `from`; `payload` says what becomes of a payload cut to size.
template <class Payload>
std::uint64_t nan_of_nan(Format from_format, Format to_format, std::uint64_t bits, Payload payload) {
  const Shape from = shape_of(from_format);
  const Shape to = shape_of(to_format);
  const bool negative = !from.minus_zero_is_nan && is_negative(from, bits);
  if (!has_payload(from) || !has_payload(to)) return made_nan(to, negative);
  const std::uint64_t quiet = power_of_two(to.fraction_bits - 1);
  return (negative ? to.sign : 0) + to.largest + 1 + payload(kept_payload(from, to, bits), quiet);
}

std::uint64_t signed_zero(const Shape& s, bool negative) {
  if (s.powers_of_two) return made_nan(s, false);
  return negative && !s.minus_zero_is_nan ? s.sign : 0;
}

/// What a number beyond the largest becomes, infinity included.
std::uint64_t beyond(const Shape& s, bool negative, bool saturating) {
  const std::uint64_t sign = negative ? s.sign : 0;
  if (saturating || (s.above == Above::nothing && !s.minus_zero_is_nan)) return sign + s.largest;
  return has_payload(s) ? sign + s.largest + 1 : made_nan(s, negative);
}

bool rounds_to_largest(Rounding rounding, bool negative) {
  if (rounding == Rounding::toward_zero) return true;
  return rounding == (negative ? Rounding::upward : Rounding::downward);
}

bool is_tiny(const Shape& s, std::uint64_t magnitude) {
  return !s.powers_of_two && magnitude < power_of_two(s.fraction_bits);
}

/// The integers of 8 and 32 bits.
std::int64_t limit_of(Format format) { return format == Format::i8 ? 128 : std::int64_t{1} << 31; }

/// The integer that a code of i8 or i32 is.
std::int64_t integer_of(Format format, std::uint64_t bits) {
  const std::int64_t codes = 2 * limit_of(format);
  const auto code = static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(codes));
  return code < limit_of(format) ? code : code - codes;
}

/// The magnitude and sign of the number of a code that is neither NaN nor infinity.
struct SignedExact {
  bool negative;
  Exact magnitude;
};
SignedExact number_of(Format format, std::uint64_t bits) {
  if (is_integer(format)) {
    const std::int64_t value = integer_of(format, bits);
    return {value < 0, {static_cast<std::uint64_t>(value < 0 ? -value : value), 0}};
  }
  const Shape s = shape_of(format);
  return {is_negative(s, bits), value_of(s, bits % magnitudes(s))};
}

/// The whole number that `bits`, no NaN, rounds to; 2^60 stands for all that is larger.
std::int64_t whole_number(Format from, std::uint64_t bits, const ConvertRules& rules) {
  const Shape shape = shape_of(from);
  const bool infinite = !is_integer(from) && bits % magnitudes(shape) > shape.largest;
  SignedExact x = number_of(from, bits);
  if (!is_integer(from) && rules.subnormal == SubnormalRule::flushed && is_tiny(shape, bits % magnitudes(shape)))
    x.magnitude.significand = 0;
  const std::uint64_t rounded =
      infinite ? kWholeNumbers.largest
               : choose(kWholeNumbers, x.magnitude, code_not_above(kWholeNumbers, x.magnitude), x.negative, rules);
  const auto magnitude = static_cast<std::int64_t>(rounded < kWholeNumbers.largest ? rounded : kWholeNumbers.largest);
  return x.negative ? -magnitude : magnitude;
}

bool is_between_limits(std::int64_t value, Format format) {
  return value >= -limit_of(format) && value < limit_of(format);
}

std::int64_t nearest_limit(std::int64_t value, Format format) {
  return value < 0 ? -limit_of(format) : limit_of(format) - 1;
}

/// The code of the integer format for a NaN or a whole number.
std::uint64_t integer_code(Format to, bool nan, std::int64_t whole, IntegerRule rule) {
  std::int64_t value = nan ? 0 : whole;
  const bool low_bits = rule == IntegerRule::wrap || rule == IntegerRule::indefinite;
  if (rule == IntegerRule::indefinite && (nan || !is_between_limits(value, Format::i32)))
    value = -limit_of(Format::i32);
  if (!is_between_limits(value, low_bits ? Format::i32 : to)) value = nearest_limit(value, low_bits ? Format::i32 : to);
  const std::int64_t codes = 2 * limit_of(to);
  return static_cast<std::uint64_t>((value % codes + codes) % codes);
}

}  // namespace

bool is_integer(Format format) { return format == Format::i8 || format == Format::i32; }

bool is_nan(Format format, std::uint64_t bits) { return !is_integer(format) && is_nan_code(shape_of(format), bits); }

bool has_nan(Format format) {
  const Shape s = shape_of(format);
  return s.above != Above::nothing || s.minus_zero_is_nan;
}

std::uint64_t convert(Format from_format, Format to_format, std::uint64_t bits, const ConvertRules& rules) {
  const bool nan = is_nan(from_format, bits);
  if (is_integer(to_format))
    return integer_code(to_format, nan, nan ? 0 : whole_number(from_format, bits, rules), rules.integer);
  if (nan) return quieted_nan(from_format, to_format, bits);
  const Shape to = shape_of(to_format);
  const bool flushes = rules.subnormal == SubnormalRule::flushed;
  const auto [negative, x] = number_of(from_format, bits);
  if (x.significand == 0) return signed_zero(to, negative);
  bool beyond_all = false;
  if (!is_integer(from_format)) {
    const Shape from = shape_of(from_format);
    const std::uint64_t magnitude = bits % magnitudes(from);
    if (flushes && is_tiny(from, magnitude)) return signed_zero(to, negative);
    beyond_all = magnitude > from.largest;
  }
  if (negative && to.sign == 0) return made_nan(to, false);
  if (beyond_all) return beyond(to, negative, rules.saturating);
  const bool cut_off = rules.subnormal == SubnormalRule::truncated && !to.powers_of_two &&
                       compare(x, value_of(to, power_of_two(to.fraction_bits))) < 0;
  ConvertRules own = rules;
  if (cut_off) own.rounding = Rounding::toward_zero;
  const std::uint64_t result = choose(to, x, code_not_above(to, x), negative, own);
  if (result > to.largest)
    return rounds_to_largest(rules.rounding, negative) ? (negative ? to.sign : 0) + to.largest
                                                       : beyond(to, negative, rules.saturating);
  if (!to.powers_of_two && (result == 0 || (flushes && is_tiny(to, result)))) return signed_zero(to, negative);
  return (negative ? to.sign : 0) + result;
}

bool integer_holds(Format from, Format to, std::uint64_t bits, const ConvertRules& rules) {
  return !is_nan(from, bits) && is_between_limits(whole_number(from, bits, rules), to);
}

std::uint64_t nan_by_rule(Format from, Format to, std::uint64_t bits, NanRule rule) {
  const Shape source = shape_of(from);
  switch (rule) {
    case NanRule::quieted: return quieted_nan(from, to, bits);
    case NanRule::same_payload: return same_payload_nan(from, to, bits);
    case NanRule::truncated: return truncated_nan(from, to, bits);
    case NanRule::infinity: return beyond(shape_of(to), !source.minus_zero_is_nan && is_negative(source, bits), false);
    case NanRule::zero: return signed_zero(shape_of(to), false);
  }
  return 0;
}

std::uint64_t quieted_nan(Format from, Format to, std::uint64_t bits) {
  return nan_of_nan(from, to, bits, [](std::uint64_t payload, std::uint64_t quiet) {
    return payload < quiet ? payload + quiet : payload;
  });
}

std::uint64_t same_payload_nan(Format from, Format to, std::uint64_t bits) {
  return nan_of_nan(from, to, bits,
                    [](std::uint64_t payload, std::uint64_t quiet) { return payload == 0 ? quiet : payload; });
}

std::uint64_t truncated_nan(Format from, Format to, std::uint64_t bits) {
  return nan_of_nan(from, to, bits, [](std::uint64_t payload, std::uint64_t) { return payload; });
}

}  // namespace packcheck::oracle
