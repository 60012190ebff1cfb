// Group-quantized weights: numbers worked out by hand, MPFR, the oracle, and the two documented bugs.
#include "core/affine/affine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "properties/oracles/affine_oracle.h"
#include "tests/core/mpfr_reference.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::ElementsAre;
using testing::HasSubstr;

/// A matrix that owns its bytes.
struct Matrix {
  std::size_t out = 0;
  std::size_t in = 0;
  std::size_t columns = 0;
  Format format = Format::bf16;
  Bytes codes;
  Bytes scales;
  Bytes biases;
  unsigned bits = 4;

  [[nodiscard]] AffineWeights view() const { return {out, in, columns, format, codes, scales, biases, bits}; }
  [[nodiscard]] oracle::GroupedWeights oracle_view() const {
    return {out, in, columns, format, codes, scales, biases, static_cast<int>(bits)};
  }
};

/// All codes 0, all scales and biases +0.
Matrix zeros(std::size_t out, std::size_t in, std::size_t columns, Format format) {
  const std::size_t scale_bytes = out * columns * spec(format).bytes();
  return {out, in, columns, format, Bytes(out * in / 2), Bytes(scale_bytes), Bytes(scale_bytes)};
}

/// A number between 2^-8 and 2^8, either sign.
std::uint64_t ordinary_code(Random& random, const FormatSpec& s) {
  const std::uint64_t field = static_cast<std::uint64_t>(s.bias()) - 8 + random.below(16);
  const std::uint64_t sign = random.coin() ? s.sign_bit() : 0;
  return sign | field << s.significand_bits | (random.bits() & s.significand_mask());
}

Matrix random_matrix(Random& random, Format format, bool any_scale) {
  static constexpr std::array<std::size_t, 4> kGroups{2, 32, 64, 128};
  const std::size_t columns = 1 + random.below(4);
  const std::size_t in = kGroups[random.below(kGroups.size())] * columns;
  Matrix m = zeros(1 + random.below(5), in, columns, format);
  for (std::uint8_t& byte : m.codes) byte = static_cast<std::uint8_t>(random.bits());
  for (Bytes* const bytes : {&m.scales, &m.biases}) {
    for (std::size_t i = 0; i < m.out * columns; ++i) {
      const FormatSpec& s = spec(format);
      store_element(s, *bytes, i, any_scale ? random.bits() & s.all_bits() : ordinary_code(random, s));
    }
  }
  return m;
}

std::vector<float> decoded(const Matrix& m, const AffineRules& rules = {}) {
  std::vector<float> out(m.out * m.in);
  const Result<void> ok = affine_dequantize(m.view(), out, rules);
  EXPECT_TRUE(ok.has_value()) << (ok ? "" : ok.error().text());
  return out;
}

Error refusal(const Matrix& m, const AffineRules& rules = {}) {
  std::vector<float> out(m.out * m.in);
  const Result<void> ok = affine_dequantize(m.view(), out, rules);
  EXPECT_FALSE(ok.has_value());
  return ok ? Error{} : ok.error();
}

void put(Matrix& m, Bytes Matrix::*bytes, std::size_t index, std::uint64_t code) {
  store_element(spec(m.format), m.*bytes, index, code);
}

TEST(Affine, WeightsAreScaleTimesCodePlusBiasOfTheirGroup) {
  Matrix m = zeros(2, 4, 2, Format::bf16);
  m.codes = {0x21, 0x43, 0xF0, 0x87};                                         // the first code of a pair is the low one
  const std::array<std::uint64_t, 4> scales{0x3F80, 0x4000, 0xBF00, 0x3E80};  // 1, 2, -0.5, 0.25
  const std::array<std::uint64_t, 4> biases{0x0000, 0xC120, 0x3F80, 0x4040};  // 0, -10, 1, 3
  for (std::size_t i = 0; i < 4; ++i) {
    put(m, &Matrix::scales, i, scales[i]);
    put(m, &Matrix::biases, i, biases[i]);
  }
  const std::vector<float> expected{1.0F, 2.0F, -4.0F, -2.0F, 1.0F, -6.5F, 4.75F, 5.0F};
  EXPECT_EQ(decoded(m), expected);
  EXPECT_EQ(oracle::affine_weights(m.oracle_view()), expected);
}

TEST(Affine, TheProductIsRoundedBeforeTheBiasIsAdded) {
  // Exactly (1 + 2^-23)·15 = 15 + 1.875·2^-20, and f32 there has steps of 2^-20.
  Matrix m = zeros(1, 2, 1, Format::f32);
  m.codes = {0xFF};
  put(m, &Matrix::scales, 0, 0x3F800001);
  put(m, &Matrix::biases, 0, 0xC1700000);  // -15
  EXPECT_EQ(decoded(m)[0], 0x1p-19F);
  EXPECT_EQ(oracle::affine_weights(m.oracle_view()).value()[0], 0x1p-19F);
  EXPECT_NE(decoded(m)[0], 15.0F * 0x1p-23F) << "what a fused multiply-add gives";
}

bool same_number(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

TEST(Affine, CoreAndOracleAgreeOnAnyScalesAndBiases) {
  Random random(61);
  std::size_t finite = 0;
  for (const Format format : {Format::bf16, Format::f16, Format::f32}) {
    for (int i = 0; i < 400; ++i) {
      const Matrix m = random_matrix(random, format, i % 2 == 0);
      const std::vector<float> actual = decoded(m);
      const std::vector<float> expected = oracle::affine_weights(m.oracle_view()).value();
      ASSERT_EQ(actual.size(), expected.size());
      for (std::size_t k = 0; k < actual.size(); ++k) {
        ASSERT_TRUE(same_number(actual[k], expected[k])) << spec(format).name << " matrix " << i << " weight " << k;
        finite += std::isfinite(actual[k]) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(finite, 100000U);
}

/// scale·code + bias with two roundings to f32, by MPFR.
float mpfr_weight(std::uint64_t scale, unsigned code, std::uint64_t bias, Format format) {
  const MpfrFormat single = mpfr_format(Format::f32);
  Real product(single.precision);
  Real addend(single.precision);
  set_to_code(product, format, scale);
  set_to_code(addend, format, bias);
  const ExponentRange range(single.lowest(), single.highest);
  int ternary = mpfr_mul_ui(product.get(), product.get(), code, MPFR_RNDN);
  mpfr_subnormalize(product.get(), ternary, MPFR_RNDN);
  ternary = mpfr_add(product.get(), product.get(), addend.get(), MPFR_RNDN);
  mpfr_subnormalize(product.get(), ternary, MPFR_RNDN);
  return mpfr_get_flt(product.get(), MPFR_RNDN);
}

TEST(Affine, OracleAndCoreGiveMpfrsWeightForEdgeScalesAndBiases) {
  Random random(62);
  for (const Format format : {Format::bf16, Format::f16, Format::f32}) {
    const std::vector<std::uint64_t> codes = edge_codes(format);
    Matrix m = zeros(1, 2, 1, format);
    for (int i = 0; i < 20000; ++i) {
      const std::uint64_t scale = codes[random.below(codes.size())];
      const std::uint64_t bias = codes[random.below(codes.size())];
      const std::uint64_t magnitudes = spec(format).infinity();
      if ((scale & (spec(format).sign_bit() - 1)) >= magnitudes || (bias & (spec(format).sign_bit() - 1)) >= magnitudes)
        continue;  // MPFR's NaN and infinity arithmetic is not what is tested here
      m.codes[0] = static_cast<std::uint8_t>(random.bits());
      put(m, &Matrix::scales, 0, scale);
      put(m, &Matrix::biases, 0, bias);
      const float low = mpfr_weight(scale, m.codes[0] & 15U, bias, format);
      const float high = mpfr_weight(scale, m.codes[0] >> 4U, bias, format);
      const std::vector<float> by_oracle = oracle::affine_weights(m.oracle_view()).value();
      const std::vector<float> by_core = decoded(m);
      ASSERT_TRUE(same_number(by_oracle[0], low) && same_number(by_oracle[1], high))
          << "oracle " << spec(format).name << " scale " << hex(scale) << " bias " << hex(bias);
      ASSERT_TRUE(same_number(by_core[0], low) && same_number(by_core[1], high))
          << "core " << spec(format).name << " scale " << hex(scale) << " bias " << hex(bias);
    }
  }
}

// The shapes of a published 12-billion-parameter model: 15360 x 3840, 60 groups of 64, BF16.
constexpr std::size_t kOut = 15360;
constexpr std::size_t kIn = 3840;
constexpr std::size_t kColumns = 60;

TEST(AffineMetadata, ReadAsFloat32ItIsRefusedAtTheRowWhereTheBufferEnds) {
  Matrix m = zeros(kOut, kIn, kColumns, Format::bf16);
  ASSERT_EQ(m.scales.size(), 1843200U);
  const Error error = refusal(m, {.scales = ScaleReading::bytes_as_f32});
  EXPECT_EQ(error.what, "scale index 460800");
  EXPECT_EQ(460800 / kColumns, 7680U) << "the first row out of bounds";
  EXPECT_EQ(error.right, "an index below 460800");
}

TEST(AffineMetadata, ReadAsFloat32RowsBeforeThatAreWrongWithoutAnError) {
  // Element i of the misreading is roughly element 2i + 1: two BF16 numbers seen as one float.
  Matrix m = zeros(4, 4, 2, Format::bf16);
  m.codes.assign(m.codes.size(), 0x11);
  for (std::size_t i = 0; i < 8; ++i) put(m, &Matrix::scales, i, 0x3F80 + 0x80 * i);  // 1, 2, 4 …
  std::vector<float> out(16);
  ASSERT_FALSE(affine_dequantize(m.view(), out, {.scales = ScaleReading::bytes_as_f32}).has_value());
  EXPECT_EQ(decoded(m)[0], 1.0F);
  EXPECT_NEAR(out[0], 2.0F, 0.02F);
  EXPECT_NEAR(out[2], 8.0F, 0.08F);
}

TEST(AffineMetadata, TheColumnCountAsGroupSizeRunsPastTheBuffer) {
  // 240 rows stand for 15360: 240·60 scales, and row 225 is the first that starts past them (225·64).
  const Error error = refusal(zeros(240, kIn, kColumns, Format::bf16), {.group = GroupReading::scale_columns});
  EXPECT_EQ(error.what, "scale index 14400");
  EXPECT_EQ(14400 / (kIn / kColumns), 225U);
  // Both misreadings together: half the capacity, 64 per row.
  const Error both = refusal(zeros(240, kIn, kColumns, Format::bf16),
                             {.scales = ScaleReading::bytes_as_f32, .group = GroupReading::scale_columns});
  EXPECT_EQ(both.what, "scale index 7200");
}

TEST(AffineMetadata, AGroupSizeEqualToTheColumnCountHidesTheSecondBug) {
  Random random(63);
  Matrix m = zeros(3, 4, 2, Format::f16);
  for (std::uint8_t& byte : m.codes) byte = static_cast<std::uint8_t>(random.bits());
  for (std::size_t i = 0; i < 6; ++i) put(m, &Matrix::scales, i, 0x3C00 + i);
  EXPECT_EQ(decoded(m, {.group = GroupReading::scale_columns}), decoded(m));
}

TEST(AffineShapes, ThatDisagreeAreRefusedByTheCoreAndHaveNoOracle) {
  struct Row {
    const char* name;
    Matrix matrix;
    const char* message;
  };
  const Matrix right = zeros(3, 8, 2, Format::bf16);
  const auto with = [&](auto change) {
    Matrix m = right;
    change(m);
    return m;
  };
  for (const Row& row :
       {Row{"codes", with([](Matrix& m) { m.codes.pop_back(); }), "affine codes: 11 bytes; expected 12"},
        Row{"scales", with([](Matrix& m) { m.scales.push_back(0); }), "affine scales: 13 bytes; expected 12"},
        Row{"biases", with([](Matrix& m) { m.biases.clear(); }), "affine biases: 0 bytes; expected 12"},
        Row{"no columns", with([](Matrix& m) { m.columns = 0; }), "0 scale columns"},
        Row{"columns that don't divide", with([](Matrix& m) { m.columns = 3; }), "a divisor of in_features = 8"},
        Row{"odd row", with([](Matrix& m) { m.in = 7, m.columns = 7; }), "rows of whole bytes"},
        Row{"no features", with([](Matrix& m) { m.in = 0; }), "rows of whole bytes"},
        Row{"more rows", with([](Matrix& m) { m.out = 4; }), "affine codes: 12 bytes; expected 16"},
        Row{"another dtype", with([](Matrix& m) { m.format = Format::f32; }),
            "affine scales: 12 bytes; expected 24"}}) {
    SCOPED_TRACE(row.name);
    EXPECT_THAT(refusal(row.matrix).text(), HasSubstr(row.message));
    EXPECT_FALSE(oracle::affine_weights(row.matrix.oracle_view()).has_value());
  }
}

TEST(AffineShapes, WhoseSizesOverflowAreRefused) {
  Matrix m = zeros(1, 2, 1, Format::bf16);
  m.out = std::numeric_limits<std::size_t>::max() / 2 + 1;
  std::vector<float> out(2);
  EXPECT_FALSE(affine_dequantize(m.view(), out).has_value());
  m.in = std::numeric_limits<std::size_t>::max() - 1;
  EXPECT_FALSE(affine_dequantize(m.view(), out).has_value());
  EXPECT_FALSE(oracle::affine_weights(m.oracle_view()).has_value());
}

TEST(AffineShapes, AnOutputOfAnotherSizeIsRefusedAndLeftAlone) {
  const Matrix m = zeros(3, 8, 2, Format::bf16);
  std::vector<float> out(23, 7.0F);
  EXPECT_THAT(affine_dequantize(m.view(), out).error().text(), HasSubstr("affine output"));
  EXPECT_THAT(out, testing::Each(7.0F));
}

}  // namespace
}  // namespace packcheck::test
