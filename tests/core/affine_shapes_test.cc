// What shapes tell about packed weights: every choice by search, every misreading by a walk over all indices, and
// the published case with 15360 rows of 60 BF16 scales.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/affine/affine.h"
#include "core/affine/groups.h"
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

}  // namespace
}  // namespace packcheck::test
