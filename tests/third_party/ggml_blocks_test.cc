// The block oracle against ggml's own library: every encoding, bit for bit, over swept scales, random
// blocks and difficult numbers. ggml is the independent judge of layouts and rules.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/encoding/encoding.h"
#include "properties/oracles/block_oracle.h"
#include "tests/core/samples.h"
#include "tests/third_party/loaded.h"

namespace packcheck::third_party_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using test::Random;

/// What the library declares for an operation, as ids.
std::set<std::string> declared(const packcheck_subject& ggml, const std::string& operation) {
  std::set<std::string> ids;
  for (const char* const* line = ggml.declarations; *line != nullptr; ++line) {
    const std::string text = *line;
    if (text.rfind(operation + " ", 0) == 0) ids.insert(text.substr(operation.size() + 1));
  }
  return ids;
}

bool same_number(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// `block` with scale number `scale` in every field: halves and singles count, byte fields get the low byte.
void put_scales(const Encoding& e, std::uint32_t scale, Random& random, std::uint8_t* block) {
  for (const ScaleField& field : e.scales) {
    const bool swept = field.bytes == 2 || field.bytes == 1;
    for (std::size_t i = 0; i < field.bytes; ++i)
      block[field.offset + i] = swept ? static_cast<std::uint8_t>(scale >> 8 * i)
                                      : static_cast<std::uint8_t>(random.coin() ? random.bits() : scale >> 8 * (i % 2));
    if (field.format == ScaleFormat::f32) {
      block[field.offset + 2] = static_cast<std::uint8_t>(scale);
      block[field.offset + 3] = static_cast<std::uint8_t>(scale >> 8);
    }
    // A second half (a minimum) takes its own way.
    if (swept && field.offset != e.scales.front().offset && random.coin())
      block[field.offset + 1] = static_cast<std::uint8_t>(random.bits());
  }
}

/// Decodes with ggml and with the oracle; the blocks compared.
std::size_t compare_decoders(const packcheck_subject& ggml, const Encoding& e, const Bytes& blocks) {
  const std::size_t count = blocks.size() / e.block_bytes;
  std::vector<float> theirs(count * e.block_size, -7.0F);
  packcheck_error error{};
  EXPECT_EQ(ggml.dequantize(e.id().c_str(), blocks.data(), blocks.size(), theirs.data(), theirs.size(), &error),
            PACKCHECK_OK);
  const std::vector<float> expected = oracle::dequantize(e.id(), blocks).value();
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (same_number(theirs[i], expected[i])) continue;
    ADD_FAILURE() << e.id() << " element " << i % e.block_size << " of block " << i / e.block_size << ": ggml "
                  << theirs[i] << ", the oracle " << expected[i];
    return 0;
  }
  return count;
}

TEST(GgmlBlocks, TheOracleDecodesEveryScaleAndRandomBlocksAsGgmlDoes) {
  PACKCHECK_LOAD_OR_SKIP(ggml, "ggml-base");
  const std::set<std::string> ids = declared(*ggml.table, "dequantize");
  EXPECT_GE(ids.size(), 19U);
  Random random(61);
  for (const std::string& id : ids) {
    const Result<const Encoding*> e = encoding_named(id);
    ASSERT_TRUE(e) << id;
    std::size_t compared = 0;
    for (std::uint32_t first = 0; first < 1U << 16; first += 4096) {
      Bytes swept(4096 * (*e)->block_bytes);
      for (std::uint8_t& byte : swept) byte = static_cast<std::uint8_t>(random.bits());
      for (std::uint32_t i = 0; i < 4096; ++i) put_scales(**e, first + i, random, &swept[i * (*e)->block_bytes]);
      compared += compare_decoders(*ggml.table, **e, swept);
    }
    Bytes random_blocks(10000 * (*e)->block_bytes);
    for (std::uint8_t& byte : random_blocks) byte = static_cast<std::uint8_t>(random.bits());
    compared += compare_decoders(*ggml.table, **e, random_blocks);
    EXPECT_EQ(compared, 75536U) << id;
  }
}

/// Difficult numbers, cut into blocks of the encoding. Each sample of 32 numbers fills a block of its own, repeated
/// and in part halved, so that one kind of trouble is not drowned by another.
std::vector<float> difficult_values(const Encoding& e, std::size_t rounds, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values;
  for (const std::vector<float>& sample : test::sample_blocks(rounds, seed)) {
    for (std::size_t first = 0; first < e.block_size; first += sample.size()) {
      const float factor = first == 0 ? 1.0F : (random.coin() ? 0.5F : -1.0F);
      for (const float x : sample) values.push_back(factor * x);
    }
  }
  return values;
}

/// Whether every defined bit agrees; the bytes compared.
std::size_t compare_quantizers(const packcheck_subject& ggml, const Encoding& e, const std::vector<float>& values) {
  Bytes theirs(encoded_bytes(e, values.size()).value(), 0xA5);
  packcheck_error error{};
  EXPECT_EQ(ggml.quantize(e.id().c_str(), values.data(), values.size(), theirs.data(), theirs.size(), &error),
            PACKCHECK_OK);
  const oracle::ExpectedBlocks expected = oracle::quantize(e.id(), values).value();
  std::size_t defined = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (expected.specified[i] == 0xFF) ++defined;
    if ((theirs[i] & expected.specified[i]) == expected.bytes[i]) continue;
    ADD_FAILURE() << e.id() << " byte " << i % e.block_bytes << " of block " << i / e.block_bytes << ": ggml "
                  << static_cast<int>(theirs[i]) << ", the oracle " << static_cast<int>(expected.bytes[i]);
    return 0;
  }
  return defined;
}

TEST(GgmlBlocks, TheOracleEncodesDifficultNumbersAsGgmlDoes) {
  PACKCHECK_LOAD_OR_SKIP(ggml, "ggml-base");
  const std::set<std::string> ids = declared(*ggml.table, "quantize");
  EXPECT_GE(ids.size(), 11U);
  for (const std::string& id : ids) {
    const Encoding& e = **encoding_named(id);
    if (!e.quantizes) continue;  // a search, for which there is no oracle
    const std::vector<float> values = difficult_values(e, 400, 62);
    const std::size_t bytes = values.size() / e.block_size * e.block_bytes;
    EXPECT_GT(compare_quantizers(*ggml.table, e, values), bytes / 3) << id;
  }
}

TEST(GgmlBlocks, MxfpExponentsAgreeBesideEveryPowerOfTwo) {
  PACKCHECK_LOAD_OR_SKIP(ggml, "ggml-base");
  const Encoding& mxfp4 = **encoding_named("mxfp4:ggml");
  for (int exponent = -149; exponent <= 127; ++exponent) {
    std::vector<float> values;
    const std::uint32_t power = std::bit_cast<std::uint32_t>(std::ldexp(1.0F, exponent));
    for (std::uint32_t bits = power > 200 ? power - 200 : 0; bits < power + 200; ++bits) {
      values.resize(values.size() + 32);
      values[values.size() - 32] = std::bit_cast<float>(bits);
      values.back() = -0.3F * std::bit_cast<float>(bits);
    }
    compare_quantizers(*ggml.table, mxfp4, values);
  }
}

}  // namespace
}  // namespace packcheck::third_party_test
