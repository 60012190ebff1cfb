// Microscaling blocks, NVFP4, GPTQ and AWQ: blocks worked out apart from the project's code, and the edges of the
// rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/encoding/elements.h"
#include "core/encoding/encoding.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::Each;
using testing::IsNan;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const Encoding& named(std::string_view id) { return **encoding_named(id); }

/// One block, so block order and array order are the same.
Bytes quantized(const Encoding& e, const std::vector<float>& values) {
  Bytes block(e.block_bytes, 0xA5);
  EXPECT_TRUE(quantize(e, values, block));
  return block;
}

std::vector<float> decoded(const Encoding& e, const Bytes& block) {
  std::vector<float> values(e.block_size);
  EXPECT_TRUE(dequantize(e, block, values));
  return values;
}

std::string hex_text(const Bytes& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += hex(byte).substr(8);
  return text;
}

/// Eighths from -30 to 33 in a mixed order, every third a sixteenth of that.
std::vector<float> mixed(std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = (static_cast<float>(i * 37 % 64) - 30.0F) * (i % 3 != 0 ? 1.0F : 0.0625F) / 8.0F;
  return values;
}

struct Golden {
  std::string_view id;
  std::string_view bytes;
};

// Computed with exact fractions, by comparing with every number of the element.
TEST(Microscaling, BlocksAreTheGoldenOnes) {
  for (const Golden& golden :
       {Golden{"mxfp8_e4m3:ocp", "79D766F250EA7600F66AD072E6575CF44DEE74C07864D270EB55D0F649F172C876"},
        Golden{"mxfp8_e5m2:ocp", "72E86FF564F17700F771E475EF686AF662F376DC786EE574F266E4F760F475E077"},
        Golden{"mxfp6_e3m2:ocp", "7DEC9423F506EC159ACD8CA31BB72672528AD90ABA1378466E"},
        Golden{"mxfp6_e2m3:ocp", "7FE22107AA05D84A289DC240072E05624608AD426807B1045A"},
        Golden{"mxfp4:ocp", "7F280C5AD082A4100D5C6882B4800E4C68"},
        Golden{"mxint8:ocp", "81FC0ED802EC3600CA14FE28F20406D002E42E00420CFD20EA03FEC801DC26FF3A"},
        Golden{"mxfp4:mlx", "391E7CF094B6110F7D7093D6010F6E707E"},
        Golden{"mxfp8:mlx", "DF6EFA58F27E00FE72D87AEE5F64FC55F67CC87E6CDA78F35DD8FE51F97AD07E78"}})
    EXPECT_EQ(hex_text(quantized(named(golden.id), mixed(32))), golden.bytes) << golden.id;
  EXPECT_EQ(hex_text(quantized(named("nvfp4:mlx"), mixed(16))), "390E7CF004B6110F31");
}

TEST(Microscaling, ABlockScaleAbove448IsSaturatedAndNoNan) {
  std::vector<float> values = mixed(16);
  for (float& x : values) x *= 1000.0F;
  EXPECT_EQ(hex_text(quantized(named("nvfp4:mlx"), values)), "491F7DF095C7210F7E");
  EXPECT_EQ(e4m3fn_scale(ScaleOverflow::saturates, 600.0F), 0x7E);
  EXPECT_EQ(e4m3fn_scale(ScaleOverflow::becomes_nan, 600.0F), 0x7F);
  Encoding unclamped = named("nvfp4:mlx");
  unclamped.rules.scale_overflow = ScaleOverflow::becomes_nan;
  EXPECT_THAT(decoded(unclamped, quantized(unclamped, values)), Each(IsNan()));
}

TEST(Microscaling, FourSixBitElementsShareThreeBytes) {
  for (const std::string_view id : {"mxfp6_e3m2:ocp", "mxfp6_e2m3:ocp"}) {
    for (std::size_t i = 0; i < 32; ++i) {
      Bytes block(25);
      block[0] = 127;
      for (std::size_t bit = 6 * i; bit < 6 * i + 5; ++bit)
        block[1 + bit / 8] |= static_cast<std::uint8_t>(1U << bit % 8);
      const std::vector<float> values = decoded(named(id), block);
      for (std::size_t j = 0; j < 32; ++j)
        ASSERT_EQ(values[j], j != i ? 0.0F : id == "mxfp6_e3m2:ocp" ? 28.0F : 7.5F) << i << " " << j;
    }
  }
}

TEST(Microscaling, ANanOrAnInfinityMakesTheWholeOcpBlockNan) {
  for (const Encoding& e : all_encodings()) {
    if (e.dialect != "ocp" && e.dialect != "nvidia") continue;
    for (const float value : {kNan, kInfinity, -kInfinity}) {
      std::vector<float> values(e.block_size, 1.0F);
      values[3] = value;
      const Bytes block = quantized(e, values);
      EXPECT_THAT(decoded(e, block), Each(IsNan())) << e.id();
      EXPECT_EQ(block[e.dialect == "ocp" ? 0 : 3], e.dialect == "ocp" ? 0xFF : 0x7F) << e.id();
    }
  }
}

TEST(Microscaling, ZerosKeepTheirSignInOcpAndHaveTheScaleOfTheirRule) {
  EXPECT_EQ(hex_text(quantized(named("mxfp4:ocp"), std::vector<float>(32, -0.0F))),
            "0088888888888888888888888888888888");
  EXPECT_EQ(hex_text(quantized(named("mxfp4:mlx"), std::vector<float>(32, -0.0F))),
            "000000000000000000000000000000007F");
  EXPECT_EQ(quantized(named("mxfp8:mlx"), std::vector<float>(32, 0.0F))[32], 127);
  EXPECT_EQ(quantized(named("nvfp4:mlx"), std::vector<float>(16, 0.0F))[8], 0);
  EXPECT_EQ(quantized(named("mxint8:ocp"), std::vector<float>(32, -0.0F)), Bytes(33, 0));
}

/// Under the scale 1, which 6 gives: ties of 4 bits go to the smaller magnitude in MLX and to the even code in OCP.
TEST(Microscaling, TiesAndNegativesNearZeroDifferBetweenMlxAndOcp) {
  std::vector<float> values(32, 0.0F);
  values[0] = 6.0F;
  values[1] = 0.75F;
  values[2] = 1.75F;
  values[3] = -3.5F;
  values[4] = -0.125F;
  EXPECT_THAT(Bytes({quantized(named("mxfp4:mlx"), values)[0], quantized(named("mxfp4:mlx"), values)[1],
                     quantized(named("mxfp4:mlx"), values)[2]}),
              testing::ElementsAre(0x17, 0xD3, 0x00));
  EXPECT_THAT(Bytes({quantized(named("mxfp4:ocp"), values)[1], quantized(named("mxfp4:ocp"), values)[2],
                     quantized(named("mxfp4:ocp"), values)[3]}),
              testing::ElementsAre(0x27, 0xE4, 0x08));
}

TEST(Microscaling, TheScaleByte255IsNanInOcpAndInfiniteInMlx) {
  Bytes block(17, 0x11);
  block[0] = 0xFF;
  EXPECT_THAT(decoded(named("mxfp4:ocp"), block), Each(IsNan()));
  block[0] = 0x91;
  block[16] = 0xFF;
  const std::vector<float> values = decoded(named("mxfp4:mlx"), block);
  EXPECT_EQ(values[0], kInfinity);
  EXPECT_EQ(values[1], -kInfinity);
}

TEST(Microscaling, ExponentsAreHeldAtTheEndsOfTheScale) {
  EXPECT_EQ(quantized(named("mxfp8_e5m2:ocp"), std::vector<float>(32, 0x1p-149F)), Bytes(33, 0)) << "lost below 2^-143";
  const Bytes block = quantized(named("mxfp8_e5m2:ocp"), std::vector<float>(32, 0x1p-142F));
  EXPECT_EQ(block[0], 0);
  EXPECT_THAT(decoded(named("mxfp8_e5m2:ocp"), block), Each(0x1p-142F));
  EXPECT_THAT(decoded(named("mxint8:ocp"), quantized(named("mxint8:ocp"), std::vector<float>(32, 0x1p127F))),
              Each(0x1p127F));
}

TEST(NvFp4Tensor, OfARampOfBlocksIsTheGoldenOne) {
  std::vector<float> values(256);
  for (std::size_t i = 0; i < 256; ++i)
    values[i] = (static_cast<float>(i * 37 % 64) - 30.0F) / 8.0F * static_cast<float>(1 + i / 16);
  EXPECT_EQ(
      hex_text(quantized(named("nvfp4_tensor(256):nvidia"), values)),
      "CFF3BC3C5E676B6E7073757677797A7A7B7D7E7E3F5E7CF0D4B6175E6D79E2C5863F5D7BE1D4A6275E6CF9E3B5074F6D7AE2D5963F6E7C"
      "F0E4B6175F6D79E2C5863F6D7BE1D4A6275E6CF9D3B5074F6D7AE2D5963F5E7CF0D4B6175E6D7AE2C5863F6D7BE1D4A6275E6CF9E3C607"
      "4F6D7AE2D5963F5E7CF0D4B6175E6D79E2C5863F5D7BE1D4A6275E6CF9D3B5074F6D7AE2D596");
}

/// 1.4·2^-149·2688 has the tensor scale 2^-149, so that a/6/T is 627.
TEST(NvFp4Tensor, ASubnormalTensorScaleNeedsTheClampOfTheBlockScale) {
  const std::vector<float> values(256, static_cast<float>(1.4 * 2688 * 0x1p-149));
  const Encoding& e = named("nvfp4_tensor(256):nvidia");
  const Bytes block = quantized(e, values);
  EXPECT_EQ(block[0], 1);
  EXPECT_EQ(block[4], 0x7E);
  EXPECT_THAT(decoded(e, block), Each(2688 * 0x1p-149F));
  Encoding unclamped = e;
  unclamped.rules.scale_overflow = ScaleOverflow::becomes_nan;
  EXPECT_EQ(quantized(unclamped, values)[4], 0x7F);
}

/// Column c has the scale c + 1 and the zero point c; its codes are the row modulo 16.
Bytes columns_block(bool awq) {
  constexpr std::array<unsigned, 8> kColumnOfNibble{0, 2, 4, 6, 1, 3, 5, 7};
  Bytes block(148);
  const auto put = [&](std::size_t byte, std::size_t nibble, std::size_t code) {
    block[byte + nibble / 2] |= static_cast<std::uint8_t>(code << nibble % 2 * 4);
  };
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t nibble = 0; nibble < 8; ++nibble) {
      if (awq) put(4 * row, nibble, (row + kColumnOfNibble[nibble]) % 16);
      if (!awq) put(32 * (row / 8) + 4 * nibble, row % 8, (row + nibble) % 16);
    }
  for (std::size_t nibble = 0; nibble < 8; ++nibble) put(128, nibble, awq ? kColumnOfNibble[nibble] : nibble);
  constexpr std::array<std::uint8_t, 8> kUpperByte{0x3C, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47, 0x48};  // 1 to 8
  for (std::size_t column = 0; column < 8; ++column) block[133 + 2 * column] = kUpperByte[column];
  return block;
}

TEST(PackedColumns, OfGptqAndAwqDecodeToScaleTimesCodeLessZeroPoint) {
  for (const auto& [id, more] : {std::pair{"gptq_int4:v1", 1}, {"gptq_int4:v2", 0}, {"awq_int4:gemm", 0}}) {
    const std::vector<float> values = decoded(named(id), columns_block(id[0] == 'a'));
    for (int row = 0; row < 32; ++row)
      for (int column = 0; column < 8; ++column)
        ASSERT_EQ(values[static_cast<std::size_t>(8 * row + column)],
                  static_cast<float>(((row + column) % 16 - column - more) * (column + 1)))
            << id << " " << row << " " << column;
  }
}

TEST(PackedColumns, ZeroPointFifteenLessOneIsSixteen) {
  Bytes block(148, 0);
  block[128] = 0x0F;
  block[133] = 0x3C;
  EXPECT_EQ(decoded(named("gptq_int4:v1"), block)[0], -16.0F);
  EXPECT_EQ(decoded(named("gptq_int4:v2"), block)[0], -15.0F);
}

TEST(PackedColumns, TheThreePlanesAreThoseOfAMatrixOfEightColumns) {
  const Encoding& e = named("awq_int4:gemm");
  EXPECT_EQ(position_of_byte(e, 2, 1, 0), 128U);
  EXPECT_EQ(position_of_byte(e, 2, 0, 128), 256U);
  EXPECT_EQ(position_of_byte(e, 2, 1, 132), 264U + 16);
}

}  // namespace
}  // namespace packcheck::test
