// The named dialects of conversion, against codecs written by value.
#include "core/format/dialect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "core/format/mode.h"
#include "properties/oracles/format_oracle.h"
#include "properties/oracles/half_value.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

std::vector<std::uint64_t> singles() {
  std::vector<std::uint64_t> codes = edge_codes(Format::f32);
  for (const std::uint64_t code : random_codes(Format::f32, 200000, 31)) codes.push_back(code);
  return codes;
}

std::uint64_t in_dialect(const char* dialect, Format from, Format to, std::uint64_t bits) {
  return convert(from, to, bits, dialect_rules(dialect, from, to).value());
}

TEST(Dialect, SkainetsPrivateHalfIsTheCodecByValue) {
  for (const std::uint64_t code : singles()) {
    const std::uint64_t half = in_dialect("skainet-q4_0", Format::f32, Format::f16, code);
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(code));
    const std::uint64_t expected =
        std::isnan(value) ? (code >> 16 & 0x8000) + 0x7C00 : oracle::skainet_half(static_cast<double>(value));
    ASSERT_EQ(half, expected) << hex(code);
  }
}

TEST(Dialect, SkainetsBfloatIsTheUpperHalfOfTheBits) {
  for (const std::uint64_t code : singles())
    ASSERT_EQ(in_dialect("skainet", Format::f32, Format::bf16, code), code >> 16) << hex(code);
}

TEST(Dialect, ExponentScalesOfGgmlAndMlxAreShiftedIntoPlace) {
  for (const char* dialect : {"ggml", "mlx"})
    for (std::uint64_t code = 0; code < 256; ++code)
      ASSERT_EQ(in_dialect(dialect, Format::e8m0, Format::f32, code), code == 0 ? 0x00400000 : code << 23) << dialect;
}

TEST(Dialect, TheNanOfGgmlsScaleIsZero) {
  EXPECT_EQ(in_dialect("ggml", Format::ue4m3, Format::f32, 0x7F), 0U);
  EXPECT_EQ(in_dialect("ggml", Format::ue4m3, Format::f32, 0x7E), 0x43E00000U);  // 448
}

TEST(Dialect, EveryRowAgreesWithTheOracle) {
  std::set<std::string_view> names;
  for (const ConvertDialect& dialect : all_convert_dialects()) {
    EXPECT_TRUE(names.insert(dialect.name).second) << dialect.name;
    for (const DialectRow& row : dialect.rows) {
      const bool wide = spec(row.from).width() > 16;
      std::vector<std::uint64_t> codes = wide ? edge_codes(Format::f32) : std::vector<std::uint64_t>();
      if (row.from == Format::f64) codes = edge_codes(Format::f64);
      for (std::uint64_t code = 0; !wide && code < std::uint64_t{1} << spec(row.from).width(); ++code)
        codes.push_back(code);
      for (const std::uint64_t code : codes) {
        const std::uint64_t expected = oracle::is_nan(row.from, code) && !oracle::is_integer(row.to)
                                           ? oracle::nan_by_rule(row.from, row.to, code, row.rules.nan)
                                           : oracle::convert(row.from, row.to, code, row.rules);
        ASSERT_EQ(convert(row.from, row.to, code, row.rules), expected) << dialect.name << " " << hex(code);
      }
    }
  }
}

TEST(Dialect, UnknownNamesAndPairsAreRefusedWithWhatThereIs) {
  EXPECT_THAT(dialect_rules("kotlin", Format::f32, Format::f16).error().text(),
              testing::AllOf(testing::HasSubstr("unknown dialect 'kotlin'"), testing::HasSubstr("skainet-q4_0")));
  EXPECT_THAT(dialect_rules("skainet", Format::f16, Format::i8).error().text(),
              testing::AllOf(testing::HasSubstr("no conversion f16->i8"), testing::HasSubstr("f32->i8")));
}

}  // namespace
}  // namespace packcheck::test
