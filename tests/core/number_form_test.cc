// core/text/number_form: every double through JSON and back, and what is refused.
#include "core/text/number_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;

Result<std::uint64_t> through(std::uint64_t bits, BitsRule rule) {
  const NumberForm form = number_form(bits, rule);
  EXPECT_TRUE(form.number || form.bits) << hex(bits);
  return read_number_form(form.number, form.bits);
}

TEST(NumberForm, BringsEveryDoubleBack) {
  Random random(61);
  std::vector<std::uint64_t> all = edge_codes(Format::f64);
  for (int i = 0; i < 5000; ++i) all.push_back(random.bits() >> random.below(64));
  for (int i = 0; i < 2000; ++i) all.push_back(kInfinity | random.bits());  // NaN payloads of both signs
  for (const std::uint64_t bits : all) {
    ASSERT_EQ(through(bits, BitsRule::where_needed), bits) << hex(bits);
    ASSERT_EQ(through(bits, BitsRule::always), bits) << hex(bits);
  }
}

TEST(NumberForm, GivesExistingReadersAPlainNumberWhereverJsonHasOne) {
  const NumberForm packed = number_form(0x030301);
  EXPECT_EQ(packed.number, "9.7517e-319");
  EXPECT_EQ(packed.bits, "0x0000000000030301");
  EXPECT_EQ(number_form(std::bit_cast<std::uint64_t>(0.1)).bits, std::nullopt);
  EXPECT_EQ(number_form(0).bits, std::nullopt);
  EXPECT_EQ(number_form(std::uint64_t{1} << 63).bits, "0x8000000000000000");
  EXPECT_EQ(number_form(kInfinity).number, std::nullopt);
  EXPECT_EQ(number_form(0x7FF0000000000001).bits, "0x7ff0000000000001");
}

TEST(NumberForm, RefusesANumberAndBitsThatDisagree) {
  EXPECT_THAT(read_number_form("9.75E-319", "0x0000000000030301").error().text(),
              HasSubstr("the number 9.75E-319 is 0x00000000000302de, its bits are 0x0000000000030301"));
  EXPECT_THAT(read_number_form("1." + std::string(38, '0') + "5", "0x0000000000000000").error().text(),
              HasSubstr("the number 1." + std::string(38, '0') + " is 0x3ff0000000000000"));
  EXPECT_THAT(read_number_form("0.0", "0x8000000000000000").error().text(), HasSubstr("the same double in both"));
  EXPECT_THAT(read_number_form(std::nullopt, std::nullopt).error().text(), HasSubstr("no number and no bits"));
  EXPECT_FALSE(read_number_form("NaN", "0x7ff8000000000000"));
  EXPECT_FALSE(read_number_form("1.0", "1"));
}

TEST(NumberForm, ReadsOnlyAllSixteenDigits) {
  EXPECT_EQ(parse_bits("0x00000000000302DE"), 0x302DEU);
  for (const char* text : {"", "0x", "0x30301", "0X0000000000030301", "00000000000030301x", "0x00000000000303010",
                           "0x000000000003030g", "-x0000000000030301"})
    EXPECT_THAT(parse_bits(text).error().text(), HasSubstr("16 hexadecimal digits")) << text;
}

}  // namespace
}  // namespace packcheck::test
