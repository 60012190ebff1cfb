// The proved error bounds: never exceeded and nearly reached, in exact arithmetic.
#include "core/encoding/bounds.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/core/mpfr_reference.h"
#include "tests/core/samples.h"

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

struct Tally {
  std::uint64_t measured = 0;
  std::uint64_t exceeded = 0;
  std::uint64_t nearly_reached = 0;
  std::uint64_t unbounded = 0;
  std::string worst;  // the first element that exceeds its bound
};

void measure_block(const Encoding& encoding, const std::vector<float>& block, Tally& tally) {
  static ErrorMeter meter;
  std::vector<std::uint8_t> bytes(encoding.block_bytes);
  std::vector<float> decoded(block.size());
  ASSERT_TRUE(quantize(encoding, block, bytes));
  ASSERT_TRUE(dequantize(encoding, bytes, decoded));
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double bound = error_bound(encoding, block, i);
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

float with_exponent(std::uint64_t significand, int exponent) {
  return static_cast<float>(std::ldexp(static_cast<double>(significand), exponent));
}

/// Moves `x` by up to `most` representable numbers.
float nudged(Random& random, float x, int most) {
  const int steps = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * most + 1))) - most;
  for (int i = 0; i < std::abs(steps); ++i) x = std::nextafter(x, steps < 0 ? -kInfinity : kInfinity);
  return x;
}

/// A scale whose half is as far away as halves get: beside the middle of two halves, or, where
/// SKaiNET cuts off, just below the next one. `exponent` is that of the half's last bit.
float difficult_scale(Random& random, int exponent) {
  const std::uint64_t half =
      exponent > -24 || random.coin() ? 1024 + random.below(random.coin() ? 4 : 1024) : random.below(1024);
  const float middle = with_exponent(2 * half + (random.coin() ? 1 : 2), exponent - 1);
  return nudged(random, middle, 3);
}

/// A block whose scale is close to `d` and whose elements are beside the middles between codes.
std::vector<float> difficult_block(Random& random, float d, int largest_code, bool clips) {
  std::vector<float> block(32);
  const double scale = static_cast<double>(d);
  for (float& x : block) {
    const int code = static_cast<int>(random.below(static_cast<std::uint64_t>(2 * largest_code))) - largest_code;
    // Often the largest codes, where the scale's own error weighs most.
    const int chosen = random.coin() ? code : (random.coin() ? largest_code - 1 : -largest_code);
    x = nudged(random, static_cast<float>((chosen + 0.5) * scale), 2);
  }
  const float extreme = static_cast<float>(largest_code * scale);
  block[0] = random.coin() ? extreme : -extreme;
  if (clips && random.coin()) block[1 + random.below(31)] = -block[0];
  return block;
}

/// A search over blocks whose half scale has its last bit at 2^lowest … 2^highest.
Tally search(const Encoding& encoding, int lowest, int highest, std::size_t blocks, std::uint64_t seed) {
  Random random(seed);
  Tally tally;
  const bool q4 = encoding.name == "q4_0";
  for (std::size_t i = 0; i < blocks; ++i) {
    const int exponent = lowest + static_cast<int>(random.below(static_cast<std::uint64_t>(highest - lowest + 1)));
    const std::vector<float> block = difficult_block(random, difficult_scale(random, exponent), q4 ? 8 : 127, q4);
    measure_block(encoding, block, tally);
  }
  return tally;
}

struct Regime {
  const char* name;
  int lowest;
  int highest;
};
constexpr int kSmallestLastBit = -24;  // of a half
constexpr int kLargestLastBit = 5;

TEST(ErrorBound, IsNeverExceededAndNearlyReachedForEveryQuantizer) {
  for (const Encoding& encoding : all_encodings()) {
    ASSERT_TRUE(encoding.quantizes);
    for (const Regime& regime :
         {Regime{"normal scales", -23, kLargestLastBit}, Regime{"subnormal scales", kSmallestLastBit, kSmallestLastBit},
          Regime{"scales at the overflow of half", kLargestLastBit, kLargestLastBit}}) {
      const Tally tally = search(encoding, regime.lowest, regime.highest, 6000, 31);
      EXPECT_EQ(tally.exceeded, 0U) << regime.name << ": " << tally.worst;
      EXPECT_GT(tally.nearly_reached, 0U) << encoding.id() << ", " << regime.name;
      EXPECT_GT(tally.measured, 100000U) << encoding.id() << ", " << regime.name;
    }
  }
}

TEST(ErrorBound, IsNeverExceededWhereTheScaleBecomesZeroOrItsReciprocalOverflows) {
  for (const Encoding& encoding : all_encodings()) {
    for (const Regime& regime : {Regime{"scales below every half", -60, -25}, Regime{"overflow of 1/d", -142, -130},
                                 Regime{"subnormal singles", -160, -143}}) {
      const Tally tally = search(encoding, regime.lowest, regime.highest, 3000, 32);
      EXPECT_EQ(tally.exceeded, 0U) << regime.name << ": " << tally.worst;
      EXPECT_GT(tally.measured, 90000U) << encoding.id() << ", " << regime.name;
    }
  }
}

TEST(ErrorBound, HoldsForEveryKindOfBlock) {
  for (const Encoding& encoding : all_encodings()) {
    Tally tally;
    for (const std::vector<float>& block : sample_blocks(800, 33)) measure_block(encoding, block, tally);
    EXPECT_EQ(tally.exceeded, 0U) << tally.worst;
    EXPECT_GT(tally.unbounded, 0U) << encoding.id();
    EXPECT_GT(tally.measured, 100000U) << encoding.id();
  }
}

TEST(ErrorBound, PromisesNothingForNonFiniteBlocksAndOverflowingScales) {
  for (const Encoding& encoding : all_encodings()) {
    const float limit = (encoding.name == "q4_0" ? 8.0F : 127.0F) * 65520.0F;
    for (const float value : {kInfinity, std::numeric_limits<float>::quiet_NaN(), limit}) {
      std::vector<float> block(32, 1.0F);
      block[4] = value;
      EXPECT_TRUE(std::isinf(error_bound(encoding, block, 0))) << encoding.id() << " " << value;
    }
    std::vector<float> block(32, 1.0F);
    block[4] = std::nextafter(limit, 0.0F) - limit * 0x1p-20F;
    EXPECT_FALSE(std::isinf(error_bound(encoding, block, 0))) << encoding.id();
  }
}

TEST(ErrorBound, ATruncatingQuantizerExceedsItInOrdinaryBlocks) {
  for (Encoding encoding : all_encodings()) {
    encoding.rules.code = CodeRounding::truncate;
    Random random(35);
    for (int i = 0; i < 50; ++i) {
      std::vector<float> block(32);
      for (float& x : block) x = with_exponent(random.below(1U << 24), -24) - 0.5F;
      Tally tally;
      measure_block(encoding, block, tally);
      EXPECT_GT(tally.exceeded, 0U) << encoding.id();
      EXPECT_EQ(tally.measured, 32U) << encoding.id();
    }
  }
}

TEST(ErrorBound, IsTheDistanceToZeroWhereEverythingBecomesZero) {
  const std::vector<float> block(32, 0x1p-140F);
  for (const Encoding& encoding : all_encodings())
    EXPECT_EQ(error_bound(encoding, block, 3), 0x1p-140) << encoding.id();
}

}  // namespace
}  // namespace packcheck::test
