#include "properties/oracles/product_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {
namespace {

constexpr int kLeast = -320;  ///< the exponent of the lowest bit
constexpr double kOverflow = 340282346638528859811704183484516925440.0;

/// A stored number: ± m · 2^e, an infinity or a NaN.
struct Stored {
  std::uint64_t m = 0;
  int e = 0;
  bool negative = false;
  bool infinite = false;
  bool nan = false;
};

/// By the fields: `fraction` bits of significand, `top` the highest exponent field, `least` the exponent of the lowest
/// bit of a subnormal.
Stored stored(std::uint32_t code, std::uint32_t fraction, std::uint32_t top, int least) {
  const std::uint32_t significand = code % (1U << fraction);
  const std::uint32_t field = (code >> fraction) % (top + 1);
  Stored number;
  number.negative = (code >> fraction) / (top + 1) != 0;
  number.infinite = field == top && significand == 0;
  number.nan = field == top && significand != 0;
  number.m = field == 0 ? significand : significand + (1U << fraction);
  number.e = field == 0 ? least : least + static_cast<int>(field) - 1;
  if (field == top) number.m = 0;
  return number;
}

Stored stored_single(std::uint32_t code) { return stored(code, 23, 255, -149); }

std::uint32_t code_of(float number) {
  std::uint32_t code = 0;
  static_assert(sizeof code == sizeof number);
  __builtin_memcpy(&code, &number, sizeof code);
  return code;
}

Stored stored_at(Format format, std::span<const std::uint8_t> bytes, std::size_t index) {
  if (format == Format::f32) {
    const std::uint8_t* const b = &bytes[4 * index];
    return stored_single(b[0] + 256U * b[1] + 65536U * b[2] + 16777216U * b[3]);
  }
  const std::uint32_t code = bytes[2 * index] + 256U * bytes[2 * index + 1];
  return format == Format::f16 ? stored(code, 10, 31, -24) : stored(code, 7, 255, -133);
}

/// Bit by bit.
std::uint64_t code_at_bit(std::span<const std::uint8_t> row, std::size_t bit, std::uint64_t bits) {
  std::uint64_t code = 0;
  for (std::uint64_t place = 0; place < bits; ++place, ++bit)
    if (row[bit / 8] >> bit % 8 & 1) code += std::uint64_t{1} << place;
  return code;
}

/// The digits of a sum in base 2^32, each below it, and its sign.
struct Digits {
  std::array<std::uint64_t, 20> digit{};
  bool negative = false;
};

Digits digits_of(const std::array<std::int64_t, 20>& pieces) {
  constexpr std::int64_t kBase = std::int64_t{1} << 32;
  Digits d;
  std::int64_t carry = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t sum = pieces[i] + carry;
    const std::int64_t digit = ((sum % kBase) + kBase) % kBase;
    carry = (sum - digit) / kBase;
    d.digit[i] = static_cast<std::uint64_t>(digit);
  }
  if (carry >= 0) return d;
  std::array<std::int64_t, 20> opposite{};
  for (std::size_t i = 0; i < pieces.size(); ++i) opposite[i] = -pieces[i];
  d = digits_of(opposite);
  d.negative = true;
  return d;
}

[[gnu::noinline]] double number_of(const Digits& d) {
  double number = 0.0;
  std::size_t taken = 0;
  for (std::size_t i = d.digit.size(); i-- > 0 && taken < 3;) {
    if (d.digit[i] == 0 && taken == 0) continue;
    number += std::ldexp(static_cast<double>(d.digit[i]), static_cast<int>(32 * i) + kLeast);
    ++taken;
  }
  return d.negative ? -number : number;
}

/// a · b as a whole number; nothing when it is past 2^64 - 1.
bool times(std::uint64_t a, std::uint64_t b, std::uint64_t& product) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return false;
  product = a * b;
  return true;
}

std::string sized(const char* what, std::uint64_t is, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::uint64_t right = 0;
  if (!times(a, b, right) || !times(right, c, right)) return std::string(what) + " would overflow";
  if (right == is) return {};
  return std::string(what) + ": " + std::to_string(is) + " where " + std::to_string(right) + " are indexed";
}

double magnitude(const Stored& number) { return std::ldexp(static_cast<double>(number.m), number.e); }

/// The bound's parts: sums of magnitudes, as kernels may add them up. Doubles: no more than 2^20 terms, each off by a
/// few parts in 2^53, and the bound has slack for that.
struct Magnitudes {
  double terms = 0.0;   ///< Σ |x|·(|s|·q + |b|)
  double codes = 0.0;   ///< Σ |x|·q
  double inputs = 0.0;  ///< Σ |x|
  double weight = 0.0;  ///< the largest |s|·q + |b|
};

void set_bound(const PackedProduct& p, const Magnitudes& m, ExpectedElement& element) {
  constexpr double kUnit = 1.0 / 16777216.0;
  // No order has more roundings than one after another: s·q, + b, ·x, and n - 1 sums.
  const double roundings = static_cast<double>(p.in_features) + 2.0;
  const double relative = roundings * kUnit / (1.0 - roundings * kUnit);
  const double slack = 1.0 + std::ldexp(1.0, -30);
  const double terms = m.terms * slack;
  const double room = kOverflow / (1.0 + relative) / slack;
  if (roundings * kUnit > 0.25 || terms >= room || m.codes >= room || m.inputs >= room || m.weight >= room) {
    element.kind = ExpectedKind::open;
    return;
  }
  // A product in the subnormal range is off by half the least f32; each term has one, each group two.
  const double subnormal = static_cast<double>(std::max(p.in_features, 2 * (p.in_features / p.group_size)));
  element.bound = (relative * terms + subnormal * std::ldexp(1.0, -150) * (1.0 + relative)) * slack;
}

[[gnu::noinline]] ExpectedElement element_of(const PackedProduct& p, std::size_t row, std::size_t output) {
  ExpectedElement element;
  Magnitudes m;
  bool infinite = false;
  const std::size_t groups = p.in_features / p.group_size;
  for (std::size_t g = 0; g < groups; ++g) {
    const Stored scale = stored_at(p.scale_format, p.scales, output * groups + g);
    const Stored bias = stored_at(p.scale_format, p.biases, output * groups + g);
    const double scale_size = magnitude(scale);
    const double bias_size = magnitude(bias);
    for (std::size_t i = g * p.group_size; i < (g + 1) * p.group_size; ++i) {
      const Stored x = stored_single(code_of(p.x[row * p.in_features + i]));
      const std::uint64_t code = code_at_bit(p.codes, (output * p.in_features + i) * p.bits, p.bits);
      if (x.nan || scale.nan || bias.nan) element.kind = ExpectedKind::any_nan;
      infinite = infinite || x.infinite || scale.infinite || bias.infinite;
      element.sum.add(x.m * scale.m * code, x.e + scale.e, x.negative != scale.negative);
      element.sum.add(x.m * bias.m, x.e + bias.e, x.negative != bias.negative);
      const double input = magnitude(x);
      const double weight = scale_size * static_cast<double>(code) + bias_size;
      m.terms += input * weight;
      m.codes += input * static_cast<double>(code);
      m.inputs += input;
      m.weight = std::max(m.weight, weight);
    }
  }
  if (element.kind != ExpectedKind::any_nan && infinite) element.kind = ExpectedKind::no_number;
  if (element.kind == ExpectedKind::bounded) set_bound(p, m, element);
  return element;
}

}  // namespace

void ExactSum::add(std::uint64_t m, int exponent, bool negative) {
  if (m == 0) return;
  const auto place = static_cast<std::size_t>(exponent - kLeast);
  const std::size_t at = place / 32;
  const auto low = static_cast<std::int64_t>((m & 0xFFFFFFFF) << place % 32);  // below 2^63
  const auto high = static_cast<std::int64_t>((m >> 32) << place % 32);        // below 2^56
  const std::int64_t sign = negative ? -1 : 1;
  pieces_[at] += sign * (low & 0xFFFFFFFF);
  pieces_[at + 1] += sign * ((low >> 32) + (high & 0xFFFFFFFF));
  pieces_[at + 2] += sign * (high >> 32);
}

double ExactSum::value() const {
  const DefaultEnvironment environment;
  return number_of(digits_of(pieces_));
}

double ExactSum::distance(float number) const {
  ExactSum difference = *this;
  const Stored s = stored_single(code_of(number));
  difference.add(s.m, s.e, !s.negative);
  return std::fabs(difference.value());
}

std::string unsoundness(const PackedProduct& p) {
  static constexpr std::uint64_t kWidths[] = {2, 3, 4, 5, 6, 8};
  if (std::find(std::begin(kWidths), std::end(kWidths), p.bits) == std::end(kWidths)) return "no such width of codes";
  if (p.group_size != 32 && p.group_size != 64 && p.group_size != 128) return "no such size of groups";
  if (p.in_features % p.group_size != 0) return "a group is not whole";
  if (p.scale_format != Format::f32 && p.scale_format != Format::f16 && p.scale_format != Format::bf16)
    return "no such dtype of scales";
  const std::uint64_t groups = p.in_features / p.group_size;
  const std::uint64_t element = p.scale_format == Format::f32 ? 4 : 2;
  for (const std::string& wrong :
       {sized("numbers of x", p.x.size(), p.rows, p.in_features, 1),
        sized("bytes of codes", p.codes.size(), p.out_features, p.in_features / 32, p.bits * 4),
        sized("bytes of scales", p.scales.size(), p.out_features, groups, element),
        sized("bytes of biases", p.biases.size(), p.out_features, groups, element)})
    if (!wrong.empty()) return wrong;
  std::uint64_t answers = 0;
  return times(p.rows, p.out_features, answers) && answers < (std::uint64_t{1} << 40) ? ""
                                                                                      : "the answer would overflow";
}

bool ExpectedElement::accepts(float answer) const {
  switch (kind) {
    case ExpectedKind::bounded: return std::isfinite(answer) && sum.distance(answer) <= bound;
    case ExpectedKind::any_nan: return std::isnan(answer);
    case ExpectedKind::no_number: return !std::isfinite(answer);
    case ExpectedKind::open: break;
  }
  return true;
}

ExpectedElement expected_element(const PackedProduct& p, std::size_t row, std::size_t output) {
  const DefaultEnvironment environment;
  return element_of(p, row, output);
}

ExpectedElement expected_decoded(const PackedProduct& p, std::size_t row, std::size_t output,
                                 std::span<const float> weights) {
  const DefaultEnvironment environment;
  ExpectedElement element = element_of(p, row, output);
  if (element.kind != ExpectedKind::bounded) return element;
  element.sum = {};
  for (std::size_t i = 0; i < p.in_features; ++i) {
    const Stored x = stored_single(code_of(p.x[row * p.in_features + i]));
    const Stored w = stored_single(code_of(weights[i]));
    // No weight of finite numbers that do not overflow is other than finite.
    if (w.nan || w.infinite) element.kind = ExpectedKind::any_nan;
    element.sum.add(x.m * w.m, x.e + w.e, x.negative != w.negative);
  }
  const auto roundings = static_cast<double>(p.in_features + 2);
  element.bound *= (roundings + 3.0) / roundings;
  return element;
}

}  // namespace packcheck::oracle
