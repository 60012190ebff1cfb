// Formats of 8 bits and fewer: known answers, every code, the numbers around every code and midpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/format/mode.h"
#include "properties/oracles/format_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

/// What ml_dtypes and the OCP documents say of a format, apart from both tables of the project.
struct Known {
  Format format;
  int exponent_bits;
  int fraction_bits;
  int bias;
  double largest;
  double smallest_normal;
  double smallest;  ///< subnormal where there are any
  std::vector<std::uint64_t> infinities;
  std::vector<std::uint64_t> nans;
};

const std::vector<Known>& narrow_formats() {
  static const std::vector<Known> table{
      {Format::e5m2, 5, 2, 15, 57344, 0x1p-14, 0x1p-16, {0x7C, 0xFC}, {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}},
      {Format::e4m3,
       4,
       3,
       7,
       240,
       0x1p-6,
       0x1p-9,
       {0x78, 0xF8},
       {0x79, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF}},
      {Format::e3m4, 3, 4, 3, 15.5, 0x1p-2, 0x1p-6, {0x70, 0xF0}, {0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78,
                                                                   0x79, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F, 0xF1,
                                                                   0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9,
                                                                   0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF}},
      {Format::e4m3fn, 4, 3, 7, 448, 0x1p-6, 0x1p-9, {}, {0x7F, 0xFF}},
      {Format::e4m3fnuz, 4, 3, 8, 240, 0x1p-7, 0x1p-10, {}, {0x80}},
      {Format::e5m2fnuz, 5, 2, 16, 57344, 0x1p-15, 0x1p-17, {}, {0x80}},
      {Format::e4m3b11fnuz, 4, 3, 11, 30, 0x1p-10, 0x1p-13, {}, {0x80}},
      {Format::e8m0, 8, 0, 127, 0x1p127, 0x1p-127, 0x1p-127, {}, {0xFF}},
      {Format::e3m2, 3, 2, 3, 28, 0x1p-2, 0x1p-4, {}, {}},
      {Format::e2m3, 2, 3, 1, 7.5, 1, 0.125, {}, {}},
      {Format::e2m1, 2, 1, 1, 6, 1, 0.5, {}, {}},
      {Format::ue4m3, 4, 3, 7, 448, 0x1p-6, 0x1p-9, {}, {0x7F}},
      {Format::e5m3, 5, 3, 15, 114688, 0x1p-14, 0x1p-17, {}, {0xFF}}};
  return table;
}

constexpr Rounding kAllRoundings[] = {Rounding::nearest_even, Rounding::nearest_away, Rounding::nearest_up,
                                      Rounding::toward_zero,  Rounding::upward,       Rounding::downward,
                                      Rounding::stochastic};

std::uint64_t bits_of(double number) { return std::bit_cast<std::uint64_t>(number); }
std::uint64_t codes_of(const Known& k) { return std::uint64_t{1} << spec(k.format).width(); }
bool is_power_of_two(const Known& k) { return k.format == Format::e8m0; }
bool is_unsigned(const Known& k) { return is_power_of_two(k) || k.format == Format::ue4m3 || k.format == Format::e5m3; }

/// The number of a code that is neither NaN nor infinity, from its fields.
double number_of(const Known& k, std::uint64_t code) {
  if (is_power_of_two(k)) return std::ldexp(1.0, static_cast<int>(code) - 127);
  const auto fraction = static_cast<int>(code % (std::uint64_t{1} << k.fraction_bits));
  const auto field = static_cast<int>(code >> k.fraction_bits) % (1 << k.exponent_bits);
  const int one = 1 << k.fraction_bits;
  const double magnitude = field == 0 ? std::ldexp(fraction, 1 - k.bias - k.fraction_bits)
                                      : std::ldexp(one + fraction, field - k.bias - k.fraction_bits);
  return code >> (k.exponent_bits + k.fraction_bits) != 0 ? -magnitude : magnitude;
}

bool contains(const std::vector<std::uint64_t>& codes, std::uint64_t code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

/// Non-negative finite codes; their numbers increase.
std::vector<std::uint64_t> positive_codes(const Known& k) {
  std::vector<std::uint64_t> codes;
  for (std::uint64_t code = 0; code < (is_unsigned(k) ? codes_of(k) : codes_of(k) / 2); ++code)
    if (!contains(k.nans, code) && !contains(k.infinities, code)) codes.push_back(code);
  return codes;
}

std::uint64_t encoded(double number, Format to, Rounding rounding) {
  const ConvertRules rules{.rounding = rounding};
  const std::uint64_t code = convert(Format::f64, to, bits_of(number), rules);
  EXPECT_EQ(oracle::convert(Format::f64, to, bits_of(number), rules), code)
      << number << " to " << spec(to).name << ", " << rounding_name(rounding);
  return code;
}

class NarrowFormat : public testing::TestWithParam<Known> {};

TEST_P(NarrowFormat, HasTheKnownLimits) {
  const Known& k = GetParam();
  const FormatSpec& s = spec(k.format);
  EXPECT_EQ(s.bytes(), 1U);
  EXPECT_EQ(s.bias(), k.bias);
  EXPECT_EQ(number_of(k, s.largest_finite()), k.largest);
  EXPECT_EQ(encoded(k.largest, k.format, Rounding::nearest_even), s.largest_finite());
  EXPECT_EQ(encoded(k.smallest_normal, k.format, Rounding::nearest_even),
            is_power_of_two(k) ? 0 : s.significand_mask() + 1);
  EXPECT_EQ(encoded(k.smallest, k.format, Rounding::nearest_even), is_power_of_two(k) ? 0U : 1U);
  EXPECT_EQ(s.has_nan(), !k.nans.empty());
  EXPECT_EQ(oracle::has_nan(k.format), !k.nans.empty());
  EXPECT_EQ(s.infinities, !k.infinities.empty());
  EXPECT_EQ(s.has_negative_zero(), !is_unsigned(k) && !contains(k.nans, 0x80));
}

TEST_P(NarrowFormat, EveryCodeIsTheNumberOfItsFieldsAndComesBack) {
  const Known& k = GetParam();
  const FormatSpec& s = spec(k.format);
  for (std::uint64_t code = 0; code < codes_of(k); ++code) {
    SCOPED_TRACE(hex(code));
    ASSERT_EQ(is_nan(s, code), contains(k.nans, code));
    ASSERT_EQ(oracle::is_nan(k.format, code), contains(k.nans, code));
    ASSERT_EQ(is_infinite(s, code), contains(k.infinities, code));
    const std::uint64_t wide = convert(k.format, Format::f64, code);
    ASSERT_EQ(oracle::convert(k.format, Format::f64, code, {}), wide);
    if (contains(k.nans, code)) {
      ASSERT_TRUE(std::isnan(std::bit_cast<double>(wide)));
      ASSERT_TRUE(contains(k.nans, convert(Format::f64, k.format, wide)));
      continue;
    }
    const double infinite = (code & s.sign_bit()) != 0 ? -HUGE_VAL : HUGE_VAL;
    ASSERT_EQ(wide, bits_of(contains(k.infinities, code) ? infinite : number_of(k, code)));
    for (const Rounding rounding : kAllRoundings)
      ASSERT_EQ(convert(Format::f64, k.format, wide, {.rounding = rounding}), code) << rounding_name(rounding);
  }
}

/// Between two neighbours every rounding mode must choose as it says: a little above the lower one, half way
/// and a little below the upper one.
TEST_P(NarrowFormat, NumbersBetweenNeighboursGoToTheOneThatTheRoundingSays) {
  const Known& k = GetParam();
  const std::vector<std::uint64_t> codes = positive_codes(k);
  ASSERT_GT(codes.size(), 6U);
  for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
    const double low = number_of(k, codes[i]);
    const double high = number_of(k, codes[i + 1]);
    const double half_way = (low + high) / 2;
    const std::uint64_t even = is_power_of_two(k) || codes[i] % 2 == 1 ? codes[i + 1] : codes[i];
    SCOPED_TRACE(half_way);
    for (const double inside : {std::nextafter(low, high), std::nextafter(half_way, low), half_way,
                                std::nextafter(half_way, high), std::nextafter(high, low)}) {
      const std::uint64_t nearest = inside < half_way ? codes[i] : codes[i + 1];
      ASSERT_EQ(encoded(inside, k.format, Rounding::nearest_away), nearest);
      ASSERT_EQ(encoded(inside, k.format, Rounding::nearest_up), nearest);
      ASSERT_EQ(encoded(inside, k.format, Rounding::nearest_even), inside == half_way ? even : nearest);
      ASSERT_EQ(encoded(inside, k.format, Rounding::toward_zero), codes[i]);
      ASSERT_EQ(encoded(inside, k.format, Rounding::downward), codes[i]);
      ASSERT_EQ(encoded(inside, k.format, Rounding::upward), codes[i + 1]);
      if (is_unsigned(k)) continue;
      const std::uint64_t sign = spec(k.format).sign_bit();
      const bool zero = !spec(k.format).has_negative_zero() && codes[i] == 0;  // the only one
      const std::uint64_t nearest_up = inside <= half_way ? codes[i] : codes[i + 1];
      ASSERT_EQ(encoded(-inside, k.format, Rounding::nearest_up), zero && nearest_up == 0 ? 0 : sign | nearest_up);
      ASSERT_EQ(encoded(-inside, k.format, Rounding::upward), zero ? 0 : sign | codes[i]);
      ASSERT_EQ(encoded(-inside, k.format, Rounding::downward), sign | codes[i + 1]);
    }
  }
}

TEST_P(NarrowFormat, SinglesAroundEveryCodeAndMidpointAgreeWithTheOracleInEveryMode) {
  const Known& k = GetParam();
  const std::vector<std::uint64_t> codes = positive_codes(k);
  Random random(3);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const double low = number_of(k, codes[i]);
    const double next = i + 1 < codes.size() ? number_of(k, codes[i + 1]) : 2 * low - number_of(k, codes[i - 1]);
    for (const double center : {low, (low + next) / 2, next}) {
      const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(center));
      for (int step = -3; step <= 3; ++step) {
        for (const std::uint32_t sign : {0U, 0x80000000U}) {
          const std::uint32_t bits = (single + static_cast<std::uint32_t>(step)) ^ sign;
          for (const Rounding rounding : kAllRoundings) {
            for (const bool saturating : {false, true}) {
              const ConvertRules rules{
                  .rounding = rounding, .saturating = saturating, .random_bits = random.bits() >> random.below(40)};
              ASSERT_EQ(convert(Format::f32, k.format, bits, rules),
                        oracle::convert(Format::f32, k.format, bits, rules))
                  << hex(bits) << " " << mode_text(rules);
            }
          }
        }
      }
    }
  }
}

TEST_P(NarrowFormat, BitsAboveTheWidthAreIgnored) {
  const Known& k = GetParam();
  if (spec(k.format).width() == 8) {
    EXPECT_EQ(convert(k.format, Format::f32, 0x1234500 | 0x3C), convert(k.format, Format::f32, 0x3C));
    return;
  }
  for (std::uint64_t code = 0; code < codes_of(k); ++code)
    for (std::uint64_t above = codes_of(k); above < 256; above *= 2)
      ASSERT_EQ(convert(k.format, Format::f32, above | code), convert(k.format, Format::f32, code)) << hex(code);
}

INSTANTIATE_TEST_SUITE_P(Every, NarrowFormat, testing::ValuesIn(narrow_formats()),
                         [](const auto& test) { return std::string(spec(test.param.format).name); });

TEST(NarrowFormats, AreAllOfThoseBelowSixteenBits) {
  std::size_t narrow = 0;
  for (const FormatSpec& s : all_formats()) narrow += s.width() < 16 && !s.is_integer() ? 1U : 0U;
  EXPECT_EQ(narrow, narrow_formats().size());
  EXPECT_EQ(all_formats().size(), narrow + kWideFormats + 2) << "i8 and i32 have tests of their own";
}

TEST(NarrowFormats, EveryPairUpToSixteenBitsAgreesWithTheOracleForEveryCode) {
  std::size_t pairs = 0;
  for (const FormatSpec& from : all_formats()) {
    for (const FormatSpec& to : all_formats()) {
      if (from.width() > 16 || to.width() > 16) continue;
      ++pairs;
      for (const Rounding rounding : kAllRoundings) {
        const ConvertRules rules{
            .rounding = rounding,
            .subnormal = rounding == Rounding::nearest_up ? SubnormalRule::truncated : SubnormalRule::kept,
            .saturating = rounding == Rounding::nearest_away,
            .random_bits = 0x5555555555555555};
        for (std::uint64_t code = 0; code < std::uint64_t{1} << from.width(); ++code)
          ASSERT_EQ(convert(from.format, to.format, code, rules), oracle::convert(from.format, to.format, code, rules))
              << from.name << " " << hex(code) << " to " << to.name << ", " << mode_text(rules);
      }
    }
  }
  EXPECT_EQ(pairs, 16U * 16U);
}

struct Answer {
  double number;
  Format to;
  std::uint64_t plain;
  std::uint64_t saturated;
};

TEST(NarrowFormats, OverflowGivesWhatTheTableSaysOrTheLargest) {
  for (const Answer& a : {Answer{464, Format::e4m3fn, 0x7E, 0x7E},  // half way past 448, whose code is even
                          Answer{465, Format::e4m3fn, 0x7F, 0x7E}, Answer{-465, Format::e4m3fn, 0xFF, 0xFE},
                          Answer{HUGE_VAL, Format::e4m3fn, 0x7F, 0x7E}, Answer{61440, Format::e5m2, 0x7C, 0x7B},
                          Answer{-61440, Format::e5m2, 0xFC, 0xFB}, Answer{-HUGE_VAL, Format::e5m2, 0xFC, 0xFB},
                          Answer{248, Format::e4m3fnuz, 0x80, 0x7F}, Answer{-1e9, Format::e5m2fnuz, 0x80, 0xFF},
                          Answer{100, Format::e2m1, 0x7, 0x7}, Answer{-HUGE_VAL, Format::e2m1, 0xF, 0xF},
                          Answer{1e9, Format::e3m2, 0x1F, 0x1F}, Answer{-1e9, Format::e2m3, 0x3F, 0x3F},
                          Answer{0x1.8p127, Format::e8m0, 0xFF, 0xFE}, Answer{HUGE_VAL, Format::e8m0, 0xFF, 0xFE}}) {
    SCOPED_TRACE(std::to_string(a.number) + " to " + std::string(spec(a.to).name));
    EXPECT_EQ(convert(Format::f64, a.to, bits_of(a.number)), a.plain);
    EXPECT_EQ(convert(Format::f64, a.to, bits_of(a.number), {.saturating = true}), a.saturated);
  }
}

TEST(NarrowFormats, PowersOfTwoRoundUpOnTiesAndKnowNeitherZeroNorSign) {
  EXPECT_EQ(convert(Format::f64, Format::e8m0, bits_of(3.0)), 129U);  // 4
  EXPECT_EQ(convert(Format::f64, Format::e8m0, bits_of(2.9)), 128U);  // 2
  EXPECT_EQ(convert(Format::f32, Format::e8m0, 1), 0U);               // 1.4e-45 becomes 2^-127
  for (const double none : {0.0, -0.0, -1.0, -HUGE_VAL})
    for (const bool saturating : {false, true})
      EXPECT_EQ(convert(Format::f64, Format::e8m0, bits_of(none), {.saturating = saturating}), 0xFFU) << none;
}

TEST(NarrowFormats, NanKeepsItsSignWhereThereIsOneAndIsMinusZeroWhereThereIsNoNan) {
  EXPECT_EQ(convert(Format::f32, Format::e4m3fn, 0xFFC00000), 0xFFU);
  EXPECT_EQ(convert(Format::f32, Format::e4m3fnuz, 0x7FC00000), 0x80U);
  EXPECT_EQ(convert(Format::f32, Format::e8m0, 0xFFC00000), 0xFFU);
  EXPECT_EQ(convert(Format::f32, Format::e2m1, 0x7FC00000), 0x8U);
  EXPECT_EQ(convert(Format::f32, Format::e2m3, 0x7FC00000), 0x20U);
  EXPECT_EQ(convert(Format::e4m3fn, Format::f32, 0xFF), 0xFFC00000U);
  EXPECT_EQ(convert(Format::e5m2fnuz, Format::f32, 0x80), 0x7FC00000U);
  EXPECT_EQ(convert(Format::f32, Format::e5m2fnuz, 0x80000000), 0U);  // -0 is no number there
}

TEST(NarrowFormats, TruncatedNanBecomesInfinityWhenItsPayloadIsLow) {
  constexpr ConvertRules kTruncating{.rounding = Rounding::toward_zero, .nan = NanRule::truncated};
  EXPECT_EQ(convert(Format::f32, Format::bf16, 0x7F800001, kTruncating), 0x7F80U);
  EXPECT_EQ(convert(Format::f32, Format::bf16, 0xFF80FFFF, kTruncating), 0xFF80U);
  EXPECT_EQ(convert(Format::f32, Format::bf16, 0x7F810000, kTruncating), 0x7F81U);
}

TEST(RoundingTwice, ThroughHalfGivesAnotherByteThanDirectly) {
  const std::uint64_t number = bits_of(1.0625 + 0x1p-30);  // just above half way between two bytes of e4m3fn
  EXPECT_EQ(convert(Format::f64, Format::e4m3fn, number), 0x39U);
  EXPECT_EQ(convert(Format::f64, Format::e4m3fn, number, {.path = ConvertPath::through_f16}), 0x38U);
}

TEST(StochasticRounding, GoesUpAsOftenAsTheDiscardedPartSays) {
  // A quarter of a last place of e2m1 above 1: up for the lowest quarter of random numbers, exactly.
  const std::uint64_t number = bits_of(1.125);
  const auto rounded = [&](std::uint64_t random) {
    return convert(Format::f64, Format::e2m1, number, {.rounding = Rounding::stochastic, .random_bits = random});
  };
  EXPECT_EQ(rounded(0), 0x3U);
  EXPECT_EQ(rounded(0x3FFFFFFFFFFFFFFF), 0x3U);
  EXPECT_EQ(rounded(0x4000000000000000), 0x2U);
  EXPECT_EQ(rounded(~std::uint64_t{0}), 0x2U);
}

TEST(StochasticRounding, AgreesWithTheOracleForEdgeAndRandomDoubles) {
  Random random(5);
  for (const FormatSpec& to : all_formats()) {
    for (const std::uint64_t code : random_codes(Format::f64, 20000, 4)) {
      const ConvertRules rules{.rounding = Rounding::stochastic, .random_bits = random.bits() >> random.below(64)};
      ASSERT_EQ(convert(Format::f64, to.format, code, rules), oracle::convert(Format::f64, to.format, code, rules))
          << hex(code) << " to " << to.name << " " << mode_text(rules);
    }
  }
}

TEST(WideToNarrow, EdgeDoublesAgreeWithTheOracleInEveryMode) {
  const std::vector<std::uint64_t> codes = edge_codes(Format::f64);
  for (const Known& k : narrow_formats())
    for (const Rounding rounding : kRoundings)
      for (const std::uint64_t code : codes) {
        const ConvertRules rules{.rounding = rounding};
        ASSERT_EQ(convert(Format::f64, k.format, code, rules), oracle::convert(Format::f64, k.format, code, rules))
            << hex(code) << " to " << spec(k.format).name << " " << mode_text(rules);
      }
}

TEST(NarrowFormats, AScaleWithoutSignIgnoresTheBitAboveItAndKnowsNoNegativeNumber) {
  for (std::uint64_t code = 0; code < 128; ++code)
    EXPECT_EQ(convert(Format::ue4m3, Format::f32, code | 0x80), convert(Format::e4m3fn, Format::f32, code));
  for (const Format to : {Format::ue4m3, Format::e5m3}) {
    const std::uint64_t nan = to == Format::ue4m3 ? 0x7F : 0xFF;
    EXPECT_EQ(convert(Format::f64, to, bits_of(-0.0)), 0U);
    EXPECT_EQ(convert(Format::f64, to, bits_of(-0x1p-40)), nan);
    EXPECT_EQ(convert(Format::f64, to, bits_of(HUGE_VAL)), nan);
    EXPECT_EQ(convert(Format::f64, to, bits_of(HUGE_VAL), {.saturating = true}), nan - 1);
    EXPECT_EQ(convert(Format::f64, to, bits_of(-1.0), {.saturating = true}), nan);
  }
}

// Bug reports of scale codecs. An exponent code is compared as a code, 0xFF is NaN and no infinity; subnormals
// count from 2^-9; adding noise below the last kept bit carries into the exponent; a scale multiplies the
// number, not its bits.
TEST(NarrowFormats, ScalesGiveTheRightAnswersOfKnownBugs) {
  EXPECT_EQ(convert(Format::e8m0, Format::f32, 0xFF), 0x7FC00000U);
  EXPECT_EQ(convert(Format::e8m0, Format::f32, 134), 0x43000000U);  // 128
  for (const Format format : {Format::e4m3fn, Format::ue4m3})
    EXPECT_EQ(convert(format, Format::f32, 0x01), 0x3B000000U);
  const std::uint64_t noise = std::uint64_t{0x080000} << 44;  // of the 20 bits that go
  const ConvertRules noisy{.rounding = Rounding::stochastic, .random_bits = ~noise};
  EXPECT_EQ(convert(Format::f32, Format::e5m3, 0x3FF80000, noisy), 0x80U);  // 1.9375 becomes 2
  EXPECT_EQ(convert(Format::e5m3, Format::f32, 0x80), 0x40000000U);
  const double half = std::bit_cast<double>(convert(Format::bf16, Format::f64, 0x3F00));
  const double scale = std::bit_cast<double>(convert(Format::e8m0, Format::f64, 0x00));
  EXPECT_EQ(convert(Format::f64, Format::bf16, bits_of(half * scale)), 0x0020U);
  for (const double number : {449.0, 464.0, 465.0}) {
    EXPECT_EQ(convert(Format::f64, Format::e4m3fn, bits_of(number)), number < 465 ? 0x7EU : 0x7FU);
    EXPECT_EQ(convert(Format::f64, Format::e4m3fn, bits_of(number), {.saturating = true}), 0x7EU);
  }
}

TEST(FormatArray, NarrowElementsTakeOneByteEach) {
  const std::vector<std::uint8_t> in{0x02, 0x0F, 0x07};
  std::vector<std::uint8_t> out(3);
  ASSERT_TRUE(convert_array(Format::e2m1, Format::e4m3fn, in, out));  // 1, -6, 6
  EXPECT_THAT(out, testing::ElementsAre(0x38, 0xCC, 0x4C));
  std::vector<std::uint8_t> wrong(2);
  EXPECT_FALSE(convert_array(Format::e2m1, Format::e4m3fn, in, wrong));
}

}  // namespace
}  // namespace packcheck::test
