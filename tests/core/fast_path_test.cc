// Fast paths give what the plain rules give, bit for bit, at every level that this processor has.
#include <gtest/gtest.h>

#include <bit>
#include <cctype>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/encoding/encoding.h"
#include "core/encoding/fast_blocks.h"
#include "core/format/convert.h"
#include "core/format/mode.h"
#include "core/format/narrow.h"
#include "core/simd.h"
#include "tests/core/at_level.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// The levels with fast paths that this processor has.
std::vector<SimdLevel> fast_levels() {
  std::vector<SimdLevel> levels;
  for (const SimdLevel level : {SimdLevel::plain, SimdLevel::avx2, SimdLevel::avx512})
    if (level <= best_simd_level()) levels.push_back(level);
  return levels;
}

/// Where two arrays of floats first differ in a bit; their size if nowhere.
std::size_t first_difference(std::span<const float> a, std::span<const float> b) {
  std::size_t i = 0;
  while (i < a.size() && std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i])) ++i;
  return i;
}

std::vector<float> by_the_rule(const Encoding& e, std::span<const std::uint8_t> blocks) {
  const AtLevel rule(SimdLevel::rule);
  std::vector<float> values(blocks.size() / e.block_bytes * e.block_size);
  EXPECT_TRUE(dequantize(e, blocks, values));
  return values;
}

/// Decodes at every level, also into floats that no vector is aligned to.
void expect_equal_decoding(const Encoding& e, std::span<const std::uint8_t> blocks, const std::string& what) {
  const std::vector<float> expected = by_the_rule(e, blocks);
  for (const SimdLevel level : fast_levels()) {
    const AtLevel at(level);
    std::vector<float> values(expected.size() + 1, 7.0F);
    const std::span<float> unaligned = std::span(values).subspan(1);
    ASSERT_TRUE(dequantize(e, blocks, unaligned));
    const std::size_t where = first_difference(unaligned, expected);
    ASSERT_EQ(where, expected.size()) << e.id() << " at level " << simd_level_name(level) << ", " << what
                                      << ": element " << where << " is "
                                      << hex(std::bit_cast<std::uint32_t>(unaligned[where])) << " and not "
                                      << hex(std::bit_cast<std::uint32_t>(expected[where]));
    EXPECT_EQ(values[0], 7.0F);
  }
}

class FastDecoder : public testing::TestWithParam<const Encoding*> {};
class FastQuantizer : public testing::TestWithParam<const Encoding*> {};

std::string name_of(const testing::TestParamInfo<const Encoding*>& info) {
  std::string name = info.param->id();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

/// Rows with a fast form.
std::vector<const Encoding*> rows_with(bool (*has)(const Encoding&)) {
  std::vector<const Encoding*> rows;
  for (const Encoding& e : all_encodings())
    if (has(e)) rows.push_back(&e);
  return rows;
}
std::vector<const Encoding*> fast_decoders() {
  return rows_with([](const Encoding& e) { return fast_dequantizing(e) != nullptr; });
}
std::vector<const Encoding*> fast_quantizers() {
  return rows_with([](const Encoding& e) { return fast_quantizing(e) != nullptr; });
}

/// Puts a 16-bit number where the first half is, and another order of all of them where others are.
void put_scales(const Encoding& e, std::uint64_t scale, std::span<std::uint8_t> block) {
  std::uint64_t halves = 0;
  for (const ScaleField& field : e.scales) {
    const std::uint64_t number = halves++ == 0 ? scale : scale * 40503 + 12345;
    for (std::size_t i = 0; i < field.bytes; ++i)
      block[field.offset + i] = static_cast<std::uint8_t>(field.bytes == 2 ? number >> (8 * i) : scale + 37 * i);
  }
}

TEST_P(FastDecoder, EqualsTheBlockFunctionForAllScalesWithAllCodeBytes) {
  const Encoding& e = *GetParam();
  constexpr std::uint64_t kScales = 65536;
  constexpr std::uint64_t kTogether = 2048;
  const std::uint64_t runs = (256 + e.block_bytes - 1) / e.block_bytes;  // so that code bytes count through all values
  std::uint64_t code = 0;
  for (std::uint64_t first = 0; first < kScales; first += kTogether) {
    Bytes blocks(kTogether * runs * e.block_bytes);
    for (std::uint64_t i = 0; i < kTogether * runs; ++i) {
      const std::span<std::uint8_t> block = std::span(blocks).subspan(i * e.block_bytes, e.block_bytes);
      for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(code++);
      put_scales(e, first + i / runs, block);
    }
    expect_equal_decoding(e, blocks, "scales from " + hex(first));
    if (HasFatalFailure()) return;
  }
}

TEST_P(FastDecoder, EqualsTheBlockFunctionForRandomBlocksInAnyNumberAtAnyAddress) {
  const Encoding& e = *GetParam();
  Random random(11);
  for (const std::size_t count : {1U, 2U, 3U, 17U, 300U}) {
    for (std::size_t shift = 0; shift < 4; ++shift) {
      Bytes bytes(shift + count * e.block_bytes);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.bits());
      expect_equal_decoding(e, std::span(bytes).subspan(shift), std::to_string(count) + " random blocks");
    }
  }
}

TEST_P(FastDecoder, IsTheSameInEveryFloatingPointEnvironment) {
  const Encoding& e = *GetParam();
  Bytes blocks(40 * e.block_bytes);
  Random random(12);
  for (std::uint8_t& byte : blocks) byte = static_cast<std::uint8_t>(random.bits());
  for (std::uint64_t i = 0; i < 20; ++i)  // subnormal halves
    put_scales(e, i * 51, std::span(blocks).subspan(i * e.block_bytes, e.block_bytes));
  const std::vector<float> expected = by_the_rule(e, blocks);
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(rounding);
    std::vector<float> values(expected.size());
    const bool decoded = dequantize(e, blocks, values).has_value();
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(decoded);
    EXPECT_EQ(first_difference(values, expected), expected.size());
  }
}

TEST_P(FastDecoder, LeavesRowsWithAnotherRuleToTheBlockFunction) {
  Encoding twin = *GetParam();
  twin.rules.order = NibbleOrder::interleaved;
  EXPECT_EQ(fast_dequantizing(twin), nullptr);
  twin = *GetParam();
  twin.rules.extreme = ExtremeCode::refused;
  EXPECT_EQ(fast_dequantizing(twin), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Rows, FastDecoder, testing::ValuesIn(fast_decoders()), name_of);

void expect_equal_encoding(const Encoding& e, std::span<const float> values, const std::string& what) {
  Bytes expected(values.size() / e.block_size * e.block_bytes, 0xA5);
  {
    const AtLevel rule(SimdLevel::rule);
    ASSERT_TRUE(quantize(e, values, expected));
  }
  for (const SimdLevel level : fast_levels()) {
    const AtLevel at(level);
    Bytes blocks(expected.size() + 1, 0x5A);
    ASSERT_TRUE(quantize(e, values, std::span(blocks).subspan(1)));
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(blocks[i + 1], expected[i]) << e.id() << " at level " << simd_level_name(level) << ", " << what
                                            << ": byte " << i % e.block_bytes << " of block " << i / e.block_bytes;
    EXPECT_EQ(blocks[0], 0x5A);
  }
}

TEST_P(FastQuantizer, EqualsTheBlockFunctionForSampledBlocks) {
  const Encoding& e = *GetParam();
  std::vector<float> all;
  for (const std::vector<float>& block : sample_blocks(400, 21, e.block_size))
    all.insert(all.end(), block.begin(), block.end());
  expect_equal_encoding(e, all, "samples");
}

TEST_P(FastQuantizer, EqualsTheBlockFunctionInAnyNumberOfBlocks) {
  const Encoding& e = *GetParam();
  Random random(22);
  for (const std::size_t count : {1U, 2U, 3U, 17U}) {
    std::vector<float> values(1 + count * e.block_size);
    for (float& x : values) x = static_cast<float>(static_cast<std::int32_t>(random.bits())) * 0x1p-30F;
    expect_equal_encoding(e, std::span(values).subspan(1), std::to_string(count) + " blocks");
  }
}

TEST_P(FastQuantizer, EqualsTheBlockFunctionAroundEveryHalfStep) {
  const Encoding& e = *GetParam();
  std::vector<float> all;
  for (int exponent = -130; exponent <= 127; ++exponent) {
    for (const float steps : {127.0F, 8.0F}) {
      const float d = std::ldexp(1.0F, exponent) / steps;
      for (int first = -254; first < 254; first += 10) {
        std::vector<float> block(e.block_size, 0.0F);
        for (std::size_t i = 0; i < block.size(); ++i) {
          const float x = 0.5F * static_cast<float>(first + static_cast<int>(i / 3)) * d;
          block[i] = i % 3 == 0 ? x : std::nextafter(x, i % 3 == 1 ? INFINITY : -INFINITY);
        }
        block[static_cast<std::size_t>(first + 254) % block.size()] = (first % 20 == 6 ? -1.0F : 1.0F) * steps * d;
        all.insert(all.end(), block.begin(), block.end());
      }
    }
  }
  expect_equal_encoding(e, all, "half steps");
}

TEST_P(FastQuantizer, LeavesRowsWithAnotherRuleToTheBlockFunction) {
  Encoding twin = *GetParam();
  twin.rules.code = CodeRounding::truncate;
  EXPECT_EQ(fast_quantizing(twin), nullptr);
  twin = *GetParam();
  twin.rules.write = WriteRule::forgets_last_byte;
  EXPECT_EQ(fast_quantizing(twin), nullptr);
  twin = *GetParam();
  twin.rules.scale = ScaleRule::skainet_private;
  EXPECT_EQ(fast_quantizing(twin), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Rows, FastQuantizer, testing::ValuesIn(fast_quantizers()), name_of);

TEST(FastBlocks, AreThereForTheMostUsedEncodings) {
  for (const char* id : {"q8_0:ggml", "q4_0:ggml", "q4_K:ggml", "q6_K:ggml"})
    EXPECT_NE(fast_dequantizing(**encoding_named(id)), nullptr) << id;
  for (const char* id : {"q8_0:ggml", "q4_0:ggml"}) EXPECT_NE(fast_quantizing(**encoding_named(id)), nullptr) << id;
}

/// convert() element by element.
Bytes converted_by_the_rule(const FormatSpec& from, const FormatSpec& to, const Bytes& in, const ConvertRules& rules) {
  Bytes out(in.size() / from.bytes() * to.bytes());
  for (std::size_t i = 0; i < in.size() / from.bytes(); ++i)
    store_element(to, out, i, convert(from.format, to.format, load_element(from, in, i), rules));
  return out;
}

TEST(FastConversion, EqualsTheRuleForAllPairsInEveryMode) {
  std::vector<ConvertRules> modes;
  for (const Rounding rounding :
       {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero, Rounding::upward, Rounding::downward})
    for (const bool saturating : {false, true}) modes.push_back({.rounding = rounding, .saturating = saturating});
  modes.push_back({.nan = NanRule::same_payload});
  modes.push_back({.nan = NanRule::truncated});
  modes.push_back({.subnormal = SubnormalRule::flushed});
  modes.push_back({.path = ConvertPath::through_f16});
  for (const FormatSpec& from : all_formats()) {
    std::vector<std::uint64_t> codes = random_codes(from.format, 3000, 31);
    const std::vector<std::uint64_t> edges = edge_codes(from.format);
    for (std::size_t i = 0; i < edges.size(); i += 1 + edges.size() / 3000) codes.push_back(edges[i]);
    Bytes in(codes.size() * from.bytes());
    for (std::size_t i = 0; i < codes.size(); ++i) store_element(from, in, i, codes[i]);
    for (const FormatSpec& to : all_formats()) {
      for (const ConvertRules& mode : modes) {
        const Bytes expected = converted_by_the_rule(from, to, in, mode);
        for (const SimdLevel level : fast_levels()) {
          const AtLevel at(level);
          Bytes out(expected.size());
          ASSERT_TRUE(convert_array(from.format, to.format, in, out, mode));
          ASSERT_EQ(out, expected) << from.name << "->" << to.name << " " << mode_text(mode) << " at level "
                                   << simd_level_name(level);
        }
      }
    }
  }
}

TEST(FastConversion, EqualsTheRuleForEveryUpperHalfOfASingleAtEachMidpoint) {
  Bytes in;
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (const std::uint32_t lower : {0U, 1U, 0x0FFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      for (unsigned shift = 0; shift < 32; shift += 8)
        in.push_back(static_cast<std::uint8_t>((upper << 16 | lower) >> shift));
  for (const FormatSpec& to : all_formats()) {
    for (const bool saturating : {false, true}) {
      const ConvertRules rules{.saturating = saturating};
      if (fast_narrowing(Format::f32, to.format, rules) == nullptr) continue;
      const Bytes expected = converted_by_the_rule(spec(Format::f32), to, in, rules);
      for (const SimdLevel level : fast_levels()) {
        const AtLevel at(level);
        Bytes out(expected.size());
        ASSERT_TRUE(convert_array(Format::f32, to.format, in, out, rules));
        ASSERT_TRUE(out == expected) << to.name << " at level " << simd_level_name(level);
      }
    }
  }
}

TEST(FastConversion, TakesArraysOfAnyLengthAtAnyAddress) {
  const std::vector<std::uint64_t> codes = random_codes(Format::f32, 200, 33);
  for (std::size_t shift = 0; shift < 3; ++shift) {
    Bytes in(shift + codes.size() * 4);
    for (std::size_t i = 0; i < codes.size(); ++i)
      store_little_endian(&in[shift + 4 * i], static_cast<std::uint32_t>(codes[i]));
    for (std::size_t count = 0; count < codes.size(); ++count) {
      Bytes out(2 * codes.size() + 1, 0xA5);
      ASSERT_TRUE(convert_array(Format::f32, Format::f16, std::span(in).subspan(shift, 4 * count),
                                std::span(out).subspan(1, 2 * count)));
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(load_little_endian<std::uint16_t>(&out[1 + 2 * i]), convert(Format::f32, Format::f16, codes[i]));
      ASSERT_EQ(out[1 + 2 * count], 0xA5);
    }
  }
}

TEST(SimdLevels, AboveTheProcessorsAreRefused) {
  EXPECT_EQ(simd_level(), best_simd_level());
  EXPECT_EQ(set_simd_level(SimdLevel::avx512), best_simd_level() == SimdLevel::avx512);
  EXPECT_TRUE(set_simd_level(SimdLevel::rule));
  EXPECT_EQ(fast_narrowing(Format::f32, Format::f16, {}), nullptr);
  EXPECT_TRUE(set_simd_level(best_simd_level()));
}

}  // namespace
}  // namespace packcheck::test
