#include "properties/cases/number_patterns.h"

#include <algorithm>
#include <set>

namespace packcheck {
namespace {

using Codes = std::vector<std::uint64_t>;

std::uint64_t power_of_two(int exponent) { return std::uint64_t{1} << exponent; }

/// Exponents of the ends of a format's ranges: the largest numbers, the smallest normal and subnormal ones.
std::vector<int> ends_of(const FormatSpec& s) {
  if (s.is_integer()) return {s.significand_bits, 31, 32, -1};  // -1: the half; 32: past the low bits
  const auto top = static_cast<int>(s.largest_finite() >> s.significand_bits) - s.bias();
  return {top, 1 - s.bias(), 1 - s.bias() - s.significand_bits};
}

/// Zero and the smallest exponents, one, where integers end, the largest, and the ends of the target.
std::set<std::uint64_t> interesting_exponents(const FormatSpec& from, const FormatSpec& to) {
  std::set<std::uint64_t> fields;
  const auto add = [&](int field) {
    if (field >= 0 && field <= from.exponent_mask()) fields.insert(static_cast<std::uint64_t>(field));
  };
  for (const int near : {-1, 0, 1}) {
    for (const int field : {0, 1, from.bias(), from.bias() - from.significand_bits, from.bias() + from.significand_bits,
                            from.exponent_mask()})
      add(field + near);
    for (const int exponent : ends_of(to)) add(from.bias() + exponent + near);
  }
  return fields;
}

/// 0, 1, one bit, ones from the top, ones from the bottom, and all ones but one.
std::set<std::uint64_t> interesting_significands(int width) {
  const std::uint64_t all = power_of_two(width) - 1;
  std::set<std::uint64_t> fractions{0, all};
  for (int i = 0; i < width; ++i)
    for (const std::uint64_t bits : {power_of_two(i), power_of_two(i) - 1, all & ~(power_of_two(i) - 1)}) {
      fractions.insert(bits);
      fractions.insert(all & ~bits);
    }
  return fractions;
}

/// How many low bits of a number of `from` with this exponent field go when it becomes one of `to`; none: 0 or less.
int dropped_bits(const FormatSpec& from, const FormatSpec& to, int field) {
  const int exponent = std::max(field, 1) - from.bias();
  const int unit = exponent - from.significand_bits;
  if (to.is_integer()) return -unit;
  const int smallest = (to.has_zero() ? 1 : 0) - to.bias() - to.significand_bits;
  return std::max(exponent - to.significand_bits, smallest) - unit;
}

/// A code and its neighbours.
void add_with_neighbours(Codes& codes, std::uint64_t code) {
  if (code != 0) codes.push_back(code - 1);
  codes.push_back(code);
  codes.push_back(code + 1);
}

/// The ties of one binade of `from`, where the lowest `dropped` bits go.
void add_ties(Codes& codes, const FormatSpec& from, std::uint64_t field, int dropped) {
  const std::uint64_t base = field << from.significand_bits;
  if (dropped < 1 || dropped > from.significand_bits) {
    // Nothing goes, or everything; with one more bit than are stored, the tie is the power of two itself.
    add_with_neighbours(codes, base);
    codes.push_back(base | from.significand_mask());
    return;
  }
  const std::uint64_t half = power_of_two(dropped - 1);
  const std::uint64_t kept = from.significand_mask() & ~(2 * half - 1);
  for (const std::uint64_t last : {std::uint64_t{0}, (2 * half) & kept, kept})
    add_with_neighbours(codes, base | last | half);
}

Codes floating_patterns(const FormatSpec& from, const FormatSpec& to) {
  Codes codes;
  const std::set<std::uint64_t> fractions = interesting_significands(from.significand_bits);
  for (const std::uint64_t field : interesting_exponents(from, to))
    for (const std::uint64_t fraction : fractions) codes.push_back(field << from.significand_bits | fraction);
  for (int field = 0; field <= from.exponent_mask(); ++field)
    add_ties(codes, from, static_cast<std::uint64_t>(field), dropped_bits(from, to, field));
  for (std::size_t i = codes.size(); i-- > 0;) codes.push_back(codes[i] ^ from.sign_bit());
  return codes;
}

/// The ties of every length of integer, and the limits; also negated.
Codes integer_patterns(const FormatSpec& from) {
  Codes codes;
  add_with_neighbours(codes, 0);
  add_with_neighbours(codes, from.largest_finite());
  for (int leading = 0; leading < from.significand_bits; ++leading) {
    const std::uint64_t one = power_of_two(leading);
    add_with_neighbours(codes, one);
    for (int dropped = 1; dropped <= leading; ++dropped) {
      const std::uint64_t half = power_of_two(dropped - 1);
      const std::uint64_t kept = (one - 1) & ~(2 * half - 1);
      for (const std::uint64_t last : {std::uint64_t{0}, (2 * half) & kept, kept})
        add_with_neighbours(codes, one | last | half);
    }
  }
  for (std::size_t i = codes.size(); i-- > 0;) codes.push_back(0 - codes[i]);
  for (std::uint64_t& code : codes) code &= from.all_bits();
  return codes;
}

}  // namespace

std::vector<std::uint64_t> number_patterns(Format from, Format to) {
  if (from == Format::i32) return integer_patterns(spec(from));
  if (from == Format::f64 || from == Format::f32) return floating_patterns(spec(from), spec(to));
  return {};
}

std::uint64_t double_tie(std::uint64_t index) {
  const FormatSpec& f64 = spec(Format::f64);
  const auto take = [&index](std::uint64_t bound) {
    const std::uint64_t digit = index % bound;
    index /= bound;
    return digit;
  };
  const std::uint64_t sign = take(2) != 0 ? f64.sign_bit() : 0;
  const std::uint64_t step = take(3);  // below, at, above
  const std::uint64_t odd = take(2);
  const std::uint64_t half = std::uint64_t{1} << take(52);
  const std::uint64_t field = take(2048);
  const std::uint64_t significand = (half | odd * 2 * half) & f64.significand_mask();
  return ((field << f64.significand_bits | significand) + step - 1) ^ sign;
}

}  // namespace packcheck
