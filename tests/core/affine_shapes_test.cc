// What shapes tell about packed weights: every choice by search, every misreading by a walk over all indices, and
// the published case with 15360 rows of 60 BF16 scales.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "core/affine/affine.h"
#include "core/affine/groups.h"
#include "properties/oracles/affine_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Shape = std::vector<std::uint64_t>;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(GroupChoices, BitsTimesGroupIsAllThatShapesDetermine) {
  EXPECT_THAT(group_choices(Shape{15360, 480}, Shape{15360, 60}),
              ElementsAre(GroupChoice{2, 128, 7680}, GroupChoice{4, 64, 3840}, GroupChoice{8, 32, 1920}));
  // 768 words: 4096 numbers of 6 bits; 4 bits would make them 6144.
  EXPECT_THAT(group_choices(Shape{1, 768}, Shape{1, 64}),
              ElementsAre(GroupChoice{3, 128, 8192}, GroupChoice{6, 64, 4096}));
  EXPECT_THAT(group_choices(Shape{1, 5}, Shape{1, 1}), ElementsAre(GroupChoice{5, 32, 32}));
  EXPECT_THAT(group_choices(Shape{8, 2, 480}, Shape{8, 2, 60}), testing::SizeIs(3));
}

TEST(GroupChoices, ShapesThatDoNotGoTogetherHaveNone) {
  EXPECT_THAT(group_choices(Shape{}, Shape{}), IsEmpty());
  EXPECT_THAT(group_choices(Shape{4, 480}, Shape{60}), IsEmpty());
  EXPECT_THAT(group_choices(Shape{4, 480}, Shape{5, 60}), IsEmpty());
  EXPECT_THAT(group_choices(Shape{4, 480}, Shape{4, 0}), IsEmpty());
  EXPECT_THAT(group_choices(Shape{4, 0}, Shape{4, 60}), IsEmpty());
  EXPECT_THAT(group_choices(Shape{1, std::uint64_t{1} << 62}, Shape{1, 4}), IsEmpty());
}

TEST(GroupChoices, AreThoseThatASearchFinds) {
  for (std::uint64_t words = 1; words <= 96; ++words) {
    for (std::uint64_t columns = 1; columns <= 9; ++columns) {
      std::vector<GroupChoice> found;
      for (unsigned bits = 1; bits <= 8; ++bits)
        for (std::uint64_t in = 1; in <= words * 32; ++in) {
          if (bits == 1 || bits == 7 || in * bits != words * 32 || in % columns != 0) continue;
          const std::uint64_t group = in / columns;
          if (group == 32 || group == 64 || group == 128) found.push_back({bits, static_cast<unsigned>(group), in});
        }
      EXPECT_EQ(group_choices(Shape{7, words}, Shape{7, columns}), found) << words << " words, " << columns;
    }
  }
}

/// By a walk over every index that a kernel forms.
std::uint64_t walked(const ScaleWalk& w) {
  for (std::uint64_t row = 0; row < w.rows; ++row)
    for (std::uint64_t k = 0; k < w.reads; ++k)
      if (row * w.stride + k >= w.capacity) return row;
  return w.rows;
}

TEST(ScaleWalks, TheFirstRowOutOfBoundsIsTheOneThatAWalkFinds) {
  for (std::uint64_t rows = 0; rows <= 6; ++rows)
    for (std::uint64_t stride = 0; stride <= 5; ++stride)
      for (std::uint64_t reads = 0; reads <= 6; ++reads)
        for (std::uint64_t capacity = 0; capacity <= 20; ++capacity) {
          const ScaleWalk w{rows, stride, reads, capacity};
          EXPECT_EQ(first_row_out_of_bounds(w), walked(w)) << rows << " " << stride << " " << reads << " " << capacity;
        }
}

// 15360 x 3840, 60 groups of 64, BF16 scales: 1,843,200 bytes.
TEST(ScaleWalks, Bf16ScalesReadAsFloat32EndAtRow7680) {
  const ScaleWalk walk = read_as_f32(15360, 60, Format::bf16);
  EXPECT_EQ(walk.capacity, 460'800U);
  EXPECT_EQ(walk.capacity * 4, 1'843'200U);
  EXPECT_EQ(first_row_out_of_bounds(walk), 7680U);
  EXPECT_EQ(walked(walk), 7680U);
  EXPECT_EQ(first_row_out_of_bounds(read_as_f32(15360, 60, Format::f32)), 15360U) << "float32 scales are all there";
}

TEST(ScaleWalks, TheColumnCountAsGroupSizeEndsAtRow14400AndWithShortScalesAt7200) {
  const ScaleWalk repaired = read_columns_as_group(15360, 3840, 60, 921'600);
  EXPECT_EQ(repaired.stride, 64U);
  EXPECT_EQ(first_row_out_of_bounds(repaired), 14'400U);
  EXPECT_EQ((repaired.rows - 1) * repaired.stride + repaired.reads - 1, 983'039U) << "the largest index";
  EXPECT_EQ(first_row_out_of_bounds(read_columns_as_group(15360, 3840, 60, 460'800)), 7200U);
}

TEST(ScaleWalks, TheFaultyKernelsStopWhereTheWalksSay) {
  // 240 rows of 120 codes of 2 bits stand for it: 60 scales a row.
  const std::uint64_t rows = 240;
  Bytes codes(rows * 120 / 4);
  Bytes scales(rows * 60 * 2);
  for (std::size_t i = 0; i < rows * 60; ++i) store_element(spec(Format::bf16), scales, i, 0x3F81 + i % 100);
  const AffineWeights w{rows, 120, 60, Format::bf16, codes, scales, scales, 2};
  std::vector<float> out(rows * 120);
  const std::uint64_t first = first_row_out_of_bounds(read_as_f32(rows, 60, Format::bf16));
  EXPECT_EQ(first, 120U);
  const Result<void> as_f32 = affine_dequantize(w, out, {.scales = ScaleReading::bytes_as_f32});
  ASSERT_FALSE(as_f32.has_value());
  EXPECT_EQ(as_f32.error().what, "scale index " + std::to_string(first * 60));
  EXPECT_EQ(rows_wrong_as_f32(scales, Format::bf16, 60, 0, first), first) << "every row before it is wrong in silence";
  // A group of 60 gives 2 scales a row: nothing is out of bounds, and all but the first rows read others' scales.
  EXPECT_EQ(first_row_out_of_bounds(read_columns_as_group(rows, 120, 60, rows * 60)), rows);
  EXPECT_TRUE(affine_dequantize(w, out, {.group = GroupReading::scale_columns}).has_value());
  std::vector<float> right(out.size());
  ASSERT_TRUE(affine_dequantize(w, right).has_value());
  EXPECT_NE(out, right);
}

TEST(ScaleWalks, RowsOfZerosAreRightByChance) {
  Bytes scales(4 * 2 * 2);
  EXPECT_EQ(rows_wrong_as_f32(scales, Format::bf16, 2, 0, 2), 0U);
  // The high half of the float at index 2, in row 1, whose own scale is 0.
  store_element(spec(Format::bf16), scales, 5, 0x3F80);
  EXPECT_EQ(rows_wrong_as_f32(scales, Format::bf16, 2, 0, 2), 1U);
  // Now row 1 has that scale itself, and row 0 reads it as the low half of its second.
  store_element(spec(Format::bf16), scales, 2, 0x3F80);
  EXPECT_EQ(rows_wrong_as_f32(scales, Format::bf16, 2, 0, 1), 1U);
  EXPECT_EQ(rows_wrong_as_f32(scales, Format::bf16, 2, 0, 2), 1U);
}

TEST(AffineArguments, AGroupSizeThatIsNotPassedIsRightForGroupsOf64Alone) {
  for (const std::size_t group : {32U, 64U, 128U}) {
    const std::size_t in = 4 * group;
    Bytes codes(3 * in / 2, 0x21);
    Bytes scales(3 * 4 * 4);
    for (std::size_t i = 0; i < 12; ++i) store_element(spec(Format::f32), scales, i, 0x3F800000 + i);
    const AffineWeights w{3, in, 4, Format::f32, codes, scales, scales};
    std::vector<float> right(3 * in);
    std::vector<float> out(3 * in);
    ASSERT_TRUE(affine_dequantize(w, right).has_value());
    const bool whole = affine_dequantize(w, out, {.group = GroupReading::not_passed}).has_value();
    EXPECT_EQ(whole && out == right, group == 64) << group;
  }
}

TEST(AffineWidths, OneWidthForTheWholeModelMisreadsTheOthers) {
  Bytes codes(96);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(37 * i + 1);
  const Bytes one{0x80, 0x3F};
  const Bytes zero{0, 0};
  const AffineWeights w{1, 128, 1, Format::bf16, codes, one, zero, 6};
  std::vector<float> right(128);
  std::vector<float> out(128);
  ASSERT_TRUE(affine_dequantize(w, right).has_value());
  EXPECT_EQ(right[0], static_cast<float>(codes[0] & 63));
  EXPECT_EQ(right[1], static_cast<float>((codes[0] >> 6 | codes[1] << 2) & 63)) << "codes straddle bytes";
  ASSERT_TRUE(affine_dequantize(w, out, {.width = CodeWidth::global_4}).has_value());
  EXPECT_NE(out, right);
  EXPECT_EQ(out[0], static_cast<float>(codes[0] & 15));
}

/// `count` scales 1, 2, 3 … as f32.
Bytes counting_scales(std::size_t count) {
  Bytes scales(count * 4);
  for (std::size_t i = 0; i < count; ++i)
    store_element(spec(Format::f32), scales, i, std::bit_cast<std::uint32_t>(static_cast<float>(i + 1)));
  return scales;
}

TEST(AffineBlocks, RowsOfABlockThatIsCutOffAreThoseOfTheDeclaredBlock) {
  // 1000 rows in blocks of 128 have 8 rows of scales, and so have blocks of 125.
  const Bytes codes(1000, 1);
  const Bytes scales = counting_scales(8);
  const Bytes biases(32);
  const AffineWeights w{1000, 1, 1, Format::f32, codes, scales, biases, 8, 128, 1};
  std::vector<float> out(1000);
  ASSERT_TRUE(affine_dequantize(w, out).has_value());
  EXPECT_EQ(out[126], 1.0F) << "row 0 of the scales";
  EXPECT_EQ(out[999], 8.0F);
  ASSERT_TRUE(affine_dequantize(w, out, {.block = BlockReading::rows_per_scale}).has_value());
  EXPECT_EQ(out[126], 2.0F) << "the wrong block of 125";
  EXPECT_EQ(out[999], 8.0F);
}

TEST(AffineBlocks, TheShapeOfTheScalesIsNotThatOfABlock) {
  const Bytes codes(256 * 512, 1);
  const Bytes scales = counting_scales(8);
  const Bytes biases(32);
  const AffineWeights w{256, 512, 4, Format::f32, codes, scales, biases, 8, 128, 128};
  std::vector<float> out(256 * 512);
  ASSERT_TRUE(affine_dequantize(w, out).has_value());
  EXPECT_EQ(out[127 * 512 + 511], 4.0F);
  EXPECT_EQ(out[128 * 512], 5.0F);
  const Result<void> wrong = affine_dequantize(w, out, {.block = BlockReading::scale_shape});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().text(), testing::HasSubstr("scale index 8")) << "element 32 of the first row";
}

TEST(AffineBlocks, CoreAndOracleAgreeOnEveryWidthAndBlock) {
  Random random(67);
  for (int i = 0; i < 300; ++i) {
    const unsigned bits = kAffineWidths[random.below(kAffineWidths.size())];
    const std::size_t out = 1 + random.below(9);
    const std::size_t in = 8 * (1 + random.below(5));
    const std::size_t rows = 1 + random.below(4);
    const std::size_t columns = 1 + random.below(11);
    const std::size_t scale_columns = (in + columns - 1) / columns;
    Bytes codes(out * in * bits / 8);
    for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(random.bits());
    const Bytes scales = counting_scales((out + rows - 1) / rows * scale_columns);
    const AffineWeights w{out, in, scale_columns, Format::f32, codes, scales, scales, bits, rows, columns};
    std::vector<float> actual(out * in);
    ASSERT_TRUE(affine_dequantize(w, actual).has_value());
    EXPECT_EQ(oracle::affine_weights(
                  {out, in, scale_columns, Format::f32, codes, scales, scales, static_cast<int>(bits), rows, columns}),
              actual)
        << bits << " bits, blocks of " << rows << "x" << columns;
  }
}

TEST(AffineBlocks, WhoseScalesDoNotCoverTheWeightsAreRefused) {
  const Bytes codes(6 * 8);
  const Bytes scales = counting_scales(6);
  std::vector<float> out(6 * 8);
  AffineWeights w{6, 8, 3, Format::f32, codes, scales, scales, 8, 3, 3};
  ASSERT_TRUE(affine_dequantize(w, out).has_value());
  w.block_columns = 4;
  EXPECT_THAT(affine_dequantize(w, out).error().text(), testing::HasSubstr("2 from in_features and the blocks"));
  w.block_columns = 3;
  w.block_rows = 2;
  EXPECT_THAT(affine_dequantize(w, out).error().text(), testing::HasSubstr("affine scales"));
  w.block_rows = 0;
  EXPECT_THAT(affine_dequantize(w, out).error().text(), testing::HasSubstr("blocks of 0 rows"));
}

TEST(AffineArguments, MissingOrMeaninglessOnesGiveTheNumbersOfTheBugs) {
  const Bytes one{0x00, 0x00, 0x80, 0x3F};
  const Bytes zero(4);
  std::vector<float> row(256);
  // A group size of -1 stands for a whole row; 64 / -1 is a stride of -64.
  const Bytes codes(128, 0x11);
  const AffineWeights whole_row{1, 256, 1, Format::f32, codes, one, zero};
  ASSERT_TRUE(affine_dequantize(whole_row, row).has_value());
  const Result<void> far = affine_dequantize(whole_row, row, {.group = GroupReading::minus_one});
  ASSERT_FALSE(far.has_value());
  EXPECT_THAT(far.error().text(), testing::HasSubstr("scale index 18446744073709551552"));
  // Strides of 0.
  const Bytes rows{0x01, 0x10, 0x22};
  const Bytes ones = [&] {
    Bytes bytes;
    for (int i = 0; i < 3; ++i) bytes.insert(bytes.end(), one.begin(), one.end());
    return bytes;
  }();
  const Bytes zeros(12);
  const AffineWeights three{3, 2, 1, Format::f32, rows, ones, zeros};
  std::vector<float> out(6);
  ASSERT_TRUE(affine_dequantize(three, out, {.row = RowReading::first}).has_value());
  EXPECT_EQ(out, (std::vector<float>{1, 0, 1, 0, 1, 0}));
  ASSERT_TRUE(affine_dequantize(three, out).has_value());
  EXPECT_EQ(out, (std::vector<float>{1, 0, 0, 1, 2, 2}));
  // Codes taken for float32: four bytes are one number, and the next is not there.
  const Bytes bytes{0x0A, 0x14, 0x1E, 0x28};
  const AffineWeights quantized{1, 4, 1, Format::f32, bytes, one, zero, 8};
  out.resize(4);
  const Result<void> cast = affine_dequantize(quantized, out, {.width = CodeWidth::logical_dtype});
  ASSERT_FALSE(cast.has_value());
  EXPECT_EQ(std::bit_cast<std::uint32_t>(out[0]), 0x281E140AU);
  EXPECT_THAT(cast.error().text(), testing::HasSubstr("float32 at byte 4"));
}

}  // namespace
}  // namespace packcheck::test
