// What float_in draws: every kind of number that conversions get wrong, often enough to be met.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/format/convert.h"
#include "properties/source.h"
#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

constexpr int kDraws = 13000;  // ties are shared among all formats

/// Whether narrowing drops exactly half a unit of `to`'s last place from a normal number.
bool is_tie(const FormatSpec& from, const FormatSpec& to, std::uint64_t bits) {
  const std::uint64_t dropped = static_cast<std::uint64_t>(from.significand_bits - to.significand_bits);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const auto exponent =
      static_cast<int>(bits >> from.significand_bits & static_cast<std::uint64_t>(from.exponent_mask())) - from.bias();
  const bool normal_in_both = exponent >= 1 - to.bias() && exponent <= to.bias() && exponent > -from.bias();
  return normal_in_both && (bits & (2 * half - 1)) == half;
}

/// How often each kind was drawn.
std::map<std::string, int> kinds_of(const FormatSpec& s) {
  std::map<std::string, int> kinds;
  RandomSource source(20);
  const std::uint64_t one = convert(Format::f64, s.format, 0x3FF0000000000000U);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t bits = source.float_in(s.format);
    EXPECT_EQ(bits & ~s.all_bits(), 0U);
    const std::uint64_t magnitude = bits & ~s.sign_bit();
    const std::string sign = magnitude == bits ? "+" : "-";
    if (is_nan(s, bits)) ++kinds[sign + ((bits & s.quiet_bit()) != 0 ? "quiet NaN" : "signalling NaN")];
    if (magnitude == (s.infinity() | 1)) ++kinds["NaN whose payload is the last bit"];
    if (is_infinite(s, bits)) ++kinds[sign + "infinity"];
    if (magnitude == 0) ++kinds[sign + "zero"];
    if (is_subnormal(s, bits)) ++kinds[sign + "subnormal"];
    if (magnitude == 1) ++kinds["smallest subnormal"];
    if (magnitude == s.significand_mask()) ++kinds["largest subnormal"];
    if (magnitude == s.significand_mask() + 1) ++kinds["smallest normal"];
    if (magnitude == s.infinity() - 1) ++kinds["largest finite"];
    if (magnitude == one) ++kinds["one"];
    if (magnitude == one + 1 || magnitude == one - 1) ++kinds["neighbour of one"];
    for (const FormatSpec& to : all_formats())
      if (to.significand_bits < s.significand_bits && is_tie(s, to, bits)) ++kinds["tie for " + std::string(to.name)];
    if (!is_nan(s, bits) && !is_infinite(s, bits) && magnitude > s.significand_mask()) ++kinds[sign + "normal"];
  }
  return kinds;
}

class FloatDraws : public testing::TestWithParam<Format> {};

TEST_P(FloatDraws, CoverEveryKindOfNumber) {
  const FormatSpec& s = spec(GetParam());
  std::map<std::string, int> kinds = kinds_of(s);
  for (const char* kind :
       {"+quiet NaN", "-quiet NaN", "+signalling NaN", "-signalling NaN", "NaN whose payload is the last bit",
        "+infinity", "-infinity", "+zero", "-zero", "+subnormal", "-subnormal", "smallest subnormal",
        "largest subnormal", "smallest normal", "largest finite", "one", "neighbour of one", "+normal", "-normal"})
    EXPECT_GE(kinds[kind], 5) << kind;
  for (const FormatSpec& to : all_formats())
    if (!to.is_integer() && to.significand_bits < s.significand_bits) {
      EXPECT_GE(kinds["tie for " + std::string(to.name)], 5) << to.name;
    }
}

TEST_P(FloatDraws, AreZeroWithoutAnyChoice) {
  RecordedSource none(Choices{});
  EXPECT_EQ(none.float_in(GetParam()), 0U);
}

INSTANTIATE_TEST_SUITE_P(Source, FloatDraws, testing::Values(Format::f64, Format::f32, Format::f16, Format::bf16),
                         [](const auto& test) { return std::string(spec(test.param).name); });

}  // namespace
}  // namespace packcheck::test
