// The designed inputs find what random search walks past: an error in one binade of 2047.
#include "properties/cases/number_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/format/convert.h"
#include "properties/cases/cases.h"
#include "properties/engines/engines.h"
#include "tests/properties/fake_subject.h"

namespace packcheck::test {
namespace {

constexpr std::uint64_t kQuickSweep = 65536;

std::uint64_t exponent_of(Format format, std::uint64_t bits) {
  const FormatSpec& s = spec(format);
  return bits >> s.significand_bits & static_cast<std::uint64_t>(s.exponent_mask());
}

/// Right but for one exponent, where ties go away from zero.
FakeSubject wrong_in_one_binade(const char* variant, std::uint64_t exponent) {
  return FakeSubject({std::string("convert ") + variant + " nan=quieted"},
                     element_by_element([exponent](Format from, Format to, std::uint64_t bits) {
                       const bool wrong = exponent_of(from, bits) == exponent;
                       return convert(from, to, bits,
                                      {.rounding = wrong ? Rounding::nearest_away : Rounding::nearest_even});
                     }));
}

struct Binade {
  const char* variant;
  std::uint64_t exponent;
};
void PrintTo(const Binade& b, std::ostream* out) { *out << b.variant << " " << b.exponent; }

class OneBinade : public testing::TestWithParam<Binade> {};

TEST_P(OneBinade, IsFoundByTheSweepAndMissedByRandomSearch) {
  const Law& law = *law_named("format.narrowing_is_correctly_rounded").value();
  const auto& [variant, exponent] = GetParam();
  FakeSubject subject = wrong_in_one_binade(variant, exponent);
  const Effort quick = effort_of_profile("quick").value();
  Hunt random(law, subject, variant);
  run_property(random, 1, quick.property_cases);
  run_fuzz(random, 1, quick.fuzz_inputs, CorpusStore());
  EXPECT_TRUE(random.findings().empty());
  RunOptions options;
  options.effort = quick;
  const LawResult result = run_law(law, subject, CorpusStore(), options);
  ASSERT_EQ(result.ruling, Ruling::broken);
  EXPECT_EQ(result.findings[0].engine, Engine::sweep);
}

INSTANTIATE_TEST_SUITE_P(Patterns, OneBinade,
                         testing::Values(Binade{"f64->f32", 1023 + 90},   // normal in both
                                         Binade{"f64->f32", 1023 - 101},  // normal in both
                                         Binade{"f64->f32", 1023 - 140},  // subnormal results
                                         Binade{"f64->f16", 1023 - 23},   // the last binade above the half of 2^-24
                                         Binade{"f64->bf16", 1023 + 77}, Binade{"f32->bf16", 127 + 99}),
                         [](const auto& test) {
                           std::string name =
                               std::string(test.param.variant) + "_" + std::to_string(test.param.exponent);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '-' || c == '>'; }, '_');
                           return name;
                         });

TEST(NumberPatterns, HaveEveryBinadeOfBothSignsAndFitTheQuickProfile) {
  for (const Format from : {Format::f64, Format::f32})
    for (const FormatSpec& to : all_formats()) {
      const FormatSpec& s = spec(from);
      const std::vector<std::uint64_t> codes = number_patterns(from, to.format);
      EXPECT_LE(codes.size(), kQuickSweep);
      std::set<std::uint64_t> heads;  // sign and exponent
      for (const std::uint64_t code : codes) heads.insert(code >> s.significand_bits);
      EXPECT_EQ(heads.size(), std::size_t{2} << s.exponent_bits) << s.name << " to " << to.name;
    }
}

TEST(NumberPatterns, OfTestFloatHaveOneBitRunsOfOnesAndHoles) {
  const std::vector<std::uint64_t> codes = number_patterns(Format::f64, Format::f32);
  const std::set<std::uint64_t> all(codes.begin(), codes.end());
  constexpr std::uint64_t kOne = std::uint64_t{1023} << 52;
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 52) - 1;
  for (int i = 0; i < 52; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    for (const std::uint64_t significand : {bit, kMask ^ bit, bit - 1, kMask ^ (bit - 1)})
      for (const std::uint64_t sign : {std::uint64_t{0}, std::uint64_t{1} << 63})
        EXPECT_EQ(all.count(sign | kOne | significand), 1U) << i;
  }
}

TEST(NumberPatterns, OfIntegersHaveEveryTieForSingle) {
  const std::vector<std::uint64_t> codes = number_patterns(Format::i32, Format::f32);
  const std::set<std::uint64_t> all(codes.begin(), codes.end());
  EXPECT_LE(codes.size(), kQuickSweep);
  for (int leading = 24; leading < 31; ++leading) {
    const std::uint64_t half = std::uint64_t{1} << (leading - 24);
    for (const std::uint64_t tie : {(std::uint64_t{1} << leading) + half, (std::uint64_t{1} << leading) + 3 * half})
      for (const std::uint64_t code : {tie - 1, tie, tie + 1, (0 - tie) & 0xFFFFFFFF})
        EXPECT_EQ(all.count(code), 1U) << leading;
  }
}

TEST(DoubleTies, AreDistinctAndHaveEveryExponentWithEveryLastPlace) {
  std::set<std::uint64_t> seen;
  // All of three exponents: the rest differ from them in the exponent alone.
  constexpr std::uint64_t kPerExponent = kDoubleTies / 2048;
  for (const std::uint64_t field : {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{2047}})
    for (std::uint64_t i = 0; i < kPerExponent; ++i) seen.insert(double_tie(field * kPerExponent + i));
  for (int half = 0; half < 52; ++half)
    for (const std::uint64_t step : {~std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{1}})
      for (const std::uint64_t last : {std::uint64_t{0}, std::uint64_t{2} << half})
        EXPECT_EQ(seen.count(((std::uint64_t{1000} << 52) | (last & ((std::uint64_t{1} << 52) - 1)) |
                              std::uint64_t{1} << half) +
                             step),
                  1U)
            << half;
}

TEST(Domain, OfF64IsThePatternsThenEveryTie) {
  const Domain domain = conversion_cases.domain("f64->f32").value();
  const Domain patterns = conversion_cases.patterns("f64->f32").value();
  EXPECT_FALSE(domain.exhaustive);
  EXPECT_EQ(domain.total, patterns.total + kDoubleTies);
  const std::vector<std::uint64_t> codes = number_patterns(Format::f64, Format::f32);
  const auto element = [&](std::uint64_t index) {
    const std::uint64_t first = index / domain.batch * domain.batch;
    const Case c = domain.make(first, domain.batch);
    return load_element(spec(Format::f64), c.as<ConversionCase>().elements, index - first);
  };
  for (const std::uint64_t index : {std::size_t{0}, codes.size() / 2, codes.size() - 1})
    EXPECT_EQ(element(index), codes[index]);
  EXPECT_EQ(element(patterns.total), double_tie(0));
  EXPECT_EQ(element(domain.total - 1), double_tie(kDoubleTies - 1));
}

TEST(Domain, OfEveryNarrowerSourceIsVisitedWholeByTheNightlyProfile) {
  const Effort nightly = effort_of_profile("nightly").value();
  for (const FormatSpec& from : all_formats())
    for (const FormatSpec& to : all_formats()) {
      const Domain domain = conversion_cases.domain(conversion_variant(from.format, to.format)).value();
      EXPECT_GE(nightly.sweep_inputs / domain.weight, domain.total) << from.name << " to " << to.name;
      if (from.width() <= 32) {
        EXPECT_EQ(domain.total, std::uint64_t{1} << from.width()) << from.name;
      }
    }
}

}  // namespace
}  // namespace packcheck::test
