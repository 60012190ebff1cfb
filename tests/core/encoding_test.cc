// The core's block encodings: golden blocks, and bit for bit against the block oracle.
#include "core/encoding/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "properties/oracles/block_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::HasSubstr;

/// Every encoding with a quantizer, and every encoding.
std::vector<std::string> quantizing_ids() {
  std::vector<std::string> ids;
  for (const Encoding& e : all_encodings())
    if (e.quantizes) ids.push_back(e.id());
  return ids;
}
std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const Encoding& e : all_encodings()) ids.push_back(e.id());
  return ids;
}

const Encoding& named(std::string_view id) { return **encoding_named(id); }

/// One of many rows that a table makes from one rule: a sample of each will do.
bool is_generated(const Encoding& encoding) { return encoding.rules.affine.bits != 0; }

/// Too many numbers to a block for every scale: a sample will do.
bool is_sampled(const Encoding& encoding) { return encoding.planes[0] != 0 || encoding.blocking == Blocking::tensor; }

/// In block order.
Bytes quantized(const Encoding& encoding, const std::vector<float>& values) {
  Bytes array(encoded_bytes(encoding, values.size()).value(), 0xA5);
  EXPECT_TRUE(quantize(encoding, values, array));
  return oracle::block_order(encoding.id(), array).value();
}
/// From block order.
bool dequantized(const Encoding& encoding, const Bytes& blocks, std::vector<float>& values) {
  return dequantize(encoding, oracle::array_order(encoding.id(), blocks).value(), values).has_value();
}

/// Rules that say what becomes of every number; Kotlin's do, but for the scale of a NaN.
bool defines_everything(const Encoding& encoding) {
  if (encoding.dialect == "ocp" || encoding.dialect == "nvidia") return true;
  return encoding.dialect == "skainet" && encoding.name.substr(0, 2) != "tq" &&
         encoding.name.substr(0, 9) != "bitnet_b1";
}

std::string show(const std::vector<float>& values) {
  std::string text;
  for (const float x : values) text += hex(std::bit_cast<std::uint32_t>(x)) + " ";
  return text;
}

TEST(BlockEncoding, QuantizingGivesEveryBitTheDialectDefines) {
  for (const std::string& id : quantizing_ids()) {
    const std::vector<std::vector<float>> blocks =
        sample_blocks(is_generated(named(id)) ? 60 : 1000, 11, named(id).block_size);
    std::size_t fully_defined = 0;
    std::size_t partly_open = 0;
    for (const std::vector<float>& values : blocks) {
      if (!oracle::accepts(id, values)) {
        Bytes untouched(named(id).block_bytes, 0xA5);
        ASSERT_THAT(quantize(named(id), values, untouched).error().text(), HasSubstr("block 0")) << show(values);
        ASSERT_THAT(untouched, testing::Each(0xA5));
        continue;
      }
      const Bytes actual = quantized(named(id), values);
      const oracle::ExpectedBlocks expected = oracle::quantize(id, values).value();
      ASSERT_EQ(actual.size(), expected.bytes.size());
      bool open = false;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(actual[i] & expected.specified[i], expected.bytes[i])
            << id << " byte " << i << " of the block " << show(values);
        open = open || expected.specified[i] != 0xFF;
      }
      ++(open ? partly_open : fully_defined);
    }
    EXPECT_GT(fully_defined, blocks.size() / 4) << id;
    EXPECT_EQ(partly_open > 0, !defines_everything(named(id))) << id;
  }
}

TEST(BlockEncoding, SeveralBlocksAreEncodedEachOnItsOwn) {
  for (const std::string& id : quantizing_ids()) {
    const std::vector<std::vector<float>> blocks = sample_blocks(3, 12, named(id).block_size);
    std::vector<float> all;
    Bytes expected;
    for (const std::vector<float>& block : blocks) {
      if (!oracle::accepts(id, block)) continue;
      all.insert(all.end(), block.begin(), block.end());
      const Bytes one = quantized(named(id), block);
      expected.insert(expected.end(), one.begin(), one.end());
    }
    EXPECT_GT(expected.size(), 30 * named(id).block_bytes) << id;
    EXPECT_EQ(quantized(named(id), all), expected) << id;
  }
}

/// Bits, except that one NaN is as good as another.
bool same_number(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// A block with number `scale` in its last scale field, anything in the others, and code bytes that count on from block
/// to block, so that each scale meets many codes.
Bytes block_with_scale(const Encoding& encoding, std::uint32_t scale, Random& random) {
  Bytes block(encoding.block_bytes);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::uint8_t>(i * 0x11 + scale * 7);
  for (const ScaleField& field : encoding.scales) {
    const bool last = field.offset == encoding.scales.back().offset;
    for (std::size_t i = 0; i < field.bytes; ++i)
      block[field.offset + i] = static_cast<std::uint8_t>(last || random.coin() ? scale >> 8 * (i % 2) : random.bits());
  }
  return block;
}

TEST(BlockEncoding, EveryScaleDecodesToTheOraclesNumbers) {
  Random random(14);
  constexpr std::uint32_t kTogether = 1024;
  for (const std::string& id : all_ids()) {
    const Encoding& encoding = named(id);
    std::vector<float> actual(encoding.block_size * kTogether);
    const std::uint32_t step = is_sampled(encoding) ? 29 : 1;  // odd: the scales' low bits run through all values
    for (std::uint32_t first = 0; first < 1U << 16; first += kTogether * step) {
      Bytes blocks;
      for (std::uint32_t scale = first; scale < first + kTogether * step; scale += step) {
        const Bytes block = block_with_scale(encoding, scale, random);
        blocks.insert(blocks.end(), block.begin(), block.end());
      }
      ASSERT_TRUE(dequantized(encoding, blocks, actual));
      const std::vector<float> expected = oracle::dequantize(id, blocks).value();
      for (std::size_t i = 0; i < actual.size(); ++i)
        if (!same_number(actual[i], expected[i]))
          FAIL() << id << " scale " << hex(first + step * (i / encoding.block_size)) << " element "
                 << i % encoding.block_size;
    }
  }
}

TEST(BlockEncoding, RandomBlocksDecodeToTheOraclesNumbers) {
  Random random(13);
  for (const std::string& id : all_ids()) {
    Bytes blocks(named(id).block_bytes * (is_generated(named(id)) ? 400 : 4000));
    for (std::uint8_t& byte : blocks) byte = static_cast<std::uint8_t>(random.bits());
    std::vector<float> actual(decoded_count(named(id), blocks.size()).value());
    ASSERT_TRUE(dequantized(named(id), blocks, actual));
    const std::vector<float> expected = oracle::dequantize(id, blocks).value();
    for (std::size_t i = 0; i < actual.size(); ++i)
      if (!same_number(actual[i], expected[i])) FAIL() << id << " " << i;
  }
}

// The core alone, without the oracle: the documented special blocks.
TEST(BlockEncoding, SkainetRampIsTheDocumentedBlock) {
  std::vector<float> ramp(32);
  for (int i = 0; i < 32; ++i) ramp[static_cast<std::size_t>(i)] = static_cast<float>(i - 16);
  EXPECT_THAT(quantized(named("q4_0:skainet"), ramp),
              testing::ElementsAre(0x00, 0x40, 0x80, 0x91, 0x91, 0xA2, 0xA2, 0xB3, 0xB3, 0xC4, 0xC4, 0xD5, 0xD5, 0xE6,
                                   0xE6, 0xF7, 0xF7, 0xF8));
}

TEST(BlockEncoding, ANanAmongOnesDecodesToTheBlockMaximumInSkainet) {
  std::vector<float> values(32, 1.0F);
  values[9] = std::numeric_limits<float>::quiet_NaN();
  const Encoding& encoding = named("q4_0:skainet");
  std::vector<float> decoded(32);
  ASSERT_TRUE(dequantize(encoding, quantized(encoding, values), decoded));
  EXPECT_THAT(decoded, testing::Each(1.0F));
}

TEST(BlockEncoding, AnAllZeroQ4BlockDecodesToNegativeZero) {
  for (const std::string_view id : {"q4_0:ggml", "q4_0:skainet"}) {
    std::vector<float> decoded(32);
    ASSERT_TRUE(dequantize(named(id), quantized(named(id), std::vector<float>(32, 0.0F)), decoded));
    for (const float x : decoded) EXPECT_EQ(std::bit_cast<std::uint32_t>(x), 0x80000000U) << id;
  }
}

TEST(BlockEncoding, InterleavedOrderPutsNeighboursInOneByte) {
  Encoding interleaved = named("q4_0:skainet");
  interleaved.rules.order = NibbleOrder::interleaved;
  std::vector<float> ramp(32);
  for (int i = 0; i < 32; ++i) ramp[static_cast<std::size_t>(i)] = static_cast<float>(i - 16);
  const Bytes split = quantized(named("q4_0:skainet"), ramp);
  const Bytes blocks = quantized(interleaved, ramp);
  const auto split_code = [&](std::size_t i) { return i < 16 ? split[2 + i] & 15 : split[2 + i - 16] >> 4; };
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(blocks[2 + i / 2] >> (i % 2 * 4) & 15, split_code(i)) << i;
}

TEST(BlockEncoding, SizesAreRefusedBeforeAnythingIsWritten) {
  for (const Encoding& encoding : all_encodings()) {
    const std::string id = encoding.id();
    const std::size_t size = encoding.block_size;
    const std::string right = "multiple of " + std::to_string(encoding.block_bytes);
    EXPECT_THAT(encoded_bytes(encoding, size + 1).error().text(), HasSubstr("multiple of " + std::to_string(size)));
    EXPECT_THAT(decoded_count(encoding, encoding.block_bytes + 1).error().text(), HasSubstr(right));
    const std::size_t huge = std::numeric_limits<std::size_t>::max() / size * size;
    EXPECT_EQ(encoded_bytes(encoding, huge).has_value(), encoding.block_bytes <= size) << id;
    Bytes blocks(encoding.block_bytes - 1, 0xA5);
    EXPECT_FALSE(quantize(encoding, std::vector<float>(size, 1.0F), blocks));
    EXPECT_THAT(blocks, testing::Each(0xA5));
    std::vector<float> values(size - 1, 2.0F);
    EXPECT_FALSE(dequantize(encoding, Bytes(encoding.block_bytes), values));
    EXPECT_THAT(values, testing::Each(2.0F));
  }
}

TEST(BlockEncoding, AnEncodingWithoutAQuantizerRefusesToQuantize) {
  const Encoding& q6 = named("q6_K:ggml");
  Bytes blocks(q6.block_bytes, 0xA5);
  EXPECT_THAT(quantize(q6, std::vector<float>(256, 1.0F), blocks).error().text(), HasSubstr("no quantizer"));
  EXPECT_THAT(blocks, testing::Each(0xA5));
}

TEST(BlockEncoding, TheRegistryFindsEachRowAndListsThemForAWrongName) {
  for (const Encoding& encoding : all_encodings()) EXPECT_EQ(*encoding_named(encoding.id()), &encoding);
  const std::string message = encoding_named("q4_0:gglm").error().text();
  for (const std::string& id : all_ids()) EXPECT_THAT(message, HasSubstr(id));
}

TEST(BlockEncoding, AWrongNameIsAnsweredWithTheNearestOneFirst) {
  EXPECT_THAT(encoding_named("q4_K:gglm").error().text(), HasSubstr("q4_K:ggml, or one of"));
  EXPECT_THAT(encoding_named("tq1_0").error().text(), HasSubstr("tq1_0:ggml, or one of"));
  for (const char* const two_away : {"iq4nl:ggm", "iq4__nl:ggmll", "iq5_nl:ggmL", "iq4_nlgggml"})
    EXPECT_THAT(encoding_named(two_away).error().text(), HasSubstr("iq4_nl:ggml, or one of")) << two_away;
  for (const char* const three_away : {"iq4nl:gg", "iq4__nll:ggmll", "iq5_nx:ggmL"})
    EXPECT_THAT(encoding_named(three_away).error().text(), testing::Not(HasSubstr(", or one of"))) << three_away;
  EXPECT_THAT(encoding_named("float8").error().text(), testing::Not(HasSubstr(", or one of")));
  EXPECT_THAT(encoding_named(std::string(1 << 20, 'q')).error().text(), testing::Not(HasSubstr(", or one of")));
}

TEST(BlockEncoding, ScaleFieldsLieInOrderInsideTheBlockAndLeaveRoomForCodes) {
  for (const Encoding& encoding : all_encodings()) {
    std::size_t end = 0;
    std::size_t scale_bytes = 0;
    for (const ScaleField& field : encoding.scales) {
      EXPECT_GE(field.offset, end) << encoding.id();
      end = field.offset + field.bytes;
      scale_bytes += field.bytes;
    }
    EXPECT_LE(end, encoding.block_bytes) << encoding.id();
    EXPECT_LT(scale_bytes, encoding.block_bytes) << encoding.id();
    EXPECT_EQ(encoding.quantizes, encoding.quantize_block != nullptr && encoding.bound_block != nullptr);
  }
}

TEST(BlockEncoding, ADecoderThatRefusesMinus128SaysSoAndOthersTakeIt) {
  Encoding strict = named("q8_0:ggml");
  strict.rules.extreme = ExtremeCode::refused;
  Bytes block(34, 0);
  block[20] = 0x80;
  std::vector<float> values(32);
  EXPECT_TRUE(dequantize(named("q8_0:ggml"), block, values));
  EXPECT_THAT(dequantize(strict, block, values).error().text(), HasSubstr("block 0"));
}

}  // namespace
}  // namespace packcheck::test
