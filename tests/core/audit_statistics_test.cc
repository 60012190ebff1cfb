// What an audit counts, at every level of core/simd.h: dense elements against their numbers as doubles, blocks
// against what their decoder makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/audit/block_statistics.h"
#include "core/audit/element_statistics.h"
#include "core/format/convert.h"
#include "core/simd.h"
#include "tests/core/at_level.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<SimdLevel> levels() {
  std::vector<SimdLevel> all;
  for (const SimdLevel level : {SimdLevel::rule, SimdLevel::plain, SimdLevel::avx2, SimdLevel::avx512})
    if (level <= best_simd_level()) all.push_back(level);
  return all;
}

std::vector<Format> formats() {
  std::vector<Format> all;
  for (const FormatSpec& s : all_formats())
    if (has_element_statistics(s.format)) all.push_back(s.format);
  return all;
}

void note(Occurrences& found, std::uint64_t at) {
  if (found.count++ == 0) found.first = at;
}

/// The statistics by value: every element as a double, which holds each exactly.
ElementStatistics by_value(Format format, const Bytes& bytes) {
  const FormatSpec& s = spec(format);
  ElementStatistics t;
  const double least_normal = std::ldexp(1.0, 1 - s.bias());
  for (std::size_t i = 0; i < bytes.size() / s.bytes(); ++i) {
    const std::uint64_t code = load_element(s, bytes, i);
    const double number = std::bit_cast<double>(convert(format, Format::f64, code));
    const std::uint64_t magnitude = code & s.magnitude_mask();
    t.elements += 1;
    if (std::isnan(number)) {
      note(t.nan, i);
    } else if (std::isinf(number)) {
      note(t.infinite, i);
    } else if (number != 0.0) {
      if (std::fabs(number) < least_normal && s.kind == FormatKind::floating) note(t.subnormal, i);
      t.largest = std::max(t.largest, magnitude);
      t.smallest = std::min(t.smallest, magnitude);
    }
  }
  return t;
}

Bytes bytes_of(Format format, const std::vector<std::uint64_t>& codes) {
  Bytes bytes(codes.size() * spec(format).bytes());
  for (std::size_t i = 0; i < codes.size(); ++i) store_element(spec(format), bytes, i, codes[i]);
  return bytes;
}

/// At every level, at once and in pieces of odd lengths, and where nothing is aligned.
void expect_counts(Format format, const Bytes& bytes) {
  const ElementStatistics expected = by_value(format, bytes);
  const std::size_t element = spec(format).bytes();
  Bytes shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  for (const SimdLevel level : levels()) {
    const AtLevel at(level);
    SCOPED_TRACE(std::string(spec(format).name) + " " + std::string(simd_level_name(level)));
    ElementStatistics whole;
    add_elements(format, std::span(shifted).subspan(1), whole);
    EXPECT_EQ(whole, expected);
    ElementStatistics pieces;
    std::span<const std::uint8_t> rest = bytes;
    for (std::size_t length = 1; !rest.empty(); length = length * 2 + 1) {
      const std::size_t part = std::min(rest.size(), length * element);
      add_elements(format, rest.first(part), pieces);
      rest = rest.subspan(part);
    }
    EXPECT_EQ(pieces, expected);
  }
}

TEST(ElementStatistics, EveryFormatOfWholeBytesHasThem) {
  EXPECT_THAT(formats(), testing::IsSupersetOf({Format::f64, Format::f32, Format::f16, Format::bf16, Format::e4m3fn,
                                                Format::e5m2, Format::e4m3fnuz, Format::e5m2fnuz, Format::e8m0}));
  EXPECT_FALSE(has_element_statistics(Format::i8));
  EXPECT_FALSE(has_element_statistics(Format::e2m1));
}

TEST(ElementStatistics, CountsAreThoseOfTheNumbersForRandomAndForEdgeCodes) {
  for (const Format format : formats()) {
    std::vector<std::uint64_t> codes = edge_codes(format);
    for (const std::uint64_t code : random_codes(format, 10'000, 7)) codes.push_back(code);
    expect_counts(format, bytes_of(format, codes));
  }
}

TEST(ElementStatistics, EveryCodeOfSixteenBitsAndFewerIsCountedAlone) {
  for (const Format format : formats()) {
    const FormatSpec& s = spec(format);
    if (s.width() > 16) continue;
    Bytes bytes(s.bytes());
    for (std::uint64_t code = 0; code <= s.all_bits(); ++code) {
      store_element(s, bytes, 0, code);
      ElementStatistics t;
      add_elements(format, bytes, t);
      if (t != by_value(format, bytes)) FAIL() << s.name << " " << hex(code);
    }
  }
}

TEST(ElementStatistics, OneOddElementIsFoundWhereverItIs) {
  for (const Format format : {Format::f32, Format::bf16, Format::e4m3fnuz}) {
    const FormatSpec& s = spec(format);
    const std::uint64_t one = static_cast<std::uint64_t>(s.bias()) << s.significand_bits;
    const std::uint64_t nan = s.nan_codes == NanCodes::negative_zero ? s.sign_bit() : s.all_bits();
    for (const std::size_t at : {0U, 191U, 192U, 2047U, 2048U, 4095U, 9'998U}) {
      Bytes bytes = bytes_of(format, std::vector<std::uint64_t>(9'999, one));
      store_element(s, bytes, at, nan);
      ElementStatistics t;
      add_elements(format, bytes, t);
      EXPECT_EQ(t.nan, (Occurrences{1, at})) << s.name;
      store_element(s, bytes, at, 1);
      t = {};
      add_elements(format, bytes, t);
      EXPECT_EQ(t.subnormal, (Occurrences{1, at})) << s.name;
      EXPECT_EQ(t.smallest, 1U);
      EXPECT_EQ(t.largest, one);
    }
  }
}

TEST(ElementStatistics, FullRunsOfOneKindDoNotWrapTheirCounts) {
  for (const Format format : formats()) {
    const FormatSpec& s = spec(format);
    const std::uint64_t nan = s.nan_codes == NanCodes::negative_zero ? s.sign_bit() : s.all_bits();
    for (const std::uint64_t code : {std::uint64_t{1}, nan})
      expect_counts(format, bytes_of(format, std::vector<std::uint64_t>(20'000, code)));
  }
}

TEST(ElementStatistics, NothingHasNoNumbers) {
  ElementStatistics t;
  add_elements(Format::f32, {}, t);
  EXPECT_EQ(t, ElementStatistics{});
  const Bytes zeros(64);
  add_elements(Format::f32, zeros, t);
  EXPECT_EQ(t.elements, 16U);
  EXPECT_EQ(t.largest, 0U);
  EXPECT_EQ(t.smallest, kNowhere);
}

// Blocks.

const Encoding& encoding(std::string_view id) { return **encoding_named(id); }

BlockStatistics counted(const Encoding& e, const Bytes& blocks) {
  BlockStatistics t;
  add_blocks(e, blocks, t);
  return t;
}

/// Blocks of a quantizer or random ones, then each with one byte or several changed.
Bytes sample_bytes(const Encoding& e, std::uint64_t seed) {
  Bytes blocks;
  Random random(seed);
  if (e.quantizes) {
    for (const std::vector<float>& values : sample_blocks(2, seed, e.block_size)) {
      if (e.accepts_block != nullptr && !e.accepts_block(values.data())) continue;
      Bytes block(e.block_bytes);
      e.quantize_block(e.rules, values.data(), block.data());
      blocks.insert(blocks.end(), block.begin(), block.end());
    }
  }
  for (int i = 0; i < 300; ++i) {
    Bytes block(e.block_bytes, static_cast<std::uint8_t>(random.coin() ? random.bits() : 0));
    if (random.coin())
      for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random.bits());
    for (const ScaleField& field : e.scales)
      if (random.coin()) std::fill_n(block.begin() + static_cast<std::ptrdiff_t>(field.offset), field.bytes, 0);
    blocks.insert(blocks.end(), block.begin(), block.end());
  }
  return blocks;
}

TEST(BlockStatistics, EveryLevelCountsWhatTheRuleCounts) {
  std::size_t judged = 0;
  for (const Encoding& e : all_encodings()) {
    if (!has_block_statistics(e)) continue;
    const Bytes blocks = sample_bytes(e, 11);
    BlockStatistics expected;
    {
      const AtLevel rule(SimdLevel::rule);
      add_blocks(e, std::span(blocks).first(blocks.size() / 2 / e.block_bytes * e.block_bytes), expected);
      add_blocks(e, std::span(blocks).subspan(expected.blocks * e.block_bytes), expected);
    }
    EXPECT_EQ(expected.blocks, blocks.size() / e.block_bytes);
    for (const SimdLevel level : levels()) {
      const AtLevel at(level);
      EXPECT_EQ(counted(e, blocks), expected) << e.id() << " " << simd_level_name(level);
    }
    ++judged;
  }
  EXPECT_GT(judged, 20U);
}

TEST(BlockStatistics, OddScalesAreFoundAcrossTheRunsOfTheFastLoop) {
  for (const Encoding& e : all_encodings()) {
    const FormatSpec& s = spec(scale_format_of(e));
    const auto field = std::find_if(e.scales.begin(), e.scales.end(), [](const ScaleField& f) {
      return f.format != ScaleFormat::int8 && f.format != ScaleFormat::packed_4_bit &&
             f.format != ScaleFormat::packed_6_bit;
    });
    if (!has_block_statistics(e) || field == e.scales.end() || e.block_bytes > 300) continue;
    Bytes block(e.block_bytes);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::uint8_t>(37 * i + 11);
    const std::size_t scales = field->bytes / s.bytes();
    const auto scale_of = [&](Bytes& bytes, std::size_t at, std::size_t which) {
      return std::span(bytes).subspan(at * e.block_bytes + field->offset + which * s.bytes(), s.bytes());
    };
    for (std::size_t i = 0; i < scales; ++i)
      store_element(s, scale_of(block, 0, i), 0, static_cast<std::uint64_t>(s.bias()) << s.significand_bits);
    Bytes blocks;
    for (int i = 0; i < 4500; ++i) blocks.insert(blocks.end(), block.begin(), block.end());
    // NaN (or the largest code), a subnormal and a zero at the ends of runs, the last of a block's scales each.
    store_element(s, scale_of(blocks, 2047, scales - 1), 0, s.magnitude_mask());
    store_element(s, scale_of(blocks, 2048, scales - 1), 0, 1);
    store_element(s, scale_of(blocks, 4096, scales - 1), 0, 0);
    store_element(s, scale_of(blocks, 4499, scales - 1), 0, 2);
    BlockStatistics expected;
    {
      const AtLevel rule(SimdLevel::rule);
      expected = counted(e, blocks);
    }
    EXPECT_EQ(expected.blocks, 4500U);
    for (const SimdLevel level : levels()) {
      const AtLevel at(level);
      EXPECT_EQ(counted(e, blocks), expected) << e.id() << " " << simd_level_name(level);
    }
  }
}

/// Whether a decoder makes zeros of a block, and nothing else.
bool decodes_to_zeros(const Encoding& e, const Bytes& block) {
  std::vector<float> values(e.block_size);
  EXPECT_TRUE(dequantize(e, block, values));
  return std::all_of(values.begin(), values.end(), [](float v) { return v == 0.0F; });
}

TEST(BlockStatistics, BlocksOfZerosAreThoseThatDecodeToZeros) {
  // Where one scale covers a block, or codes are alike, the count is exact; K-quants have sub-scales besides.
  for (const std::string_view id : {"q8_0:ggml", "q4_0:ggml", "q4_1:ggml", "q5_0:ggml", "q5_1:ggml", "q2_0:ggml",
                                    "tq2_0:ggml", "q1_0:ggml", "iq4_nl:ggml"}) {
    const Encoding& e = encoding(id);
    const Bytes blocks = sample_bytes(e, 23);
    std::uint64_t zeros = 0;
    std::uint64_t first = kNowhere;
    for (std::size_t i = 0; i < blocks.size() / e.block_bytes; ++i) {
      const auto at = blocks.begin() + static_cast<std::ptrdiff_t>(i * e.block_bytes);
      if (!decodes_to_zeros(e, Bytes(at, at + static_cast<std::ptrdiff_t>(e.block_bytes)))) continue;
      if (zeros++ == 0) first = i;
    }
    const BlockStatistics t = counted(e, blocks);
    EXPECT_GT(zeros, 0U) << id;
    EXPECT_EQ(t.zero_blocks, (Occurrences{zeros, first})) << id;
  }
}

TEST(BlockStatistics, ScalesAreTakenFromTheirPlaces) {
  // q4_1: a scale of 1 and a minimum that is infinite; then NaN and 0; then subnormal and -0.
  Bytes blocks(60, 0x12);
  const std::uint8_t halves[] = {0x00, 0x3C, 0x00, 0xFC, 0x01, 0x7E, 0x00, 0x00, 0x01, 0x00, 0x00, 0x80};
  for (std::size_t i = 0; i < 3; ++i)
    std::copy_n(halves + 4 * i, 4, blocks.begin() + static_cast<std::ptrdiff_t>(20 * i));
  for (std::size_t i = 4; i < 60; i += 3)
    if (i % 20 >= 4) blocks[i] = 0x34;
  const BlockStatistics t = counted(encoding("q4_1:ggml"), blocks);
  EXPECT_EQ(t.scale_infinite, (Occurrences{1, 0}));
  EXPECT_EQ(t.scale_nan, (Occurrences{1, 1}));
  EXPECT_EQ(t.scale_zero, (Occurrences{2, 1}));
  EXPECT_EQ(t.scale_subnormal, (Occurrences{1, 2}));
  EXPECT_EQ(t.largest_scale, 0x3C00U);
  EXPECT_EQ(t.smallest_scale, 1U);
  EXPECT_EQ(t.zero_blocks.count, 0U);
}

TEST(BlockStatistics, AScaleThatUnderflowedIsToldFromABlockOfZeros) {
  for (const std::string_view id :
       {"q8_0:ggml", "q4_0:ggml", "q5_0:ggml", "q4_1:ggml", "q5_1:ggml", "tq1_0:ggml", "tq2_0:ggml", "q2_0:ggml"}) {
    const Encoding& e = encoding(id);
    Bytes blocks(2 * e.block_bytes);
    std::vector<float> values(2 * e.block_size);
    // The second block's numbers are too small for a half: its scale becomes 0.
    for (std::size_t i = e.block_size; i < values.size(); ++i) values[i] = (i % 3 == 0 ? 1e-9F : -5e-10F);
    ASSERT_TRUE(quantize(e, values, blocks));
    const BlockStatistics t = counted(e, blocks);
    EXPECT_EQ(t.zero_blocks, (Occurrences{2, 0})) << id;
    EXPECT_EQ(t.lost_blocks, (Occurrences{1, 1})) << id;
  }
}

/// The bytes that a quantizer of five digits (`digits` of them, times 3 where there are four) can write.
std::set<unsigned> written_trit_bytes(unsigned digits) {
  std::set<unsigned> bytes;
  for (unsigned number = 0; number < (digits == 5 ? 243U : 81U); ++number)
    bytes.insert(((digits == 5 ? number : number * 3) * 256 + 242) / 243);
  return bytes;
}

TEST(BlockStatistics, CodesThatNoQuantizerWritesAreCounted) {
  const Encoding& q8 = encoding("q8_0:ggml");
  const Encoding& tq1 = encoding("tq1_0:ggml");
  const Encoding& tq2 = encoding("tq2_0:ggml");
  for (const std::size_t at : {2U, 17U, 33U}) {
    Bytes block(q8.block_bytes, 0x3C);
    EXPECT_EQ(counted(q8, block).foreign_codes.count, 0U);
    block[at] = 0x80;
    EXPECT_EQ(counted(q8, block).foreign_codes, (Occurrences{1, 0})) << at;
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (const unsigned at : {0U, 31U, 47U, 48U, 51U}) {
      Bytes block(tq1.block_bytes, 0x80);
      block[53] = 0x3C;
      std::fill_n(block.begin() + 48, 4, std::uint8_t{0x7F});
      ASSERT_EQ(counted(tq1, block).foreign_codes.count, 0U);
      block[at] = static_cast<std::uint8_t>(byte);
      const bool written = written_trit_bytes(at < 48 ? 5 : 4).count(byte) != 0;
      EXPECT_EQ(counted(tq1, block).foreign_codes.count, written ? 0U : 1U) << byte << " at " << at;
    }
    Bytes block(tq2.block_bytes, 0x55);
    block[9] = static_cast<std::uint8_t>(byte);
    unsigned fourth = 0;
    for (unsigned k = 0; k < 8; k += 2) fourth += (byte >> k & 3) == 3 ? 1 : 0;
    EXPECT_EQ(counted(tq2, block).foreign_codes.count, fourth) << byte;
  }
}

TEST(BlockStatistics, QuantizersWriteNoForeignCodes) {
  for (const std::string_view id : {"q8_0:ggml", "q8_1:ggml", "tq1_0:ggml", "tq2_0:ggml", "q2_0:ggml"}) {
    const Encoding& e = encoding(id);
    Random random(5);
    std::vector<float> values(e.block_size * 50);
    for (float& v : values) v = static_cast<float>(random.below(2001)) / 1000.0F - 1.0F;
    Bytes blocks(50 * e.block_bytes);
    ASSERT_TRUE(quantize(e, values, blocks));
    EXPECT_EQ(counted(e, blocks).foreign_codes.count, 0U) << id;
  }
}

TEST(BlockStatistics, AForeignCodeIsFoundAmongNegativeOnesThatAreNotAlike) {
  for (const std::string_view id : {"q8_0:ggml", "q8_1:ggml"}) {
    const Encoding& e = encoding(id);
    for (const SimdLevel level : levels()) {
      const AtLevel at_level(level);
      for (std::size_t at = 0; at < 32; ++at) {
        Bytes block(e.block_bytes, 0x3C);
        std::uint8_t* const codes = block.data() + e.block_bytes - 32;
        for (std::size_t i = 0; i < 32; ++i) codes[i] = static_cast<std::uint8_t>(0xFF - i * 3);
        EXPECT_EQ(counted(e, block).foreign_codes.count, 0U) << id;
        codes[at] = 0x80;
        EXPECT_EQ(counted(e, block).foreign_codes, (Occurrences{1, 0})) << id << " " << at;
      }
    }
  }
}

}  // namespace
}  // namespace packcheck::test
