// The bulk narrowing oracle: against MPFR, the processor, and the format oracle.
#include "properties/oracles/narrowing_oracle.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/format/convert.h"
#include "core/format/mode.h"
#include "properties/oracles/cell_oracle.h"
#include "properties/oracles/format_oracle.h"
#include "tests/core/mpfr_reference.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Narrow = void (*)(const std::uint32_t*, std::uint16_t*, std::size_t);

struct Target {
  Format format;
  Narrow narrow;
};
constexpr std::array<Target, 2> kTargets{
    {{Format::f16, oracle::narrow_f32_to_f16}, {Format::bf16, oracle::narrow_f32_to_bf16}}};

/// Rounds singles to a 16-bit format by MPFR, quickly: everything is set up once.
class MpfrNarrowing {
 public:
  explicit MpfrNarrowing(Format to)
      : format_(mpfr_format(to)), range_(format_.lowest(), format_.highest), number_(format_.precision) {}

  /// The result as an f32, which holds every number of the format.
  float operator()(std::uint32_t code) {
    const std::uint32_t field = code >> 23 & 0xFF;
    const std::uint32_t fraction = code & 0x7FFFFF;
    const std::uint32_t significand = field == 0 ? fraction : fraction | 0x800000;
    const long exponent = static_cast<long>(field == 0 ? 1 : field) - 150;
    const int ternary = mpfr_set_ui_2exp(number_.get(), significand, exponent, MPFR_RNDN);
    mpfr_subnormalize(number_.get(), ternary, MPFR_RNDN);
    const float magnitude = mpfr_get_flt(number_.get(), MPFR_RNDN);
    return (code >> 31) != 0 ? -magnitude : magnitude;
  }

 private:
  MpfrFormat format_;
  ExponentRange range_;
  Real number_;
};

/// The number of every 16-bit code that is no NaN, as f32 bits.
std::vector<std::uint32_t> values_of(Format format) {
  std::vector<std::uint32_t> values(1U << 16);
  Real number(24);
  for (std::uint32_t code = 0; code < values.size(); ++code) {
    if (oracle::is_nan(format, code)) continue;
    set_to_code(number, format, code);
    values[code] = std::bit_cast<std::uint32_t>(mpfr_get_flt(number.get(), MPFR_RNDN));
  }
  return values;
}

/// 5·10^6 singles: the edge codes, then random ones, half of them in the range of half.
std::vector<std::uint32_t> many_singles() {
  constexpr std::size_t kCount = 5000000;
  std::vector<std::uint32_t> singles;
  singles.reserve(kCount);
  for (const std::uint64_t code : edge_codes(Format::f32)) singles.push_back(static_cast<std::uint32_t>(code));
  for (const std::uint64_t code : random_codes(Format::f32, kCount - singles.size(), 3))
    singles.push_back(static_cast<std::uint32_t>(code));
  return singles;
}

TEST(NarrowingOracle, FiveMillionSinglesBecomeWhatMpfrSaysInEachFormatByOracleAndCore) {
  const std::vector<std::uint32_t> singles = many_singles();
  std::vector<std::uint16_t> narrowed(singles.size());
  for (const Target& target : kTargets) {
    const std::vector<std::uint32_t> value = values_of(target.format);
    target.narrow(singles.data(), narrowed.data(), singles.size());
    MpfrNarrowing mpfr(target.format);
    for (std::size_t i = 0; i < singles.size(); ++i) {
      if ((singles[i] & 0x7FFFFFFF) > 0x7F800000) continue;  // NaNs have their own test
      if ((singles[i] & 0x7FFFFFFF) == 0x7F800000) {
        ASSERT_EQ(value[narrowed[i]], singles[i]);
        continue;
      }
      const auto expected = std::bit_cast<std::uint32_t>(mpfr(singles[i]));
      ASSERT_EQ(value[narrowed[i]], expected) << "oracle, " << spec(target.format).name << " " << hex(singles[i]);
      ASSERT_EQ(convert(Format::f32, target.format, singles[i]), narrowed[i])
          << "core, " << spec(target.format).name << " " << hex(singles[i]);
    }
  }
}

TEST(NarrowingOracle, AgreesWithTheFormatOracleNansIncluded) {
  std::vector<std::uint32_t> singles;
  for (const std::uint64_t code : edge_codes(Format::f32)) singles.push_back(static_cast<std::uint32_t>(code));
  for (std::uint64_t code = 0; code < (std::uint64_t{1} << 32); code += 65521)
    singles.push_back(static_cast<std::uint32_t>(code));
  std::vector<std::uint16_t> narrowed(singles.size());
  for (const Target& target : kTargets) {
    target.narrow(singles.data(), narrowed.data(), singles.size());
    for (std::size_t i = 0; i < singles.size(); ++i)
      ASSERT_EQ(narrowed[i], oracle::convert(Format::f32, target.format, singles[i], {}))
          << spec(target.format).name << " " << hex(singles[i]);
  }
}

/// What the bulk oracle says, beside the format oracle; equal cells, steps and odd lengths all come up.
void expect_bulk_agrees(Format to, const ConvertRules& rules, const std::vector<std::uint32_t>& singles) {
  std::vector<std::uint8_t> in(singles.size() * sizeof(std::uint32_t));
  std::memcpy(in.data(), singles.data(), in.size());
  std::vector<std::uint8_t> out(singles.size() * spec(to).bytes());
  ASSERT_TRUE(oracle::convert_many(Format::f32, to, rules, in.data(), out.data(), singles.size()));
  for (std::size_t i = 0; i < singles.size(); ++i)
    ASSERT_EQ(load_element(spec(to), out, i), oracle::convert(Format::f32, to, singles[i], rules))
        << spec(to).name << " " << mode_text(rules) << " " << hex(singles[i]);
}

TEST(NarrowingOracle, InBulkAgreesWithTheFormatOracleInEveryModeOfFormatsOfAByte) {
  std::vector<std::uint32_t> singles;
  for (const std::uint64_t code : edge_codes(Format::f32)) singles.push_back(static_cast<std::uint32_t>(code));
  // Runs of neighbours across the ends of cells, at every exponent.
  for (std::uint32_t upper = 0; upper < 65536; upper += 61)
    for (std::uint32_t lower = 0; lower < 400; ++lower) singles.push_back((upper << 16) - 200 + lower);
  for (const FormatSpec& to : all_formats()) {
    const ConvertRules plain;
    if (!to.is_signed || to.width() > 8) continue;
    if (!oracle::convert_many(Format::f32, to.format, plain, nullptr, nullptr, 0)) continue;
    for (const Rounding rounding :
         {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero, Rounding::upward, Rounding::downward})
      for (const bool saturating : {false, true}) {
        expect_bulk_agrees(to.format, {.rounding = rounding, .saturating = saturating}, singles);
        if (HasFatalFailure()) return;
      }
    expect_bulk_agrees(to.format, {.subnormal = SubnormalRule::flushed}, singles);
  }
  expect_bulk_agrees(Format::e8m0, {}, singles);
  expect_bulk_agrees(Format::f16, {}, singles);
  expect_bulk_agrees(Format::bf16, {}, singles);
}

TEST(NarrowingOracle, InBulkLeavesWhatItCannotTell) {
  const ConvertRules stochastic{.rounding = Rounding::stochastic};
  EXPECT_FALSE(oracle::convert_many(Format::f32, Format::e4m3fn, stochastic, nullptr, nullptr, 0));
  EXPECT_FALSE(oracle::convert_many(Format::f64, Format::f16, {}, nullptr, nullptr, 0));
  EXPECT_FALSE(oracle::convert_many(Format::f32, Format::f16, {.rounding = Rounding::upward}, nullptr, nullptr, 0));
  EXPECT_FALSE(oracle::convert_many(Format::f32, Format::f64, {}, nullptr, nullptr, 0));
}

TEST(NarrowingOracle, SixteenMillionSinglesBecomeWhatTheProcessorSays) {
  if (!oracle::has_f16c()) GTEST_SKIP() << "this processor has no F16C instructions";
  constexpr std::size_t kChunk = 1U << 16;
  std::vector<std::uint32_t> singles(kChunk);
  std::vector<std::uint16_t> by_oracle(kChunk);
  std::vector<std::uint16_t> by_processor(kChunk);
  // An odd stride near 2^8 meets every exponent and every position of the rounding bits.
  std::uint32_t code = 0;
  for (std::size_t chunk = 0; chunk < (std::size_t{1} << 24) / kChunk; ++chunk) {
    for (std::uint32_t& single : singles) {
      single = code;
      code += 257;
    }
    oracle::narrow_f32_to_f16(singles.data(), by_oracle.data(), kChunk);
    ASSERT_TRUE(oracle::f16c_narrow(singles.data(), by_processor.data(), kChunk));
    if (by_oracle == by_processor) continue;
    for (std::size_t i = 0; i < kChunk; ++i) ASSERT_EQ(by_oracle[i], by_processor[i]) << hex(singles[i]);
  }
}

TEST(NarrowingOracle, WritesExactlyAsManyElementsAsAsked) {
  const std::vector<std::uint32_t> ones(40, 0x3F800000);
  for (std::size_t count = 0; count <= ones.size(); ++count) {
    for (const Target& target : kTargets) {
      std::vector<std::uint16_t> out(ones.size(), 0xABCD);
      target.narrow(ones.data(), out.data(), count);
      const std::uint16_t one = target.format == Format::f16 ? 0x3C00 : 0x3F80;
      for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i < count ? one : 0xABCD) << count << " " << i;
    }
    std::vector<std::uint16_t> out(ones.size(), 0xABCD);
    const bool answered = oracle::f16c_narrow(ones.data(), out.data(), count);
    EXPECT_EQ(answered, oracle::has_f16c());
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], answered && i < count ? 0x3C00 : 0xABCD) << count << " " << i;
  }
}

}  // namespace
}  // namespace packcheck::test
