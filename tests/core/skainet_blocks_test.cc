// Golden blocks of SKaiNET's and BitNet's encodings, worked out apart from the core and the oracle in exact rational
// arithmetic: both must give them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/encoding/encoding.h"
#include "properties/oracles/block_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const Encoding& named(std::string_view id) { return **encoding_named(id); }

/// The array that the core makes of `values`; the oracle must make the same one where the dialect defines it.
Bytes encoded(std::string_view id, const Floats& values) {
  Bytes array(encoded_bytes(named(id), values.size()).value());
  EXPECT_TRUE(quantize(named(id), values, array)) << id;
  const oracle::ExpectedBlocks expected = oracle::quantize(id, values).value();
  const Bytes specified = oracle::array_order(id, expected.specified).value();
  const Bytes right = oracle::array_order(id, expected.bytes).value();
  for (std::size_t i = 0; i < array.size(); ++i) EXPECT_EQ(array[i] & specified[i], right[i]) << id << " " << i;
  return array;
}

/// What core and oracle make of an array.
Floats decoded(std::string_view id, const Bytes& array) {
  Floats values(decoded_count(named(id), array.size()).value());
  EXPECT_TRUE(dequantize(named(id), array, values)) << id;
  const Floats right = oracle::dequantize(id, oracle::block_order(id, array).value()).value();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(right[i]))
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(right[i])) << id << " " << i;
    else
      EXPECT_TRUE(std::isnan(values[i])) << id << " " << i;
  return values;
}

Floats first_of(const Floats& values, std::size_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(SkainetBlocks, TernaryTiesGoToTheEvenCode) {
  Floats values(256);
  for (int e = 0; e < 256; ++e) values[static_cast<std::size_t>(e)] = 0.5F * static_cast<float>(e * 3 % 5 - 2);
  const Bytes tq2 = encoded("tq2_0:skainet", values);
  EXPECT_THAT(Bytes(tq2.begin(), tq2.begin() + 8), ElementsAre(0x54, 0x49, 0x95, 0x52, 0x25, 0x54, 0x49, 0x95));
  EXPECT_THAT(Bytes(tq2.begin() + 60, tq2.end()), ElementsAre(0x49, 0x95, 0x52, 0x25, 0x00, 0x3C));
  const Bytes tq1 = encoded("tq1_0:skainet", values);
  EXPECT_THAT(Bytes(tq1.begin(), tq1.begin() + 8), ElementsAre(0x2C, 0x93, 0x82, 0xB9, 0x86, 0x2C, 0x93, 0x82));
  EXPECT_THAT(Bytes(tq1.begin() + 46, tq1.end()), ElementsAre(0x65, 0x2E, 0x33, 0x66, 0x75, 0xD1, 0x00, 0x3C));
  const Floats back = decoded("tq2_0:skainet", tq2);
  for (std::size_t e = 0; e < 256; ++e) EXPECT_EQ(back[e], std::trunc(values[e])) << e;  // a half becomes 0
  EXPECT_EQ(decoded("tq1_0:skainet", tq1), back);
}

TEST(SkainetBlocks, ANanIsTheLargestOfATernaryBlockAndMakesAllOfItNan) {
  Floats values(256, 1.0F);
  values[200] = kNan;
  for (const std::string_view id : {"tq1_0:skainet", "tq2_0:skainet"}) {
    const Bytes block = encoded(id, values);
    EXPECT_EQ(block.back() & 0x7E, 0x7E) << id;
    EXPECT_THAT(decoded(id, block), Each(IsNan())) << id;
  }
}

TEST(SkainetBlocks, BitnetHasTheMeanMagnitudeAsItsScaleAndZerosInSpareBits) {
  Floats values(30);
  for (int i = 0; i < 30; ++i) values[static_cast<std::size_t>(i)] = 0.25F * static_cast<float>(i * 7 % 13 - 6);
  const Bytes block = encoded("bitnet_b1_58(30):skainet", values);
  EXPECT_THAT(block, ElementsAre(0x84, 0x88, 0x98, 0x11, 0x22, 0x62, 0x46, 0x08, 0x11, 0x11, 0x51, 0x3F));
  constexpr float kScale = 0x1.a22222p-1F;
  EXPECT_THAT(first_of(decoded("bitnet_b1_58(30):skainet", block), 4), ElementsAre(-kScale, 0.0F, -kScale, kScale));
}

TEST(SkainetBlocks, TheFourthCodeOfTwoBitsIsPlusTwo) {
  Bytes block(20, 0xE4);  // codes 0, 1, 2, 3
  block[16] = block[17] = 0;
  block[18] = 0x80;
  block[19] = 0x3F;  // 1
  EXPECT_THAT(first_of(decoded("ternary(64):skainet", block), 4), ElementsAre(-1.0F, 0.0F, 1.0F, 2.0F));
}

TEST(SkainetBlocks, PlanesOfTwoRowsLieOnePlaneAfterTheOther) {
  const Floats values{1.0F, -0.5F, 0.3F, 0.0F, 2049.0F / 8192.0F, -1.0F / 7.0F, 1.0F / 9.0F, -0.001F};
  const Bytes array = encoded("bitnet_planes(4):skainet", values);
  EXPECT_THAT(array, ElementsAre(0x56, 0x52, 0x61, 0x69, 0x51, 0x69, 0x41, 0x55, 0x51, 0x51, 0x61, 0x11, 0x51, 0x55,
                                 0x41, 0x5A, 0x00, 0x3C, 0x00, 0x34));
  EXPECT_THAT(decoded("bitnet_planes(4):skainet", array),
              ElementsAre(1.0F, -0x1.ffc412p-2F, 0x1.332736p-2F, 0.0F, 0x1.001df8p-2F, -0x1.24a368p-3F, 0x1.c71c72p-4F,
                          -0x1.0db20ap-10F));
}

TEST(SkainetBlocks, PlanesIgnoreANanAndOverflowToNanFromTheHalfsLimitOn) {
  const std::string_view id = "bitnet_planes(4):skainet";
  EXPECT_THAT(decoded(id, encoded(id, {1.0F, kNan, 0.0F, -1.0F})), ElementsAre(1.0F, 0.0F, 0.0F, -1.0F));
  EXPECT_THAT(decoded(id, encoded(id, {65520.0F, 1.0F, -0.0F, -65504.0F})), Each(IsNan()));
  EXPECT_THAT(decoded(id, encoded(id, {0x1p-25F, 0x1p-26F, -0x1p-25F, -0.0F})), Each(0.0F));
}

TEST(SkainetBlocks, I8RoundsHalvesUpAndPutsTheScalesLast) {
  const Floats values{127.0F, 2.5F, -2.5F, -0.5F, 0.5F, -1.0F, 1.0F / 3.0F, 0.0F};
  const Bytes array = encoded("i8_absmax(4):skainet", values);
  EXPECT_THAT(array, ElementsAre(0x7F, 0x03, 0xFE, 0x00, 0x40, 0x81, 0x2A, 0x00, 0x00, 0x00, 0x80, 0x3F, 0x04, 0x02,
                                 0x01, 0x3C));
  EXPECT_THAT(first_of(decoded("i8_absmax(4):skainet", array), 4), ElementsAre(127.0F, 3.0F, -2.0F, 0.0F));
}

TEST(SkainetBlocks, I8RefusesWhatBecomesNoCodeAndWritesNothing) {
  const std::string_view id = "i8_absmax(4):skainet";
  for (const Floats& row : {Floats{1.0F, kNan, 0.0F, 0.0F}, Floats{1.0F, 0.0F, 0.0F, -kInfinity},
                            Floats{0x1p-125F, 0.0F, 0x1p-126F, 0x1p-126F}}) {  // 1/scale is infinite
    Floats values(4, 1.0F);
    values.insert(values.end(), row.begin(), row.end());
    Bytes array(16, 0xA5);
    EXPECT_THAT(quantize(named(id), values, array).error().text(), HasSubstr("block 1"));
    EXPECT_THAT(array, Each(0xA5));
    EXPECT_FALSE(oracle::accepts(id, values));
    EXPECT_FALSE(oracle::quantize(id, values));
  }
  EXPECT_TRUE(oracle::accepts(id, Floats{0x1p-125F, 0x1p-126F, 0x1p-126F, -0x1p-126F}));
  EXPECT_THAT(decoded(id, encoded(id, Floats(4, -0.0F))), Each(0.0F));
}

TEST(SkainetBlocks, I2sOfFiftyFivesIsZerosAndEachOrderFindsItsOwnElement) {
  for (const std::string_view id : {"i2_s(128):group_128", "i2_s(128):group_64", "i2_s(128):sequential"})
    EXPECT_THAT(decoded(id, Bytes(32, 0x55)), Each(0.0F)) << id;
  Bytes codes(32, 0x55);
  codes[17] = 0x59;  // the second pair from below is 2
  const auto place_of_one = [&](std::string_view id) {
    const Floats values = decoded(id, codes);
    return std::find(values.begin(), values.end(), 1.0F) - values.begin();
  };
  EXPECT_EQ(place_of_one("i2_s(128):group_128"), 2 * 32 + 17);
  EXPECT_EQ(place_of_one("i2_s(128):group_64"), 64 + 2 * 16 + 1);
  EXPECT_EQ(place_of_one("i2_s(128):sequential"), 4 * 17 + 1);
}

struct Rotated {
  std::string_view id;
  Bytes block;
  Floats first;  ///< the first decoded numbers
};

TEST(SkainetBlocks, RotatedVectorsAreTheOnesOfExactArithmetic) {
  Floats values(32);
  for (int i = 0; i < 32; ++i)
    values[static_cast<std::size_t>(i)] = 0.125F * static_cast<float>(i * 5 % 11 - 4) + 0x1p-7F * static_cast<float>(i);
  for (const Rotated& golden :
       {Rotated{"turboquant_polar(2,32):skainet",
                {0xAB, 0xBA, 0xA9, 0xB6, 0xA6, 0xEA, 0xAE, 0xEA, 0xD3, 0x9B, 0x79, 0x3F},
                {-0x1.08bffep-1F, 0x1.60fffep-3F, 0x1.b94p-1F, -0x1.61p-3F}},
        Rotated{"turboquant_polar(3,32):skainet",
                {0x6E, 0xC9, 0x9A, 0x19, 0x49, 0x99, 0x13, 0xB7, 0xD6, 0xF4, 0xD8, 0xF1, 0xE2, 0x67, 0xA6, 0x3E},
                {-0x1.61p-2F, 0.0F, 0x1.61p-1F, 0x1.d6aaa6p-4F}},
        Rotated{"turboquant_polar(4,32):skainet",
                {0xAD, 0x7B, 0xB8, 0x8E, 0x51, 0x99, 0x39, 0x8C, 0x26, 0x68,
                 0xB7, 0xDB, 0xE9, 0x96, 0x59, 0xF8, 0x2F, 0xA2, 0x0E, 0x3E},
                {-0x1.08bffcp-1F, 0x1.f84926p-4F, 0x1.86d246p-1F, 0x1.2e924ap-4F}},
        Rotated{"turboquant_polar(8,32):skainet",
                {0x5C, 0x2C, 0x35, 0xF6, 0x08, 0x38, 0x65, 0x03, 0x81, 0xC1, 0x0D, 0x0A,
                 0x0D, 0xA5, 0x51, 0x03, 0xE4, 0x9B, 0x00, 0xDA, 0xE7, 0x30, 0x35, 0x5B,
                 0x0D, 0x66, 0xDC, 0x12, 0x1A, 0xC1, 0xFD, 0x7F, 0xF9, 0x92, 0xFB, 0x3B},
                {-0x1.011b36p-1F, 0x1.1064c8p-3F, 0x1.86860cp-1F, 0x1.904074p-6F}}}) {
    const Bytes block = encoded(golden.id, values);
    EXPECT_EQ(block, golden.block) << golden.id;
    EXPECT_EQ(first_of(decoded(golden.id, block), 4), golden.first) << golden.id;
  }
}

TEST(SkainetBlocks, ARotationSpreadsANanToZerosAndAnInfinityToNans) {
  const std::string_view id = "turboquant_polar(4,128):skainet";
  Floats values(128, 1.0F);
  values[77] = kNan;
  EXPECT_THAT(decoded(id, encoded(id, values)), Each(0.0F));
  values[77] = kInfinity;
  EXPECT_THAT(decoded(id, encoded(id, values)), Each(IsNan()));
}

}  // namespace
}  // namespace packcheck::test
