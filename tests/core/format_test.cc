// The core's converter, the format oracle and MPFR must agree, code for code.
#include "core/format/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/format/mode.h"
#include "properties/oracles/format_oracle.h"
#include "tests/core/mpfr_reference.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

std::vector<std::uint64_t> every_code(Format format) {
  std::vector<std::uint64_t> codes(std::size_t{1} << spec(format).width());
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = i;
  return codes;
}

std::string place(Format from, Format to, std::uint64_t code, Rounding rounding) {
  return std::string(spec(from).name) + " " + hex(code) + " to " + std::string(spec(to).name) + ", " +
         std::string(rounding_name(rounding));
}

/// All targets, all rounding modes: core = oracle = MPFR; with flushing core = oracle.
void expect_agreement(Format from, const std::vector<std::uint64_t>& codes) {
  std::size_t numbers = 0;
  for (const Format to : kIeeeFormats) {
    for (const std::uint64_t code : codes) {
      if (oracle::is_nan(from, code)) continue;
      ++numbers;
      for (const Rounding rounding : kRoundings) {
        const std::uint64_t expected = mpfr_convert(from, to, code, rounding);
        ASSERT_EQ(oracle::convert(from, to, code, {.rounding = rounding}), expected)
            << "oracle: " << place(from, to, code, rounding);
        ASSERT_EQ(convert(from, to, code, {.rounding = rounding}), expected)
            << "core: " << place(from, to, code, rounding);
        ASSERT_EQ(convert(from, to, code, {.rounding = rounding, .subnormal = SubnormalRule::flushed}),
                  oracle::convert(from, to, code, {.rounding = rounding, .subnormal = SubnormalRule::flushed}))
            << "flushed: " << place(from, to, code, rounding);
      }
    }
  }
  EXPECT_GE(numbers, 4 * codes.size() / 2);
}

TEST(FormatConversion, EveryHalfGoesWhereMpfrSays) { expect_agreement(Format::f16, every_code(Format::f16)); }

TEST(FormatConversion, EveryBfloatGoesWhereMpfrSays) { expect_agreement(Format::bf16, every_code(Format::bf16)); }

TEST(FormatConversion, EveryByteInTheMannerOfIeeeGoesWhereMpfrSays) {
  for (const Format from : {Format::e5m2, Format::e4m3, Format::e3m4}) expect_agreement(from, every_code(from));
}

TEST(FormatConversion, EdgeAndRandomSinglesGoWhereMpfrSays) {
  expect_agreement(Format::f32, edge_codes(Format::f32));
  expect_agreement(Format::f32, random_codes(Format::f32, 40000, 1));
}

TEST(FormatConversion, EdgeAndRandomDoublesGoWhereMpfrSays) {
  expect_agreement(Format::f64, edge_codes(Format::f64));
  expect_agreement(Format::f64, random_codes(Format::f64, 40000, 2));
}

TEST(FormatConversion, FlushingTurnsSubnormalOperandsAndResultsIntoSignedZero) {
  constexpr ConvertRules kFlush{.subnormal = SubnormalRule::flushed};
  EXPECT_EQ(convert(Format::f32, Format::f64, 0x80000001, kFlush), 0x8000000000000000U);  // operand
  EXPECT_EQ(convert(Format::f32, Format::f16, 0x38000000, kFlush), 0U);                   // 2^-15 is subnormal
  EXPECT_EQ(convert(Format::f32, Format::f16, 0xB8000000, kFlush), 0x8000U);
  // Just below 2^-14: rounds up to the smallest normal half, which is not subnormal.
  EXPECT_EQ(convert(Format::f32, Format::f16, 0x387FFFFF, kFlush), 0x0400U);
  EXPECT_EQ(oracle::convert(Format::f32, Format::f16, 0x387FFFFF, kFlush), 0x0400U);
}

TEST(FormatConversion, OverflowFollowsTheRoundingMode) {
  struct Row {
    Rounding rounding;
    std::uint64_t positive;
    std::uint64_t negative;
  };
  for (const Row& row : {Row{Rounding::nearest_even, 0x7C00, 0xFC00}, Row{Rounding::nearest_away, 0x7C00, 0xFC00},
                         Row{Rounding::toward_zero, 0x7BFF, 0xFBFF}, Row{Rounding::upward, 0x7C00, 0xFBFF},
                         Row{Rounding::downward, 0x7BFF, 0xFC00}}) {
    SCOPED_TRACE(rounding_name(row.rounding));
    const ConvertRules rules{.rounding = row.rounding};
    EXPECT_EQ(convert(Format::f32, Format::f16, 0x477FF000, rules), row.positive);  // 65520, the tie
    EXPECT_EQ(convert(Format::f32, Format::f16, 0xC77FF000, rules), row.negative);
    EXPECT_EQ(convert(Format::f64, Format::f16, 0x7FEFFFFFFFFFFFFF, rules), row.positive);
    EXPECT_EQ(oracle::convert(Format::f64, Format::f16, 0xFFEFFFFFFFFFFFFF, rules), row.negative);
  }
}

void expect_nan_rules(Format from, const std::vector<std::uint64_t>& codes) {
  std::size_t nans = 0;
  for (const std::uint64_t code : codes) {
    if (!oracle::is_nan(from, code)) continue;
    ++nans;
    for (const Format to : kIeeeFormats) {
      const std::uint64_t quieted = convert(from, to, code, {.nan = NanRule::quieted});
      const std::uint64_t same = convert(from, to, code, {.nan = NanRule::same_payload});
      ASSERT_EQ(quieted, oracle::quieted_nan(from, to, code)) << hex(code) << " to " << spec(to).name;
      ASSERT_EQ(same, oracle::same_payload_nan(from, to, code)) << hex(code) << " to " << spec(to).name;
      ASSERT_EQ(convert(from, to, code, {.nan = NanRule::truncated}), oracle::truncated_nan(from, to, code))
          << hex(code);
      ASSERT_TRUE(oracle::is_nan(to, quieted) && oracle::is_nan(to, same)) << hex(code);
      ASSERT_EQ(quieted & spec(to).quiet_bit(), spec(to).quiet_bit()) << hex(code);
      ASSERT_TRUE(from != to || same == code) << hex(code);
    }
  }
  EXPECT_GT(nans, 0U);
}

TEST(FormatNan, BothRulesAgreeWithTheOracleForEverySixteenBitNan) {
  expect_nan_rules(Format::f16, every_code(Format::f16));
  expect_nan_rules(Format::bf16, every_code(Format::bf16));
}

TEST(FormatNan, BothRulesAgreeWithTheOracleForEdgeNansOfWideFormats) {
  expect_nan_rules(Format::f32, edge_codes(Format::f32));
  expect_nan_rules(Format::f64, edge_codes(Format::f64));
}

TEST(FormatNan, PayloadsAreKeptAsFarAsTheyFit) {
  struct Row {
    std::uint64_t single;
    std::uint64_t quieted;
    std::uint64_t same;
  };
  for (const Row& row : {Row{0x7F800001, 0x7E00, 0x7E00},     // the payload does not fit: still a NaN
                         Row{0x7FA00000, 0x7F00, 0x7D00},     // signalling
                         Row{0xFFFFFFFF, 0xFFFF, 0xFFFF},     // sign and all
                         Row{0x7FC02000, 0x7E01, 0x7E01}}) {  // the last bit that fits
    SCOPED_TRACE(hex(row.single));
    EXPECT_EQ(convert(Format::f32, Format::f16, row.single), row.quieted);
    EXPECT_EQ(convert(Format::f32, Format::f16, row.single, {.nan = NanRule::same_payload}), row.same);
    EXPECT_EQ(oracle::quieted_nan(Format::f32, Format::f16, row.single), row.quieted);
    EXPECT_EQ(oracle::same_payload_nan(Format::f32, Format::f16, row.single), row.same);
  }
}

TEST(FormatTable, NamesAreFoundAndUnknownOnesAreNot) {
  for (std::size_t i = 0; i < all_formats().size(); ++i) {
    const FormatSpec& s = all_formats()[i];
    EXPECT_EQ(static_cast<std::size_t>(s.format), i);
    EXPECT_EQ(format_named(s.name), s.format);
  }
  EXPECT_EQ(format_named("ue8m0"), Format::e8m0);
  EXPECT_EQ(format_named("ue5m3"), Format::e5m3);
  EXPECT_FALSE(format_named("f8"));
}

TEST(FormatArray, ElementsAreLittleEndianAndSizesMustAgree) {
  const std::vector<std::uint8_t> in{0x00, 0x00, 0x80, 0x3F, 0x01, 0x00, 0xC0, 0xFF};  // 1.0, a NaN
  std::vector<std::uint8_t> out(4);
  ASSERT_TRUE(convert_array(Format::f32, Format::f16, in, out));
  EXPECT_THAT(out, testing::ElementsAre(0x00, 0x3C, 0x00, 0xFE));
  const std::span<const std::uint8_t> torn(in.data(), 7);
  EXPECT_THAT(convert_array(Format::f32, Format::f16, torn, out).error().text(), testing::HasSubstr("multiple of 4"));
  for (const std::size_t size : {2U, 3U, 5U, 6U}) {
    std::vector<std::uint8_t> wrong(size);
    EXPECT_THAT(convert_array(Format::f32, Format::f16, in, wrong).error().text(),
                testing::HasSubstr("2 elements of 2 bytes"))
        << size;
  }
}

}  // namespace
}  // namespace packcheck::test
