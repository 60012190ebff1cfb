// Faulty rules of the core: each does exactly what its name says, so that a twin has that fault and no other.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/graph/shape_infer.h"

namespace packcheck::test {
namespace {

std::vector<float> decoded(Encoding encoding, CodeReading reading, const std::vector<std::uint8_t>& blocks) {
  encoding.rules.reading = reading;
  std::vector<float> values(decoded_count(encoding, blocks.size()).value());
  EXPECT_TRUE(dequantize(encoding, blocks, values));
  return values;
}

/// A block of some codes and the scale 1, a half, at its end.
std::vector<std::uint8_t> block_of_codes(std::size_t codes, unsigned below) {
  std::vector<std::uint8_t> block;
  for (std::size_t i = 0; i < codes; ++i) block.push_back(static_cast<std::uint8_t>((i * 37 + 5) % below));
  block.push_back(0x00);
  block.push_back(0x3C);
  return block;
}

TEST(FaultyRules, SequentialReadingOfTq1TakesFiveNeighboursOfAByteTheLowestDigitFirst) {
  const std::vector<std::uint8_t> block = block_of_codes(52, 243);
  std::vector<float> expected;
  for (std::size_t i = 0; i < 48; ++i) {
    const int byte = block[i];
    for (const int place : {1, 3, 9, 27, 81}) expected.push_back(static_cast<float>(byte / place % 3 - 1));
  }
  for (std::size_t i = 48; i < 52; ++i) {
    const int byte = block[i];
    for (const int place : {1, 4, 16, 64}) expected.push_back(static_cast<float>(byte / place % 4 - 1));
  }
  EXPECT_EQ(decoded(*encoding_named("tq1_0:ggml").value(), CodeReading::sequential, block), expected);
  EXPECT_NE(decoded(*encoding_named("tq1_0:ggml").value(), CodeReading::declared, block), expected);
}

TEST(FaultyRules, SequentialReadingOfTq2TakesFourNeighboursOfAByte) {
  const std::vector<std::uint8_t> block = block_of_codes(64, 256);
  std::vector<float> expected;
  for (std::size_t i = 0; i < 64; ++i) {
    const int byte = block[i];
    for (const int place : {1, 4, 16, 64}) expected.push_back(static_cast<float>(byte / place % 4 - 1));
  }
  EXPECT_EQ(decoded(*encoding_named("tq2_0:ggml").value(), CodeReading::sequential, block), expected);
  EXPECT_NE(decoded(*encoding_named("tq2_0:ggml").value(), CodeReading::declared, block), expected);
}

TEST(FaultyRules, AQuantizerThatForgetsTheLastByteWritesEveryOther) {
  for (const char* const id :
       {"q4_0:ggml", "q4_1:ggml", "q5_0:ggml", "q5_1:ggml", "q8_0:ggml", "tq1_0:ggml", "tq2_0:ggml"}) {
    Encoding encoding = *encoding_named(id).value();
    std::vector<float> values;
    for (std::size_t i = 0; i < encoding.block_size; ++i) values.push_back(static_cast<float>((i * 5 + 3) % 7) - 3.0F);
    std::vector<std::uint8_t> whole(encoding.block_bytes, 0xEE);
    ASSERT_TRUE(quantize(encoding, values, whole)) << id;
    encoding.rules.write = WriteRule::forgets_last_byte;
    std::vector<std::uint8_t> forgetful(encoding.block_bytes, 0xEE);
    ASSERT_TRUE(quantize(encoding, values, forgetful)) << id;
    std::size_t forgotten = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (whole[i] == forgetful[i]) continue;
      ++forgotten;
      EXPECT_EQ(forgetful[i], 0xEE) << id;
    }
    EXPECT_EQ(forgotten, 1U) << id;
  }
}

Dimensions inferred(std::string_view id, const Dimensions& attributes, const std::vector<Dimensions>& shapes,
                    const ShapeRules& rules) {
  return infer_shape(**shape_operator_named(id), {attributes, shapes}, rules).value_or(Dimensions{-1});
}

TEST(FaultyRules, AMatrixProductWithTheRightOneTransposedTakesItsRowsForColumns) {
  const ShapeRules rules{.matmul = MatmulOrder::right_transposed};
  EXPECT_EQ(inferred("matmul", {}, {{2, 3}, {4, 3}}, rules), (Dimensions{2, 4}));
  EXPECT_EQ(inferred("matmul", {}, {{7, 2, 3}, {1, 4, 3}}, rules), (Dimensions{7, 2, 4}));
  EXPECT_EQ(inferred("matmul", {}, {{2, 3}, {3, 4}}, rules), (Dimensions{-1}));
}

TEST(FaultyRules, AConcatenationOfTheFirstAxisAddsUpThatOne) {
  const ShapeRules rules{.concat_axis = ConcatAxis::first};
  EXPECT_EQ(inferred("concat", {1}, {{2, 3}, {5, 3}}, rules), (Dimensions{7, 3}));
  EXPECT_EQ(inferred("concat", {1}, {{2, 3}, {2, 5}}, rules), (Dimensions{-1}));
}

TEST(FaultyRules, ABroadcastAlignedAtTheFirstAxisPutsTheMissingOnesLast) {
  const ShapeRules rules{.alignment = Alignment::first_axis};
  EXPECT_EQ(inferred("broadcast", {}, {{2, 3}, {2}}, rules), (Dimensions{2, 3}));
  EXPECT_EQ(inferred("broadcast", {}, {{2, 3}, {3}}, rules), (Dimensions{-1}));
}

TEST(FaultyRules, PaddingOfOneSideCountsOnceAndAnIgnoredDilationLeavesTheKernelAsItIs) {
  const Dimensions pool{2, 2, 1, 1, 1, 1};
  EXPECT_EQ(inferred("maxpool2d", pool, {{1, 1, 4, 4}}, {.padding = PaddingSides::one}), (Dimensions{1, 1, 4, 4}));
  EXPECT_EQ(inferred("maxpool2d", pool, {{1, 1, 4, 4}}, {}), (Dimensions{1, 1, 5, 5}));
  const Dimensions dilated{1, 1, 0, 0, 2, 2, 1};
  const std::vector<Dimensions> shapes{{1, 1, 5, 5}, {1, 1, 3, 3}};
  EXPECT_EQ(inferred("conv2d", dilated, shapes, {.dilation = DilationUse::ignored}), (Dimensions{1, 1, 3, 3}));
  EXPECT_EQ(inferred("conv2d", dilated, shapes, {}), (Dimensions{1, 1, 1, 1}));
}

}  // namespace
}  // namespace packcheck::test
