#include "tests/core/mpfr_reference.h"

#include <stdexcept>

namespace packcheck::test {

ExponentRange::ExponentRange(mpfr_exp_t lowest, mpfr_exp_t highest)
    : lowest_(mpfr_get_emin()), highest_(mpfr_get_emax()) {
  mpfr_set_emin(lowest);
  mpfr_set_emax(highest);
}

ExponentRange::~ExponentRange() {
  mpfr_set_emin(lowest_);
  mpfr_set_emax(highest_);
}

MpfrFormat mpfr_format(Format format) {
  switch (format) {
    case Format::f64: return {53, 1024, 64};
    case Format::f32: return {24, 128, 32};
    case Format::f16: return {11, 16, 16};
    case Format::bf16: return {8, 128, 16};
    case Format::e5m2: return {3, 16, 8};
    case Format::e4m3: return {4, 8, 8};
    case Format::e3m4: return {5, 4, 8};
    default: throw std::invalid_argument("only formats with the infinities of IEEE 754");
  }
}

void set_to_code(Real& out, Format format, std::uint64_t code) {
  const MpfrFormat f = mpfr_format(format);
  const std::uint64_t sign = std::uint64_t{1} << (f.width - 1);
  const std::uint64_t leading = std::uint64_t{1} << (f.precision - 1);
  const std::uint64_t magnitude = code & (sign - 1);
  const std::uint64_t field = magnitude / leading;
  const std::uint64_t fraction = magnitude % leading;
  const mpfr_exp_t lowest_bit = f.lowest() - 1;
  if (field == 2 * static_cast<std::uint64_t>(f.highest) - 1)
    mpfr_set_inf(out.get(), 1);
  else if (field == 0)
    mpfr_set_ui_2exp(out.get(), fraction, lowest_bit, MPFR_RNDN);
  else
    mpfr_set_ui_2exp(out.get(), leading + fraction, lowest_bit + static_cast<mpfr_exp_t>(field) - 1, MPFR_RNDN);
  mpfr_setsign(out.get(), out.get(), (code & sign) != 0 ? 1 : 0, MPFR_RNDN);
}

std::uint64_t code_of(Real& number, Format format) {
  const MpfrFormat f = mpfr_format(format);
  const std::uint64_t sign = mpfr_signbit(number.get()) != 0 ? std::uint64_t{1} << (f.width - 1) : 0;
  const std::uint64_t leading = std::uint64_t{1} << (f.precision - 1);
  if (mpfr_zero_p(number.get()) != 0) return sign;
  if (mpfr_inf_p(number.get()) != 0) return sign | (2 * static_cast<std::uint64_t>(f.highest) - 1) * leading;
  const mpfr_exp_t lowest_bit = f.lowest() - 1;
  mpfr_exp_t last = mpfr_get_exp(number.get()) - f.precision;  // exponent of the last bit
  if (last < lowest_bit) last = lowest_bit;
  Real scaled(f.precision);
  mpfr_mul_2si(scaled.get(), number.get(), -last, MPFR_RNDN);
  mpfr_abs(scaled.get(), scaled.get(), MPFR_RNDN);
  const std::uint64_t significand = mpfr_get_ui(scaled.get(), MPFR_RNDN);
  return sign | (static_cast<std::uint64_t>(last - lowest_bit) * leading + significand);
}

namespace {

/// Rounds `x` into the format and gives the code.
std::uint64_t rounded_code(Real& x, Format to, mpfr_rnd_t rounding) {
  const MpfrFormat f = mpfr_format(to);
  Real y(f.precision);
  int ternary = mpfr_set(y.get(), x.get(), rounding);
  {
    const ExponentRange range(f.lowest(), f.highest);
    ternary = mpfr_check_range(y.get(), ternary, rounding);
    mpfr_subnormalize(y.get(), ternary, rounding);
  }
  return code_of(y, to);
}

/// The nearest code; of a tie, the one farther from zero if `away`.
std::uint64_t nearest_code(Real& x, Format to, bool away) {
  const std::uint64_t inner = rounded_code(x, to, MPFR_RNDZ);
  const std::uint64_t outer = rounded_code(x, to, mpfr_signbit(x.get()) != 0 ? MPFR_RNDD : MPFR_RNDU);
  if (inner == outer) return inner;
  const MpfrFormat f = mpfr_format(to);
  Real low(kExactPrecision);
  Real high(kExactPrecision);
  set_to_code(low, to, inner);
  set_to_code(high, to, outer);
  if (mpfr_inf_p(high.get()) != 0) {
    const int negative = mpfr_signbit(x.get());
    mpfr_set_ui_2exp(high.get(), 1, f.highest, MPFR_RNDN);
    mpfr_setsign(high.get(), high.get(), negative, MPFR_RNDN);
  }
  mpfr_sub(low.get(), x.get(), low.get(), MPFR_RNDN);
  mpfr_sub(high.get(), high.get(), x.get(), MPFR_RNDN);
  const int side = mpfr_cmpabs(low.get(), high.get());
  return side > 0 || (side == 0 && away) ? outer : inner;
}

}  // namespace

std::uint64_t mpfr_convert(Format from, Format to, std::uint64_t code, Rounding rounding) {
  Real x(53);
  set_to_code(x, from, code);
  switch (rounding) {
    case Rounding::nearest_even: return rounded_code(x, to, MPFR_RNDN);
    case Rounding::nearest_away: return nearest_code(x, to, true);
    case Rounding::nearest_up: return nearest_code(x, to, mpfr_signbit(x.get()) == 0);
    case Rounding::toward_zero: return rounded_code(x, to, MPFR_RNDZ);
    case Rounding::upward: return rounded_code(x, to, MPFR_RNDU);
    case Rounding::downward: return rounded_code(x, to, MPFR_RNDD);
    case Rounding::stochastic: break;
  }
  throw std::invalid_argument("MPFR has no stochastic rounding");
}

std::uint64_t mpfr_parse_double(const std::string& text) {
  const MpfrFormat f = mpfr_format(Format::f64);
  Real y(f.precision);
  {
    const ExponentRange range(f.lowest(), f.highest);
    const int ternary = mpfr_strtofr(y.get(), text.c_str(), nullptr, 10, MPFR_RNDN);
    mpfr_subnormalize(y.get(), ternary, MPFR_RNDN);
  }
  return code_of(y, Format::f64);
}

}  // namespace packcheck::test
