// The mode of a call as text.
#include "core/format/mode.h"

#include <gtest/gtest.h>

namespace packcheck::test {
namespace {

TEST(ModeText, IsReadBackAndNothingElseIsRead) {
  for (const char* text :
       {"nearest-even", "nearest-up", "toward-zero,saturate", "stochastic:0123456789abcdef",
        "stochastic:ffffffffffffffff,saturate", "nearest-away,nan=infinity,subnormal=truncated",
        "toward-zero,integer=wrap", "downward,saturate,nan=same,subnormal=flushed,integer=indefinite"}) {
    const std::optional<ConvertRules> rules = mode_named(text);
    ASSERT_TRUE(rules) << text;
    EXPECT_EQ(mode_text(*rules), text);
  }
  for (const char* text :
       {"", ",saturate", "nearest", "nearest-even,", "nearest-even,saturated", "nearest-even:0123456789abcdef",
        "stochastic", "stochastic:", "stochastic:0x23456789abcdef", "stochastic:0123456789abcdef0",
        "stochastic:-123456789abcdef", "nearest-even,nan=any", "nearest-even,nan=quieted", "nearest-even,integer",
        "nearest-even,integer=clamp", "nearest-even,integer=wrap,saturate", "nearest-even,integer=wrap,integer=refuse"})
    EXPECT_FALSE(mode_named(text)) << text;
}

TEST(ModeText, NamesEveryRule) {
  for (const Rounding r : {Rounding::nearest_even, Rounding::nearest_away, Rounding::nearest_up, Rounding::toward_zero,
                           Rounding::upward, Rounding::downward, Rounding::stochastic})
    EXPECT_EQ(rounding_named(rounding_name(r)), r);
  for (const NanRule r :
       {NanRule::quieted, NanRule::same_payload, NanRule::truncated, NanRule::infinity, NanRule::zero})
    EXPECT_EQ(nan_named(nan_name(r)), r);
  for (const SubnormalRule r : {SubnormalRule::kept, SubnormalRule::flushed, SubnormalRule::truncated})
    EXPECT_EQ(subnormal_named(subnormal_name(r)), r);
  for (const IntegerRule r : {IntegerRule::saturate, IntegerRule::wrap, IntegerRule::refuse, IntegerRule::indefinite})
    EXPECT_EQ(integer_named(integer_name(r)), r);
  EXPECT_FALSE(rounding_named("nearest"));
}

}  // namespace
}  // namespace packcheck::test
