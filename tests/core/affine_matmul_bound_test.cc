// The proved bound on products with packed weights: never exceeded, nearly reached in every order; and the exact sums
// of the oracle against GMP.
#include <gmp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "core/affine/matmul_bound.h"
#include "tests/core/packed_samples.h"

namespace packcheck::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Just below half the last place of 1: added to 1, or to the number after it, it is lost.
constexpr float kLost = 0x1.fffffep-25F;

/// The largest f32 whose product with 255 is rounded down to 1 + 2^-23.
float a_255th_rounding_down() {
  const double wanted = (1.0 + 0x1p-23 + 0x1p-24) / 255.0;
  auto number = static_cast<float>(wanted);
  while (static_cast<double>(number) * 255.0 >= 1.0 + 0x1p-23 + 0x1p-24) number = std::nextafter(number, 0.0F);
  return number;
}

double error_of(const PackedSample& s) {
  const oracle::ExpectedElement expected = oracle::expected_element(s.for_oracle(), 0, 0);
  return expected.sum.distance(s.multiplied().at(0));
}

double share_of_bound(const PackedSample& s) {
  return error_of(s) / product_bound(s.arguments(), s.weights.view(), 0, 0);
}

/// One large term whose weight is rounded down three times on its way, among terms that are lost where `x` is 1.
PackedSample losing(SumOrder order, std::size_t in, const std::vector<std::size_t>& lost) {
  PackedSample s(1, in, 1, 32, 8, Format::f32, order);
  for (std::size_t g = 0; g < in / 32; ++g) s.set_bias(0, g, kLost);
  s.set_scale(0, 0, a_255th_rounding_down());
  s.set_code(0, 0, 255);
  s.x[0] = 1.0F - 0x1p-24F;
  for (const std::size_t i : lost) s.x[i] = 1.0F;
  return s;
}

TEST(MatmulBound, IsReachedOneAfterAnother) {
  std::vector<std::size_t> all;
  for (std::size_t i = 1; i < 128; ++i) all.push_back(i);
  const PackedSample s = losing(SumOrder::sequential, 128, all);
  EXPECT_EQ(product_roundings(SumOrder::sequential, 128, 32), 130U);
  EXPECT_GE(share_of_bound(s), 0.95);
  EXPECT_LE(share_of_bound(s), 1.0);
  // The bound for any order is this one: the oracle's is as tight.
  const oracle::ExpectedElement expected = oracle::expected_element(s.for_oracle(), 0, 0);
  EXPECT_GE(error_of(s) / expected.bound, 0.95);
}

TEST(MatmulBound, IsReachedInLanes) {
  std::vector<std::size_t> lost{4, 2, 1};  // what lane 0 meets in the end
  for (std::size_t i = 8; i < 128; i += 8) lost.push_back(i);
  const PackedSample s = losing(SumOrder::lanes, 128, lost);
  EXPECT_EQ(product_roundings(SumOrder::lanes, 128, 32), 21U);
  EXPECT_GE(share_of_bound(s), 0.95);
  EXPECT_LE(share_of_bound(s), 1.0);
}

TEST(MatmulBound, IsReachedPairwise) {
  for (const std::size_t in : {std::size_t{96}, std::size_t{128}}) {
    const PackedSample s = losing(SumOrder::pairwise, in, {1, 2, 4, 8, 16, 32, 64});
    EXPECT_EQ(product_roundings(SumOrder::pairwise, in, 32), 10U);
    EXPECT_GE(share_of_bound(s), 0.95) << in;
    EXPECT_LE(share_of_bound(s), 1.0) << in;
  }
}

TEST(MatmulBound, IsReachedByGroups) {
  PackedSample s(1, 128, 1, 32, 8, Format::f32, SumOrder::per_group);
  s.x[0] = a_255th_rounding_down();
  s.set_code(0, 0, 255);
  for (std::size_t i = 1; i < 32; ++i) {
    s.x[i] = kLost;
    s.set_code(0, i, 1);
  }
  s.set_scale(0, 0, 1.0F - 0x1p-24F);
  s.set_bias(0, 0, kLost * 254.0F);  // times 1/255 and a little
  for (std::size_t g = 1; g < 4; ++g) {
    s.x[32 * g] = 1.0F;
    s.set_bias(0, g, kLost);
  }
  EXPECT_EQ(product_roundings(SumOrder::per_group, 128, 32), 37U);
  EXPECT_GE(share_of_bound(s), 0.95);
  EXPECT_LE(share_of_bound(s), 1.0);
}

TEST(MatmulBound, IsReachedBySubnormalTerms) {
  for (const SumOrder order : {SumOrder::sequential, SumOrder::lanes, SumOrder::pairwise}) {
    PackedSample s(1, 128, 1, 32, 8, Format::f32, order);
    for (std::size_t g = 0; g < 4; ++g) s.set_bias(0, g, 0x1p-75F);
    for (float& x : s.x) x = 0x1p-75F;  // 2^-150: a tie, to 0
    EXPECT_EQ(s.multiplied().at(0), 0.0F);
    EXPECT_GE(share_of_bound(s), 0.95);
    EXPECT_LE(share_of_bound(s), 1.0);
  }
  PackedSample s(1, 128, 1, 32, 8, Format::f32, SumOrder::per_group);
  for (std::size_t i = 0; i < 128; i += 32) {
    s.x[i] = 0x1p-75F;
    s.set_code(0, i, 1);
  }
  for (std::size_t g = 0; g < 4; ++g) {
    s.set_scale(0, g, 0x1p-75F);
    s.set_bias(0, g, 0x1p-75F);
  }
  EXPECT_EQ(s.multiplied().at(0), 0.0F);
  EXPECT_GE(share_of_bound(s), 0.95);
  EXPECT_LE(share_of_bound(s), 1.0);
}

TEST(MatmulBound, IsNeverExceeded) {
  Random random(21);
  double largest = 0.0;
  std::size_t finite = 0;
  for (int round = 0; round < 600; ++round) {
    const PackedSample s = random_sample(random, round % 3 == 0);
    const std::vector<float> y = s.multiplied();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t row = i / s.product.out_features;
      const std::size_t output = i % s.product.out_features;
      const double bound = product_bound(s.arguments(), s.weights.view(), row, output);
      const oracle::ExpectedElement expected = oracle::expected_element(s.for_oracle(), row, output);
      if (!std::isfinite(bound)) continue;
      ASSERT_EQ(expected.kind, oracle::ExpectedKind::bounded);
      ASSERT_LE(expected.sum.distance(y[i]), bound);
      ASSERT_LE(bound, expected.bound * (1.0 + 0x1p-28)) << "more than any order may be off";
      if (bound > 0.0) largest = std::max(largest, expected.sum.distance(y[i]) / bound);
      ++finite;
    }
  }
  EXPECT_GT(finite, 1000U);
  EXPECT_GT(largest, 0.01);
}

TEST(MatmulBound, PromisesNothingForNumbersThatAreNotFiniteOrMayOverflow) {
  for (const SumOrder order : kOrders) {
    PackedSample s(1, 64, 1, 32, 4, Format::f32, order);
    EXPECT_EQ(product_bound(s.arguments(), s.weights.view(), 0, 0) < 1e-40, true);
    s.x[63] = kInfinity;
    EXPECT_EQ(product_bound(s.arguments(), s.weights.view(), 0, 0), std::numeric_limits<double>::infinity());
    s.x[63] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(product_bound(s.arguments(), s.weights.view(), 0, 0), std::numeric_limits<double>::infinity());
    s.x[63] = 0x1p127F;
    EXPECT_TRUE(std::isfinite(product_bound(s.arguments(), s.weights.view(), 0, 0)));
    s.x[62] = -0x1p127F;  // their sum is 0, their magnitudes are not
    EXPECT_FALSE(std::isfinite(product_bound(s.arguments(), s.weights.view(), 0, 0)));
  }
}

TEST(MatmulBound, IsExceededByASumInHalf) {
  PackedSample s(1, 128, 1, 32, 4, Format::f32, SumOrder::sequential);
  for (std::size_t g = 0; g < 4; ++g) s.set_bias(0, g, 1.0F);
  for (float& x : s.x) x = 1.0F + 0x1p-12F;
  const oracle::ExpectedElement expected = oracle::expected_element(s.for_oracle(), 0, 0);
  EXPECT_TRUE(expected.accepts(s.multiplied().at(0)));
  EXPECT_FALSE(expected.accepts(s.multiplied({.sum = ProductSum::half}).at(0)));
}

/// A rational number.
class Exact {
 public:
  Exact() { mpq_init(value_); }
  explicit Exact(double number) {
    mpq_init(value_);
    mpq_set_d(value_, number);
  }
  ~Exact() { mpq_clear(value_); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  mpq_ptr get() { return value_; }

 private:
  mpq_t value_;
};

TEST(ExactSum, OfProductsIsGmps) {
  Random random(22);
  std::size_t compared = 0;
  for (int round = 0; round < 150; ++round) {
    const PackedSample s = random_sample(random, round % 2 == 0);
    const AffineProduct& p = s.product;
    if (p.rows == 0 || p.out_features == 0) continue;
    const oracle::ExpectedElement expected = oracle::expected_element(s.for_oracle(), 0, 0);
    if (expected.kind != oracle::ExpectedKind::bounded) continue;
    Exact sum;
    for (std::size_t i = 0; i < p.in_features; ++i) {
      unsigned code = 0;
      for (unsigned b = p.bits; b-- > 0;)
        code = 2 * code + (s.weights.codes[(i * p.bits + b) / 8] >> (i * p.bits + b) % 8 & 1U);
      Exact term(static_cast<double>(scale_at(p.scale_format, s.weights.scales, i / p.group_size)));
      Exact bias(static_cast<double>(scale_at(p.scale_format, s.weights.biases, i / p.group_size)));
      Exact number(static_cast<double>(code));
      Exact x(static_cast<double>(s.x[i]));
      mpq_mul(term.get(), term.get(), number.get());
      mpq_add(term.get(), term.get(), bias.get());
      mpq_mul(term.get(), term.get(), x.get());
      mpq_add(sum.get(), sum.get(), term.get());
    }
    const double exact = mpq_get_d(sum.get());
    ASSERT_NEAR(expected.sum.value(), exact, std::fabs(exact) * 0x1p-50);
    const float answer = s.multiplied().at(0);
    Exact distance(static_cast<double>(answer));
    mpq_sub(distance.get(), distance.get(), sum.get());
    const double apart = std::fabs(mpq_get_d(distance.get()));
    ASSERT_NEAR(expected.sum.distance(answer), apart, apart * 0x1p-50);
    ++compared;
  }
  EXPECT_GT(compared, 50U);
}

TEST(MatmulBound, CountsTheTermsOfALaneThatIsNotFull) {
  EXPECT_EQ(product_roundings(SumOrder::lanes, 64, 32), 13U);
  EXPECT_EQ(product_roundings(SumOrder::lanes, 65, 32), 14U);
  EXPECT_EQ(product_roundings(SumOrder::lanes, 72, 32), 14U);
}

/// The largest single that is no larger.
float single_below(double number) {
  const auto single = static_cast<float>(number);
  return static_cast<double>(single) > number ? std::nextafter(single, 0.0F) : single;
}

/// What a sum of `in` terms, one after another, must stay below: n + 2 roundings may enlarge it, and sums of doubles
/// are 2^-30 from exact.
double room_of(std::size_t in) {
  const double wrong = static_cast<double>(in + 2) * 0x1p-24;
  return 0x1.fffffep127 / (1.0 + wrong / (1.0 - wrong)) / (1.0 + 0x1p-30);
}

/// A sample whose x are 0, and one of its weights the first double that is out of the room, or the last one in it:
/// scale times code, and the rest as the bias.
std::optional<PackedSample> with_weight(bool out_of_room) {
  for (std::size_t in = 32; in <= 2048; in += 32)
    for (unsigned code = 255; code > 1; --code) {
      const double wanted = out_of_room ? room_of(in) : std::nextafter(room_of(in), 0.0);
      const float scale = single_below(wanted / code);
      const double rest = wanted - static_cast<double>(scale) * code;
      if (static_cast<double>(static_cast<float>(rest)) != rest) continue;
      PackedSample s(1, in, 1, 32, 8, Format::f32, SumOrder::sequential);
      s.set_scale(0, 0, scale);
      s.set_bias(0, 0, static_cast<float>(rest));
      s.set_code(0, 0, code);
      return s;
    }
  return std::nullopt;
}

TEST(MatmulBound, PromisesNothingFromWhereASumOrAWeightMayOverflow) {
  const auto bound = [](const PackedSample& s) { return product_bound(s.arguments(), s.weights.view(), 0, 0); };
  const std::optional<PackedSample> most = with_weight(true);
  ASSERT_TRUE(most);
  EXPECT_EQ(bound(*most), std::numeric_limits<double>::infinity());
  const std::optional<PackedSample> fewer = with_weight(false);
  ASSERT_TRUE(fewer);
  EXPECT_LT(bound(*fewer), 0x1p-100) << "every x is 0";
  // The same of the sums: of x, of x times codes, and of x times weights.
  std::vector<float> parts;
  for (double rest = room_of(32); rest > 0.0; rest -= static_cast<double>(parts.back()))
    parts.push_back(single_below(rest));
  ASSERT_LE(parts.size(), 3U);
  for (const unsigned which : {0U, 1U, 2U})
    for (const bool below : {false, true}) {
      PackedSample s(1, 32, 1, 32, 8, Format::f32, SumOrder::sequential);
      s.set_scale(0, 0, which == 2 ? 2.0F : 0.0F);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        s.x[i] = which == 0 ? parts[i] : parts[i] / 2;
        s.set_code(0, i, which == 0 ? 0 : which == 1 ? 2 : 1);
      }
      if (below) s.x[parts.size() - 1] = 0.0F;
      EXPECT_EQ(std::isinf(bound(s)), !below) << which;
    }
}

TEST(ExactSum, HoldsTheLeastAndTheLargestTermsAtOnce) {
  oracle::ExactSum sum;
  sum.add(1, -298, false);
  sum.add((std::uint64_t{1} << 56) - 1, 208, true);
  EXPECT_EQ(sum.value(), -0x1p264);
  sum.add((std::uint64_t{1} << 56) - 1, 208, false);
  EXPECT_EQ(sum.value(), 0x1p-298);
  EXPECT_EQ(sum.distance(-0x1p-149F), 0x1p-149);
  sum.add(1, -298, true);
  EXPECT_EQ(sum.value(), 0.0);
}

TEST(ExpectedElement, OfNansAndInfinitiesIsANanOrNotFinite) {
  PackedSample s(1, 32, 1, 32, 4, Format::bf16, SumOrder::lanes);
  s.set_scale(0, 0, kInfinity);
  oracle::ExpectedElement expected = oracle::expected_element(s.for_oracle(), 0, 0);
  EXPECT_EQ(expected.kind, oracle::ExpectedKind::no_number);
  EXPECT_TRUE(expected.accepts(-kInfinity));
  EXPECT_FALSE(expected.accepts(0.0F));
  s.x[31] = std::numeric_limits<float>::quiet_NaN();
  expected = oracle::expected_element(s.for_oracle(), 0, 0);
  EXPECT_EQ(expected.kind, oracle::ExpectedKind::any_nan);
  EXPECT_FALSE(expected.accepts(kInfinity));
  s.x[31] = 0x1p127F;
  s.x[30] = -0x1p127F;
  s.set_scale(0, 0, 1.0F);
  EXPECT_EQ(oracle::expected_element(s.for_oracle(), 0, 0).kind, oracle::ExpectedKind::open);
}

}  // namespace
}  // namespace packcheck::test
