// tests/core/mpfr_reference.h: what MPFR says, as the third party between core and oracles.
//
// MPFR rounds correctly at any precision and exponent range; a format is a precision, a largest
// exponent and gradual underflow (mpfr_subnormalize). Nothing here depends on the floating-point
// environment or on the core's table of formats.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <string>

#include "core/format/convert.h"

namespace packcheck::test {

/// One MPFR number.
class Real {
 public:
  explicit Real(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

/// The exponent range of MPFR while alive.
class ExponentRange {
 public:
  ExponentRange(mpfr_exp_t lowest, mpfr_exp_t highest);
  ~ExponentRange();
  ExponentRange(const ExponentRange&) = delete;
  ExponentRange& operator=(const ExponentRange&) = delete;

 private:
  mpfr_exp_t lowest_;
  mpfr_exp_t highest_;
};

/// A format as MPFR sees it; its significands are in [1/2, 1).
struct MpfrFormat {
  mpfr_prec_t precision;
  mpfr_exp_t highest;  ///< numbers from 2^highest on overflow
  int width;

  [[nodiscard]] mpfr_exp_t lowest() const { return 4 - highest - precision; }
};
/// Throws std::invalid_argument for formats without infinities.
MpfrFormat mpfr_format(Format format);

/// Bits of the precision that holds any sum or difference of two doubles.
inline constexpr mpfr_prec_t kExactPrecision = 2200;

/// Sets `out`, of at least the format's precision, to the number of a code that is no NaN.
void set_to_code(Real& out, Format format, std::uint64_t code);
/// The code of a number that the format holds exactly.
std::uint64_t code_of(Real& number, Format format);

/// core's convert() for a code that is no NaN, by MPFR. Nearest-away, which MPFR lacks for
/// subnormals, compares the distances to the two directed results.
std::uint64_t mpfr_convert(Format from, Format to, std::uint64_t code, Rounding rounding);

/// The bits of the double nearest to decimal text, ties to even.
std::uint64_t mpfr_parse_double(const std::string& text);

}  // namespace packcheck::test
