// MLX's affine groups: groups worked out apart from the project's code, the three planes, and the edges of the rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/encoding/mlx_affine.h"
#include "properties/oracles/block_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const Encoding& named(std::string_view id) { return **encoding_named(id); }

Bytes quantized(const Encoding& e, const std::vector<float>& values) {
  Bytes array(encoded_bytes(e, values.size()).value(), 0xA5);
  EXPECT_TRUE(quantize(e, values, array));
  return array;
}

std::vector<float> decoded(const Encoding& e, const Bytes& array) {
  std::vector<float> values(decoded_count(e, array.size()).value());
  EXPECT_TRUE(dequantize(e, array, values));
  return values;
}

std::string hex_text(const Bytes& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += hex(byte).substr(8);
  return text;
}

std::vector<float> ramp(std::size_t size, float first, float step) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = first + static_cast<float>(i) * step;
  return values;
}

struct Golden {
  std::string_view id;
  std::string_view bytes;  ///< codes, scale, bias
};

// Computed with exact integers for the stream and every f32 operation rounded on its own.
TEST(AffineGroup, OfARampIsTheGoldenBlockInEveryWidthAndOnBothDevices) {
  const std::vector<float> values = ramp(32, -11.0F / 8, 1.0F / 8);
  for (const Golden& golden :
       {Golden{"mlx_affine(2,32):cpu-f16", "FFAFAAAA5655050000BD0041"},
        Golden{"mlx_affine(2,32):gpu-f16", "FFBFAAAA5655150000BD0041"},
        Golden{"mlx_affine(3,32):cpu-f16", "FF7FDB765B92E4364952120000B80041"},
        Golden{"mlx_affine(3,32):gpu-f16", "FFFFDB76DB92E4B64952920000B80041"},
        Golden{"mlx_affine(4,32):cpu-f16", "FFEEDECCBCAA9A88786656443422120000B40041"},
        Golden{"mlx_affine(4,32):gpu-f16", "FFEFDECDBCAB9A89786756453423120100B40041"},
        Golden{"mlx_affine(5,32):cpu-f16", "DF77BE75C6D7563A6584CF35B65442C71432440000B00041"},
        Golden{"mlx_affine(6,32):cpu-f16", "BFBFE7773DC76FBBA66739865FB7651725410EA320062100CEAB0041"},
        Golden{"mlx_affine(6,32):gpu-f16", "BFBFE7773DC76FBBA66739865FB7655725410EA320062100CEAB0041"},
        Golden{"mlx_affine(8,32):cpu-f16", "FFF8EFE7DFD6CEC6BEB6ADA59D948C847C746B635B524A423A32292119100800C2A30041"},
        Golden{"mlx_affine(8,32):gpu-f16", "FFF8EFE7DFD7CEC6BEB6ADA59D958C847C746B635B534A423A32292119110800C2A30041"}})
    EXPECT_EQ(hex_text(quantized(named(golden.id), values)), golden.bytes) << golden.id;
}

TEST(AffineGroup, OfNegativeNumbersHasAnotherScaleOnAGpuBecauseItsGreatestStartsAtZero) {
  const std::vector<float> values = ramp(32, -1.0F, -1.0F / 16);
  EXPECT_EQ(hex_text(quantized(named("mlx_affine(4,32):cpu-f16"), values)), "FFEEDDCCBBAA998877665544332211001630E0C1");
  EXPECT_EQ(hex_text(quantized(named("mlx_affine(4,32):gpu-f16"), values)), "AA9989887767665545443433221211004432E0C1");
}

TEST(AffineGroup, OfABfloatOrSingleMatrixIsTheGoldenBlock) {
  std::vector<float> values(64);
  for (std::size_t i = 0; i < 64; ++i) values[i] = (static_cast<float>(i * i % 61) - 20.0F) / 16;
  EXPECT_EQ(hex_text(quantized(named("mlx_affine(6,64):cpu-bf16"), values)),
            "BFBFDB6E9931BC6A01A8134F32B4121B3C50E3AB0B48F33C0D22E8EF480DF046AC903CC50E0A582ACF64A56BEFFEEFEF74BD2040");
  EXPECT_EQ(hex_text(quantized(named("mlx_affine(3,64):gpu-f32"), values)),
            "FF6D2EEF5059563343F411490A6E0A5E2ACB2AD667B4FFFF000000BF00002040");
}

/// Element 10 of a 3-bit stream is at bits 30 to 32, across a word.
TEST(AffineGroup, CodesOfThreeFiveAndSixBitsCrossBytesAndWords) {
  for (const unsigned bits : {2U, 3U, 4U, 5U, 6U, 8U}) {
    const Encoding& e = named("mlx_affine(" + std::to_string(bits) + ",64):cpu-f32");
    for (std::size_t i = 0; i < 64; ++i) {
      Bytes block(e.block_bytes);
      for (std::size_t bit = i * bits; bit < (i + 1) * bits; ++bit)
        block[bit / 8] |= static_cast<std::uint8_t>(1U << bit % 8);
      block[8 * bits + 3] = 0x3F;  // scale 1, bias 0
      block[8 * bits + 2] = 0x80;
      const std::vector<float> values = decoded(e, block);
      for (std::size_t j = 0; j < 64; ++j)
        ASSERT_EQ(values[j], j == i ? static_cast<float>((1U << bits) - 1) : 0.0F) << bits << " " << i << " " << j;
    }
  }
}

TEST(AffineGroup, AMatrixIsItsCodesThenItsScalesThenItsBiases) {
  const Encoding& e = named("mlx_affine(3,32):cpu-f16");  // 12 bytes of codes, 2 of scale, 2 of bias
  EXPECT_EQ(e.blocking, Blocking::row);
  EXPECT_EQ(position_of_byte(e, 5, 0, 0), 0U);
  EXPECT_EQ(position_of_byte(e, 5, 4, 11), 4U * 12 + 11);
  EXPECT_EQ(position_of_byte(e, 5, 0, 12), 5U * 12);
  EXPECT_EQ(position_of_byte(e, 5, 4, 13), 5U * 12 + 9);
  EXPECT_EQ(position_of_byte(e, 5, 0, 14), 5U * 14);
  EXPECT_EQ(position_of_byte(e, 5, 4, 15), 5U * 16 - 1);
}

TEST(Planes, HoldEveryByteOfEveryBlockOnceAndGoThereAndBackAsTheOracleSays) {
  Random random(51);
  for (const Encoding& e : all_encodings()) {
    constexpr std::size_t kBlocks = 3;
    Bytes blocks(kBlocks * e.block_bytes);
    for (std::uint8_t& byte : blocks) byte = static_cast<std::uint8_t>(random.bits());
    Bytes array(blocks.size());
    std::vector<int> met(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::size_t position = position_of_byte(e, kBlocks, i / e.block_bytes, i % e.block_bytes);
      ASSERT_LT(position, array.size()) << e.id();
      array[position] = blocks[i];
      ++met[position];
    }
    EXPECT_THAT(met, testing::Each(1)) << e.id();
    EXPECT_EQ(oracle::array_order(e.id(), blocks), array) << e.id();
    EXPECT_EQ(oracle::block_order(e.id(), array), blocks) << e.id();
    const std::size_t planes = std::accumulate(e.planes.begin(), e.planes.end(), std::size_t{0});
    EXPECT_TRUE(planes == 0 || planes == e.block_bytes) << e.id();
  }
}

TEST(AffineGroup, OfZerosHasTheLeastStepNegative) {
  for (const float zero : {0.0F, -0.0F}) {
    const std::vector<float> zeros(64, zero);
    for (const std::string_view id : {"mlx_affine(4,64):cpu-f16", "mlx_affine(4,64):gpu-f16"}) {
      const Bytes block = quantized(named(id), zeros);
      EXPECT_EQ(hex_text({block.begin() + 32, block.end()}), "02800000") << id;  // -2^-23: 1e-7 as a half
      for (const float x : decoded(named(id), block)) EXPECT_EQ(x, 0.0F);
    }
  }
}

TEST(AffineGroup, OfOneNumberDecodesToIt) {
  for (const Encoding& e : all_encodings()) {
    if (e.rules.affine.bits == 0) continue;
    for (const float c : {9.0F, -9.0F, 0x1p-10F, -0x1p-10F})
      EXPECT_THAT(decoded(e, quantized(e, std::vector<float>(e.block_size, c))), testing::Each(c)) << e.id();
  }
  // Where the number of steps overflows, the scale is 0 and any code decodes to the bias.
  const Encoding& e = named("mlx_affine(4,64):cpu-f32");
  EXPECT_THAT(decoded(e, quantized(e, std::vector<float>(64, 1e38F))), testing::Each(1e38F));
}

TEST(AffineGroup, PassesOverANanWhoseCodeIsOpenWithThoseAboveItInItsPack) {
  std::vector<float> values = ramp(32, 0.0F, 1.0F);
  const Bytes without = quantized(named("mlx_affine(3,32):cpu-f16"), values);
  values[10] = kNan;
  const Bytes with = quantized(named("mlx_affine(3,32):cpu-f16"), values);
  EXPECT_EQ(Bytes(with.end() - 4, with.end()), Bytes(without.end() - 4, without.end()));
  const oracle::ExpectedBlocks expected = oracle::quantize("mlx_affine(3,32):cpu-f16", values).value();
  // Eight codes to 3 bytes: bits 30 to 47 are open.
  EXPECT_THAT(expected.specified, testing::ElementsAre(0xFF, 0xFF, 0xFF, 0x3F, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                       0xFF, 0xFF, 0xFF, 0xFF));
  EXPECT_THAT(oracle::quantize("mlx_affine(3,32):gpu-f16", values)->specified, testing::Each(0));
}

TEST(AffineGroup, WithAnInfinityIsNanThroughout) {
  for (const std::string_view id : {"mlx_affine(4,64):cpu-bf16", "mlx_affine(4,64):gpu-f32"}) {
    std::vector<float> values(64, 1.0F);
    values[5] = -kInfinity;
    EXPECT_THAT(decoded(named(id), quantized(named(id), values)), testing::Each(testing::IsNan())) << id;
  }
}

/// 3·(1 + 3·2^-7) = 3.0703125 is halfway between two bfloats: rounded to the even one, after which 2^-20 is lost;
/// together they are above the half.
TEST(AffineGroup, AGpuRoundsProductAndSumOnceTheCpuTwice) {
  Bytes block(32 + 4);
  block[0] = 3;
  block[32] = 0x83;
  block[33] = 0x3F;
  block[34] = 0x80;
  block[35] = 0x35;  // bias 2^-20
  EXPECT_EQ(decoded(named("mlx_affine(4,64):cpu-bf16"), block)[0], 3.0625F);
  EXPECT_EQ(decoded(named("mlx_affine(4,64):gpu-bf16"), block)[0], 3.078125F);
}

}  // namespace
}  // namespace packcheck::test
