// The block oracle on its own: halves by value against MPFR and the processor, golden blocks worked out
// by hand from the rules, and the bits it leaves open.
#include "properties/oracles/block_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "properties/oracles/half_value.h"
#include "properties/oracles/narrowing_oracle.h"
#include "tests/core/mpfr_reference.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Bytes = std::vector<std::uint8_t>;

std::vector<float> block_of(float all) { return std::vector<float>(32, all); }

oracle::ExpectedBlocks blocks_of(std::string_view encoding, const std::vector<float>& values) {
  const std::optional<oracle::ExpectedBlocks> blocks = oracle::quantize(encoding, values);
  EXPECT_TRUE(blocks.has_value());
  return blocks.value_or(oracle::ExpectedBlocks{});
}

Bytes with_scale(std::uint16_t scale, const Bytes& codes) {
  Bytes bytes(2 + codes.size());
  bytes[0] = static_cast<std::uint8_t>(scale);
  bytes[1] = static_cast<std::uint8_t>(scale >> 8);
  std::copy(codes.begin(), codes.end(), bytes.begin() + 2);
  return bytes;
}

TEST(HalfByValue, EveryHalfHasTheNumberMpfrGivesIt) {
  Real number(11);
  for (std::uint32_t code = 0; code < 1U << 16; ++code) {
    const double value = oracle::half_value(static_cast<std::uint16_t>(code));
    if ((code & 0x7FFF) > 0x7C00) {
      ASSERT_TRUE(std::isnan(value)) << hex(code);
      continue;
    }
    set_to_code(number, Format::f16, code);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(mpfr_get_d(number.get(), MPFR_RNDN)))
        << hex(code);
    ASSERT_EQ(oracle::nearest_half(value), code);
    ASSERT_EQ(oracle::skainet_half(value), code) << "a half is its own scale";
  }
}

TEST(HalfByValue, NearestHalfIsWhatMpfrAndTheProcessorSay) {
  for (const std::uint64_t code : edge_codes(Format::f32)) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(code));
    if (std::isnan(value)) continue;
    const std::uint16_t half = oracle::nearest_half(static_cast<double>(value));
    ASSERT_EQ(half, mpfr_convert(Format::f32, Format::f16, code, Rounding::nearest_even)) << hex(code);
    const auto single = static_cast<std::uint32_t>(code);
    std::uint16_t by_processor = half;  // stays where the processor cannot tell
    oracle::f16c_narrow(&single, &by_processor, 1);
    ASSERT_EQ(half, by_processor) << hex(code);
  }
}

// The table of the SKaiNET quantizer's special blocks.
TEST(BlockOracle, SkainetGoldenBlocks) {
  struct Row {
    const char* name;
    std::vector<float> values;
    Bytes bytes;
  };
  std::vector<float> ramp(32);
  for (int i = 0; i < 32; ++i) ramp[static_cast<std::size_t>(i)] = static_cast<float>(i - 16);
  std::vector<float> alternating(32);
  for (std::size_t i = 0; i < 32; ++i) alternating[i] = i % 2 == 0 ? 1.0F : -1.0F;
  std::vector<float> positive_first = block_of(0.0F);
  positive_first[0] = 3.0F;
  positive_first[1] = -3.0F;
  std::vector<float> negative_first = block_of(0.0F);
  negative_first[0] = -3.0F;
  negative_first[1] = 3.0F;
  std::vector<float> one_nan = block_of(1.0F);
  one_nan[3] = kNan;
  std::vector<float> one_infinity = block_of(1.0F);
  one_infinity[0] = kInfinity;
  const Bytes eights(16, 0x88);
  const Bytes zeros(16, 0x00);
  Bytes order{0x80, 0x8F};
  order.resize(16, 0x88);
  Bytes reversed{0x80, 0x8F};
  reversed.resize(16, 0x88);
  Bytes stripes(16);
  for (std::size_t i = 0; i < 16; ++i) stripes[i] = i % 2 == 0 ? 0x00 : 0xFF;
  Bytes infinity_first(16, 0x88);
  infinity_first[0] = 0x80;
  for (const Row& row :
       {Row{"zeros", block_of(0.0F), with_scale(0x8000, eights)},
        Row{"negative zeros", block_of(-0.0F), with_scale(0x8000, eights)},
        Row{"values whose scale underflows", block_of(0x1p-147F), with_scale(0x8000, eights)},
        Row{"ones", block_of(1.0F), with_scale(0xB000, zeros)},
        Row{"minus ones", block_of(-1.0F), with_scale(0x3000, zeros)},
        Row{"ramp", ramp,
            with_scale(0x4000, {0x80, 0x91, 0x91, 0xA2, 0xA2, 0xB3, 0xB3, 0xC4, 0xC4, 0xD5, 0xD5, 0xE6, 0xE6, 0xF7,
                                0xF7, 0xF8})},
        Row{"alternating", alternating, with_scale(0xB000, stripes)},
        Row{"3, -3", positive_first, with_scale(0xB600, order)},
        Row{"-3, 3", negative_first, with_scale(0x3600, reversed)}, Row{"one NaN", one_nan, with_scale(0xB000, zeros)},
        Row{"one infinity", one_infinity, with_scale(0xFC00, infinity_first)},
        Row{"scale overflow", block_of(524160.0F), with_scale(0xFC00, zeros)},
        Row{"scale below the smallest half", block_of(0x1.FFFFFEp-22F), with_scale(0x8000, zeros)}}) {
    SCOPED_TRACE(row.name);
    const oracle::ExpectedBlocks blocks = blocks_of("q4_0:skainet", row.values);
    EXPECT_EQ(blocks.bytes, row.bytes);
    EXPECT_THAT(blocks.specified, Each(0xFF));
  }
}

TEST(BlockOracle, SkainetGoldenBlocksDecodeToTheDocumentedNumbers) {
  const auto decoded = [](std::uint16_t scale, std::uint8_t code) {
    const Bytes block = with_scale(scale, Bytes(16, code));
    return oracle::dequantize("q4_0:skainet", block).value();
  };
  for (const float value : decoded(0x8000, 0x88)) {
    EXPECT_EQ(value, 0.0F);
    EXPECT_TRUE(std::signbit(value)) << "0 · -0 is -0";
  }
  EXPECT_THAT(decoded(0xB000, 0x00), Each(1.0F));
  EXPECT_THAT(decoded(0x3000, 0x00), Each(-1.0F));
  EXPECT_THAT(decoded(0xB000, 0xFF), Each(-0.875F));
  EXPECT_THAT(decoded(0xFC00, 0x00), Each(kInfinity));
  EXPECT_THAT(decoded(0xFC00, 0x88), Each(testing::IsNan()));
}

TEST(BlockOracle, GgmlQ8BlocksAreTheOnesWorkedOutByHand) {
  // d = 127/127 = 1: codes are the rounded values, halves away from zero.
  std::vector<float> values = block_of(0.0F);
  values[0] = 127.0F;
  values[1] = -127.0F;
  values[2] = 0.5F;
  values[3] = -0.5F;
  values[4] = 1.5F;
  values[5] = 0x1.FFFFFEp-2F;  // just below a half
  values[6] = -126.5F;
  Bytes codes(32, 0);
  codes[0] = 127;
  codes[1] = 0x81;
  codes[2] = 1;
  codes[3] = 0xFF;
  codes[4] = 2;
  codes[6] = 0x81;
  EXPECT_EQ(blocks_of("q8_0:ggml", values).bytes, with_scale(0x3C00, codes));
  EXPECT_EQ(blocks_of("q8_0:ggml", block_of(0.0F)).bytes, with_scale(0x0000, Bytes(32, 0)));
  EXPECT_EQ(blocks_of("q8_0:ggml", block_of(-0.0F)).bytes, with_scale(0x0000, Bytes(32, 0)));
}

TEST(BlockOracle, GgmlQ4RoundsItsScaleToNearestEven) {
  // d = -(1 + 2^-11), a tie between two halves: ggml takes the even one, SKaiNET the larger.
  const std::vector<float> values = block_of(8.0F * (1.0F + 0x1p-11F));
  EXPECT_EQ(blocks_of("q4_0:ggml", values).bytes, with_scale(0xBC00, Bytes(16, 0)));
  EXPECT_EQ(blocks_of("q4_0:skainet", values).bytes, with_scale(0xBC01, Bytes(16, 0)));
}

TEST(BlockOracle, ANanLeavesAWholeGgmlQ8BlockOpen) {
  std::vector<float> values = block_of(1.0F);
  values[31] = kNan;
  EXPECT_THAT(blocks_of("q8_0:ggml", values).specified, Each(0x00));
}

TEST(BlockOracle, AnInfinityLeavesOnlyItsOwnGgmlQ8CodeOpen) {
  std::vector<float> values = block_of(5.0F);
  values[7] = -kInfinity;
  const oracle::ExpectedBlocks blocks = blocks_of("q8_0:ggml", values);
  EXPECT_EQ(blocks.bytes, with_scale(0x7C00, Bytes(32, 0)));
  for (std::size_t i = 0; i < blocks.specified.size(); ++i) EXPECT_EQ(blocks.specified[i], i == 2 + 7 ? 0 : 0xFF) << i;
}

TEST(BlockOracle, AnOpenLowGgmlQ4CodeOpensItsByteAndAHighOneHalfOfIt) {
  std::vector<float> values = block_of(1.0F);
  values[2] = kNan;
  values[5 + 16] = kNan;
  const oracle::ExpectedBlocks blocks = blocks_of("q4_0:ggml", values);
  for (std::size_t i = 0; i < blocks.specified.size(); ++i)
    EXPECT_EQ(blocks.specified[i], i == 2 + 2 ? 0x00 : (i == 2 + 5 ? 0x0F : 0xFF)) << i;
  EXPECT_EQ(blocks.bytes, with_scale(0xB000, Bytes(16, 0)));
}

TEST(BlockOracle, AnInfinityInGgmlQ4GivesEightsAndItsOwnCodeOpen) {
  std::vector<float> values = block_of(1.0F);
  values[0 + 16] = kInfinity;
  const oracle::ExpectedBlocks blocks = blocks_of("q4_0:ggml", values);
  Bytes codes(16, 0x88);
  codes[0] = 0x08;
  EXPECT_EQ(blocks.bytes, with_scale(0xFC00, codes));
  EXPECT_EQ(blocks.specified[2], 0x0F);
  EXPECT_EQ(blocks.specified[3], 0xFF);
}

TEST(BlockOracle, AReciprocalThatOverflowsLeavesGgmlCodesOpenAndKotlinCodesSaturated) {
  std::vector<float> values = block_of(0x1p-125F);  // d = -2^-128, 1/d is 2^128
  values[1] = -0x1p-125F;
  values[2] = 0.0F;
  for (const std::string_view encoding : {"q4_0:ggml", "q8_0:ggml"}) {
    const std::vector<float> tiny = encoding == "q8_0:ggml" ? block_of(127.0F * 0x1p-128F) : values;
    const oracle::ExpectedBlocks blocks = blocks_of(encoding, tiny);
    EXPECT_EQ(blocks.specified[0], 0xFF);
    EXPECT_EQ(blocks.specified[1], 0xFF);
    for (std::size_t i = 2; i < blocks.specified.size(); ++i) EXPECT_EQ(blocks.specified[i], 0x00) << encoding << i;
  }
  Bytes codes(16, 0x00);  // x·(-infinity) + 8.5 saturates at 0
  codes[1] = 0x0F;        // -x·(-infinity) at 15
  codes[2] = 0x00;        // 0·infinity is NaN, which Kotlin makes 0
  EXPECT_EQ(blocks_of("q4_0:skainet", values).bytes, with_scale(0x8000, codes));
}

TEST(BlockOracle, AnyCodeOfAnyScaleDecodesToTheProduct) {
  // -128 is a code like any other; Q4_0's first 16 codes are in the low halves of the bytes.
  Bytes q8 = with_scale(0x3800, Bytes(32, 0x80));
  q8[3] = 0x7F;
  const std::vector<float> from_q8 = oracle::dequantize("q8_0:ggml", q8).value();
  EXPECT_EQ(from_q8[0], -64.0F);
  EXPECT_EQ(from_q8[1], 63.5F);
  Bytes q4 = with_scale(0x4000, Bytes(16, 0x88));
  q4[2 + 3] = 0x1F;
  const std::vector<float> from_q4 = oracle::dequantize("q4_0:ggml", q4).value();
  EXPECT_EQ(from_q4[3], 14.0F);
  EXPECT_EQ(from_q4[3 + 16], -14.0F);
}

TEST(BlockOracle, UnknownEncodingsAndPartialBlocksHaveNoAnswer) {
  EXPECT_FALSE(oracle::quantize("q4_0", block_of(1.0F)));
  EXPECT_FALSE(oracle::quantize("q8_0:ggml", std::vector<float>(31)));
  EXPECT_FALSE(oracle::dequantize("q4_0:ggml", Bytes(17)));
  EXPECT_FALSE(oracle::dequantize("q8_0:skainet", Bytes(34)));
  EXPECT_TRUE(oracle::quantize("q8_0:ggml", std::vector<float>())->bytes.empty());
}

}  // namespace
}  // namespace packcheck::test
