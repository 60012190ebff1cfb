#include "properties/oracles/format_oracle.h"

#include <bit>

namespace packcheck::oracle {
namespace {

using Wide = unsigned __int128;

/// The fields of a format: IEEE 754-2019 table 3.5, and bfloat16.
struct Shape {
  int exponent_bits;
  int fraction_bits;
};

Shape shape_of(Format format) {
  switch (format) {
    case Format::f64: return {11, 52};
    case Format::f32: return {8, 23};
    case Format::f16: return {5, 10};
    case Format::bf16: return {8, 7};
  }
  return {11, 52};
}

std::uint64_t power_of_two(int exponent) { return std::uint64_t{1} << exponent; }
/// Codes below this one are finite magnitudes, in increasing order.
std::uint64_t infinity_code(const Shape& s) {
  return power_of_two(s.exponent_bits + s.fraction_bits) - power_of_two(s.fraction_bits);
}
std::uint64_t sign_weight(const Shape& s) { return power_of_two(s.exponent_bits + s.fraction_bits); }

/// The exact number significand · 2^exponent.
struct Exact {
  std::uint64_t significand;
  int exponent;
};

/// The number a finite magnitude code stands for.
Exact value_of(const Shape& s, std::uint64_t code) {
  const std::uint64_t binade = power_of_two(s.fraction_bits);
  const int lowest = 2 - static_cast<int>(power_of_two(s.exponent_bits - 1)) - s.fraction_bits;
  if (code < binade) return {code, lowest};
  const auto field = static_cast<int>(code / binade);
  return {binade + code % binade, lowest + field - 1};
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

/// The largest finite code whose number is not above `x`.
std::uint64_t code_not_above(const Shape& s, const Exact& x) {
  std::uint64_t below = 0;
  std::uint64_t above = infinity_code(s);
  while (above - below > 1) {
    const std::uint64_t middle = below + (above - below) / 2;
    (compare(value_of(s, middle), x) <= 0 ? below : above) = middle;
  }
  return below;
}

/// The magnitude code for `x`, which lies between the codes `lower` and `lower + 1`. The code after
/// the largest finite one is infinity; it stands where the next number would be.
std::uint64_t choose(const Shape& s, const Exact& x, std::uint64_t lower, bool negative, Rounding rounding) {
  const Exact low = value_of(s, lower);
  if (compare(x, low) == 0) return lower;
  const std::uint64_t upper = lower + 1;
  if (rounding == Rounding::toward_zero) return lower;
  if (rounding == Rounding::upward) return negative ? lower : upper;
  if (rounding == Rounding::downward) return negative ? upper : lower;
  const Exact half_way{2 * low.significand + 1, low.exponent - 1};
  const int side = compare(x, half_way);
  if (side != 0) return side < 0 ? lower : upper;
  if (rounding == Rounding::nearest_away) return upper;
  return lower % 2 == 0 ? lower : upper;
}

/// The payload of a NaN as a 64-bit fraction, leading bit first, cut to the payload bits of `to`.
std::uint64_t kept_payload(const Shape& from, const Shape& to, std::uint64_t bits) {
  const std::uint64_t fraction = bits % power_of_two(from.fraction_bits) * power_of_two(64 - from.fraction_bits);
  return fraction / power_of_two(64 - to.fraction_bits);
}

std::uint64_t nan_code(const Shape& from, const Shape& to, std::uint64_t bits, std::uint64_t payload) {
  const bool negative = bits / sign_weight(from) % 2 == 1;
  return (negative ? sign_weight(to) : 0) + infinity_code(to) + payload;
}

}  // namespace

bool is_nan(Format format, std::uint64_t bits) {
  const Shape s = shape_of(format);
  return bits % sign_weight(s) > infinity_code(s);
}

std::uint64_t convert(Format from_format, Format to_format, std::uint64_t bits, Rounding rounding,
                      bool flush_subnormals) {
  if (is_nan(from_format, bits)) return quieted_nan(from_format, to_format, bits);
  const Shape from = shape_of(from_format);
  const Shape to = shape_of(to_format);
  const bool negative = bits / sign_weight(from) % 2 == 1;
  const std::uint64_t sign = negative ? sign_weight(to) : 0;
  const std::uint64_t magnitude = bits % sign_weight(from);
  if (magnitude == infinity_code(from)) return sign + infinity_code(to);
  if (flush_subnormals && magnitude < power_of_two(from.fraction_bits)) return sign;
  const Exact x = value_of(from, magnitude);
  const std::uint64_t result = choose(to, x, code_not_above(to, x), negative, rounding);
  if (flush_subnormals && result < power_of_two(to.fraction_bits)) return sign;
  return sign + result;
}

std::uint64_t quieted_nan(Format from_format, Format to_format, std::uint64_t bits) {
  const Shape from = shape_of(from_format);
  const Shape to = shape_of(to_format);
  const std::uint64_t quiet = power_of_two(to.fraction_bits - 1);
  const std::uint64_t payload = kept_payload(from, to, bits);
  return nan_code(from, to, bits, payload < quiet ? payload + quiet : payload);
}

std::uint64_t same_payload_nan(Format from_format, Format to_format, std::uint64_t bits) {
  const Shape from = shape_of(from_format);
  const Shape to = shape_of(to_format);
  const std::uint64_t payload = kept_payload(from, to, bits);
  return nan_code(from, to, bits, payload == 0 ? power_of_two(to.fraction_bits - 1) : payload);
}

}  // namespace packcheck::oracle
