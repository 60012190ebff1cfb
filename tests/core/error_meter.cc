#include "tests/core/error_meter.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/core/mpfr_reference.h"

namespace packcheck::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Any difference of two singles, times a small integer, is exact at this precision.
constexpr mpfr_prec_t kDifferencePrecision = 700;

/// |x - y| beside a bound, exactly.
class ErrorMeter {
 public:
  ErrorMeter() : error_(kDifferencePrecision), other_(kDifferencePrecision) {}

  void measure(float x, float y) {
    mpfr_set_flt(error_.get(), x, MPFR_RNDN);
    mpfr_set_flt(other_.get(), y, MPFR_RNDN);
    mpfr_sub(error_.get(), error_.get(), other_.get(), MPFR_RNDN);
    mpfr_abs(error_.get(), error_.get(), MPFR_RNDN);
  }
  bool exceeds(double bound) { return mpfr_cmp_d(error_.get(), bound) > 0; }
  /// Whether the error is at least 95 % of the bound: 20·|x - y| >= 19·bound, exactly.
  bool nearly_reaches(double bound) {
    mpfr_set_d(other_.get(), bound, MPFR_RNDN);
    mpfr_mul_ui(other_.get(), other_.get(), 19, MPFR_RNDN);
    mpfr_mul_ui(error_.get(), error_.get(), 20, MPFR_RNDN);
    return mpfr_cmp(error_.get(), other_.get()) >= 0;
  }

 private:
  Real error_;
  Real other_;
};

}  // namespace

void measure_block(const Encoding& encoding, const std::vector<float>& block, Tally& tally) {
  static ErrorMeter meter;
  std::vector<std::uint8_t> bytes(encoding.block_bytes);
  std::vector<float> decoded(block.size());
  if (encoding.accepts_block != nullptr && !encoding.accepts_block(block.data())) {
    ASSERT_TRUE(std::isinf(error_bound(encoding, block, 0)));
    tally.unbounded += block.size();
    return;
  }
  ASSERT_TRUE(quantize(encoding, block, bytes));
  ASSERT_TRUE(dequantize(encoding, bytes, decoded));
  std::vector<double> bounds(block.size());
  error_bounds(encoding, block, bounds);
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double bound = bounds[i];
    if (std::isinf(bound)) {
      ++tally.unbounded;
      continue;
    }
    ASSERT_GE(bound, 0.0);
    ++tally.measured;
    ASSERT_TRUE(std::isfinite(decoded[i])) << "a bounded error with a decoded infinity or NaN";
    meter.measure(block[i], decoded[i]);
    if (meter.exceeds(bound)) {
      if (tally.exceeded++ == 0)
        tally.worst = encoding.id() + " element " + std::to_string(i) + " x " +
                      hex(std::bit_cast<std::uint32_t>(block[i])) + " y " +
                      hex(std::bit_cast<std::uint32_t>(decoded[i])) + " bound " + std::to_string(bound);
    } else if (bound > 0.0 && meter.nearly_reaches(bound)) {
      ++tally.nearly_reached;
    }
  }
}

float nudged(Random& random, float x, int most) {
  const int steps = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * most + 1))) - most;
  for (int i = 0; i < std::abs(steps); ++i) x = std::nextafter(x, steps < 0 ? -kInfinity : kInfinity);
  return x;
}

}  // namespace packcheck::test
