// Conversions from and to integers: the casts of this machine, whole-number functions of libm, the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/format/integer.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/format/mode.h"
#include "properties/oracles/format_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

constexpr IntegerRule kIntegerRules[] = {IntegerRule::saturate, IntegerRule::wrap, IntegerRule::refuse,
                                         IntegerRule::indefinite};
constexpr ConvertRules kTruncate{.rounding = Rounding::toward_zero};

std::uint64_t bits_of(double number) { return std::bit_cast<std::uint64_t>(number); }
std::int32_t as_i32(std::uint64_t code) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(code)); }
std::int8_t as_i8(std::uint64_t code) { return static_cast<std::int8_t>(static_cast<std::uint8_t>(code)); }

/// Doubles around halves, limits and powers of two, and random ones.
std::vector<double> doubles() {
  std::vector<double> numbers{HUGE_VAL, std::nan(""), 0x1p1023, 0x1p-1074, 0x1p53, 0x1p54 + 4, 1e10};
  for (int power = 0; power <= 64; ++power)
    for (const double offset : {-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5}) {
      const double number = std::ldexp(1.0, power) + offset;
      for (const double near : {std::nextafter(number, -HUGE_VAL), number, std::nextafter(number, HUGE_VAL)})
        numbers.push_back(near);
    }
  for (int i = 0; i < 1200; ++i) numbers.push_back(i / 4.0);
  for (const std::uint64_t code : random_codes(Format::f64, 5000, 8)) numbers.push_back(std::bit_cast<double>(code));
  for (std::size_t i = numbers.size(); i-- > 0;) numbers.push_back(-numbers[i]);
  return numbers;
}

double rounded_by_libm(double number, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even: return std::nearbyint(number);
    case Rounding::nearest_away: return std::round(number);
    case Rounding::nearest_up: return number - std::floor(number) < 0.5 ? std::floor(number) : std::ceil(number);
    case Rounding::toward_zero: return std::trunc(number);
    case Rounding::upward: return std::ceil(number);
    case Rounding::downward: return std::floor(number);
    case Rounding::stochastic: break;
  }
  return number;
}

TEST(IntegerFormat, SaturatesTheWholeNumberThatLibmGives) {
  for (const double number : doubles()) {
    for (const Rounding rounding : kRoundings) {
      const double whole = rounded_by_libm(number, rounding);
      const auto i32 =
          static_cast<std::int32_t>(std::isnan(whole) ? 0 : std::fmax(-0x1p31, std::fmin(whole, 0x1p31 - 1)));
      const auto i8 = static_cast<std::int8_t>(std::isnan(whole) ? 0 : std::fmax(-128, std::fmin(whole, 127)));
      const ConvertRules rules{.rounding = rounding};
      ASSERT_EQ(as_i32(convert(Format::f64, Format::i32, bits_of(number), rules)), i32) << number << mode_text(rules);
      ASSERT_EQ(as_i8(convert(Format::f64, Format::i8, bits_of(number), rules)), i8) << number << mode_text(rules);
      ASSERT_EQ(integer_holds(Format::f64, Format::i8, bits_of(number), rules), whole >= -128 && whole <= 127);
      ASSERT_EQ(oracle::integer_holds(Format::f64, Format::i8, bits_of(number), rules), whole >= -128 && whole <= 127);
    }
  }
}

TEST(IntegerFormat, EveryRuleAgreesWithTheOracleFromEveryWideFormat) {
  for (const Format from : {Format::f64, Format::f32, Format::i32})
    for (const Format to : {Format::i8, Format::i32})
      for (const std::uint64_t code : from == Format::i32 ? random_codes(Format::f32, 20000, 6) : edge_codes(from))
        for (const IntegerRule integer : kIntegerRules)
          for (const Rounding rounding : kRoundings) {
            const bool flushes = integer == IntegerRule::wrap;
            const ConvertRules rules{.rounding = rounding,
                                     .subnormal = flushes ? SubnormalRule::flushed : SubnormalRule::kept,
                                     .integer = integer};
            ASSERT_EQ(convert(from, to, code, rules), oracle::convert(from, to, code, rules))
                << hex(code) << " " << mode_text(rules);
          }
}

#if defined(__x86_64__)
TEST(IntegerFormat, IndefiniteIsWhatThisProcessorConvertsTo) {
  constexpr ConvertRules kCast{.rounding = Rounding::toward_zero, .integer = IntegerRule::indefinite};
  constexpr ConvertRules kNearest{.integer = IntegerRule::indefinite};
  for (const double number : doubles()) {
    const int truncated = _mm_cvttsd_si32(_mm_set_sd(number));
    ASSERT_EQ(as_i32(convert(Format::f64, Format::i32, bits_of(number), kCast)), truncated) << number;
    ASSERT_EQ(as_i8(convert(Format::f64, Format::i8, bits_of(number), kCast)), static_cast<std::int8_t>(truncated));
    ASSERT_EQ(as_i32(convert(Format::f64, Format::i32, bits_of(number), kNearest)), _mm_cvtsd_si32(_mm_set_sd(number)))
        << number;
    const auto single = static_cast<float>(number);
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(single);
    ASSERT_EQ(as_i32(convert(Format::f32, Format::i32, bits, kCast)), _mm_cvttss_si32(_mm_set_ss(single))) << number;
  }
}
#endif

TEST(IntegerFormat, WrapKeepsTheLowByteOfTheSaturatedInteger) {
  constexpr ConvertRules kWrap{.rounding = Rounding::toward_zero, .integer = IntegerRule::wrap};
  for (const auto& [number, byte] : {std::pair{300.0, 44},
                                     {-129.0, 127},
                                     {1e10, -1},
                                     {-1e10, 0},
                                     {1.9, 1},
                                     {-2.1, -2},
                                     {HUGE_VAL, -1},
                                     {std::nan(""), 0}})
    EXPECT_EQ(as_i8(convert(Format::f64, Format::i8, bits_of(number), kWrap)), byte) << number;
  EXPECT_EQ(as_i32(convert(Format::f64, Format::i32, bits_of(1e10), kWrap)), 0x7FFFFFFF);
  EXPECT_EQ(as_i8(convert(Format::i32, Format::i8, 300, kWrap)), 44);
  EXPECT_EQ(as_i8(convert(Format::i32, Format::i8, 300)), 127);
  EXPECT_EQ(as_i8(convert(Format::i32, Format::i8, 0xFFFFFED4)), -128);  // -300
}

TEST(IntegerFormat, KotlinTruncatesAndSaturates) {
  for (const auto& [number, whole] :
       {std::pair{1.9, 1}, {-2.1, -2}, {std::nan(""), 0}, {1e10, 0x7FFFFFFF}, {-HUGE_VAL, -0x7FFFFFFF - 1}})
    EXPECT_EQ(as_i32(convert(Format::f64, Format::i32, bits_of(number), kTruncate)), whole) << number;
}

TEST(IntegerFormat, EveryByteGoesWhereItsNumberGoesAndComesBack) {
  for (std::uint64_t code = 0; code < 256; ++code) {
    const double number = as_i8(code);
    EXPECT_EQ(convert(Format::i8, Format::f64, code), bits_of(number));
    EXPECT_EQ(as_i32(convert(Format::i8, Format::i32, code)), as_i8(code));
    EXPECT_EQ(convert(Format::i32, Format::i8, convert(Format::i8, Format::i32, code)), code);
    for (const FormatSpec& to : all_formats()) {
      ASSERT_EQ(convert(Format::i8, to.format, code), convert(Format::f64, to.format, bits_of(number))) << to.name;
      ASSERT_EQ(convert(Format::i8, to.format, code | 0xFFFFFF00), convert(Format::i8, to.format, code)) << to.name;
    }
  }
}

TEST(IntegerFormat, IntegersOfMoreBitsThanASignificandAreRoundedOnce) {
  for (const std::uint64_t code : random_codes(Format::f32, 20000, 9)) {  // any 32 bits
    const std::int32_t whole = as_i32(code);
    ASSERT_EQ(convert(Format::i32, Format::f32, code), std::bit_cast<std::uint32_t>(static_cast<float>(whole)))
        << whole;
    for (const FormatSpec& to : all_formats())
      ASSERT_EQ(convert(Format::i32, to.format, code), oracle::convert(Format::i32, to.format, code, {})) << to.name;
  }
  EXPECT_EQ(convert(Format::i32, Format::f32, 0x01000001), 0x4B800000U);  // 2^24 + 1: a tie, to even
  EXPECT_EQ(convert(Format::i32, Format::f32, 0x01000003), 0x4B800002U);
  EXPECT_EQ(convert(Format::i32, Format::f32, 0x7FFFFFFF), 0x4F000000U);  // 2^31
  EXPECT_EQ(convert(Format::i32, Format::f32, 0x7FFFFFFF, {.from_integer = FromInteger::truncated}), 0x4EFFFFFFU);
}

TEST(IntegerFormat, AnArrayIsRefusedBeforeAByteIsWrittenAndTheElementNamed) {
  const std::vector<std::uint8_t> in{0, 0, 0, 0x3F, 0, 0, 0xFF, 0x42};  // 0.5, 127.5
  std::vector<std::uint8_t> out(2, 0x55);
  const ConvertRules refusing{.integer = IntegerRule::refuse};
  const auto refused = convert_array(Format::f32, Format::i8, in, out, refusing);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), testing::AllOf(testing::HasSubstr("element 1"), testing::HasSubstr("-128..127")));
  EXPECT_THAT(out, testing::Each(0x55));
  ConvertRules cut = refusing;
  cut.rounding = Rounding::toward_zero;
  ASSERT_TRUE(convert_array(Format::f32, Format::i8, in, out, cut));
  EXPECT_THAT(out, testing::ElementsAre(0, 127));
}

}  // namespace
}  // namespace packcheck::test
