// Known answers of the rules of numbers: formats, text, encodings, affine weights, packed parameters (known_answers.h).
#include <array>
#include <limits>
#include <vector>

#include "core/affine/affine.h"
#include "core/encoding/bounds.h"
#include "core/encoding/encoding.h"
#include "core/format/convert.h"
#include "core/params/layout.h"
#include "core/text/number_text.h"
#include "tests/core/answers.h"
#include "tests/core/known_answers.h"
#include "tests/core/packed_samples.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

TEST(KnownAnswers, OfTheReferenceAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 6> kKnown{{
      {"core convert", 0xAF9349BDE5F12574},
      {"core quantize and dequantize", 0x75356AE6BA6E9730},
      {"core error_bound", 0xA347DFE593B522FA},
      {"core print and parse", 0x20A69B3F84C34C24},
      {"core affine_dequantize", 0xC0B3F42928384D8F},
      {"core affine_matmul", 0xD98418B0B3A70708},
  }};
  std::string found;
  std::string expected;
  make_inputs();
  for (const Operation& operation : answering_operations()) {
    if (std::string_view(operation.name).substr(0, 4) != "core") continue;
    Digest digest;
    digest.add(operation.answers());
    found.append(line_of(operation.name, digest.value())).append("\n");
  }
  for (const KnownAnswer& one : kKnown) expected.append(line_of(one.rule, one.digest)).append("\n");
  EXPECT_EQ(found, expected);
}

/// Every eleventh edge code and some random ones, into every format.
void convert_all(const ConvertRules& rules, bool, Digest& digest) {
  for (const Format from : {Format::f64, Format::f32, Format::f16}) {
    std::vector<std::uint64_t> codes = random_codes(from, 40, 5);
    const std::vector<std::uint64_t> edges = edge_codes(from);
    for (std::size_t i = 0; i < edges.size(); i += 11) codes.push_back(edges[i]);
    for (const FormatSpec& to : all_formats())
      for (const std::uint64_t code : codes) digest.add(convert(from, to.format, code, rules));
  }
  for (const FormatSpec& from : all_formats())
    for (std::uint64_t code = 0; code < 256; code += 3) {
      digest.add(convert(from.format, Format::f32, code * 0x0101010101010101U & from.all_bits(), rules));
      digest.add(convert(from.format, Format::f16, code & from.all_bits(), rules));
    }
  // Arrays, of which a whole one may be refused.
  for (const float number : {1.5F, 127.5F, 128.0F, -129.0F, 3e9F, std::numeric_limits<float>::quiet_NaN()}) {
    std::array<std::uint8_t, 8> in{};
    store_element(spec(Format::f32), in, 1, std::bit_cast<std::uint32_t>(number));
    for (const Format to : {Format::i8, Format::i32}) {
      std::vector<std::uint8_t> out(2 * spec(to).bytes(), 0xEE);
      if (const auto done = convert_array(Format::f32, to, in, out, rules); !done) digest.add(done.error());
      digest.add(out);
    }
  }
}

TEST(KnownAnswers, OfEveryRuleOfConversionsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 20> kKnown{{
      {"as they are", 0x0FE2CB3B24D58032},
      {"nearest_away", 0x5A8685D0D4FEA87C},
      {"toward_zero", 0x9D3BB35423CD57DE},
      {"upward", 0xC03A2EE88EDE0FE5},
      {"downward", 0x9AEB49E55183B30B},
      {"nearest_up", 0xC79418187C1C1857},
      {"stochastic 0", 0x8D1F8D42575106C8},
      {"stochastic noise", 0x23CAC1B75EE33A68},
      {"same_payload", 0x41F22BF85E6C0048},
      {"payload truncated", 0x7C943E1EDF651FE2},
      {"nan infinity", 0xC2D48FEBE3EE7D71},
      {"nan zero", 0xD77A24A9D8C450F0},
      {"subnormals flushed", 0x2767669E425C0152},
      {"subnormals truncated", 0x69E0D5953CD7CE73},
      {"saturating", 0x3448939BD582EEFA},
      {"through_f16", 0x4F1F519FF37AC917},
      {"integers wrap", 0x9EA67F36C37074B9},
      {"integers refused", 0x15EB1146086EF700},
      {"integers indefinite", 0x468A4DD2B8B90E14},
      {"from integers truncated", 0x57F75398DF2B9037},
  }};
  static constexpr std::array<ChangedRule<ConvertRules>, 19> kChanges{{
      {"nearest_away", [](ConvertRules& r) { r.rounding = Rounding::nearest_away; }},
      {"toward_zero", [](ConvertRules& r) { r.rounding = Rounding::toward_zero; }},
      {"upward", [](ConvertRules& r) { r.rounding = Rounding::upward; }},
      {"downward", [](ConvertRules& r) { r.rounding = Rounding::downward; }},
      {"nearest_up", [](ConvertRules& r) { r.rounding = Rounding::nearest_up; }},
      {"stochastic 0", [](ConvertRules& r) { r.rounding = Rounding::stochastic; }},
      {"stochastic noise",
       [](ConvertRules& r) {
         r.rounding = Rounding::stochastic;
         r.random_bits = 0x9E3779B97F4A7C15U;
       }},
      {"same_payload", [](ConvertRules& r) { r.nan = NanRule::same_payload; }},
      {"payload truncated", [](ConvertRules& r) { r.nan = NanRule::truncated; }},
      {"nan infinity", [](ConvertRules& r) { r.nan = NanRule::infinity; }},
      {"nan zero", [](ConvertRules& r) { r.nan = NanRule::zero; }},
      {"subnormals flushed", [](ConvertRules& r) { r.subnormal = SubnormalRule::flushed; }},
      {"subnormals truncated", [](ConvertRules& r) { r.subnormal = SubnormalRule::truncated; }},
      {"saturating", [](ConvertRules& r) { r.saturating = true; }},
      {"through_f16", [](ConvertRules& r) { r.path = ConvertPath::through_f16; }},
      {"integers wrap", [](ConvertRules& r) { r.integer = IntegerRule::wrap; }},
      {"integers refused", [](ConvertRules& r) { r.integer = IntegerRule::refuse; }},
      {"integers indefinite", [](ConvertRules& r) { r.integer = IntegerRule::indefinite; }},
      {"from integers truncated", [](ConvertRules& r) { r.from_integer = FromInteger::truncated; }},
  }};
  expect_known<ConvertRules>(kChanges, kKnown, convert_all);
}

constexpr std::array<double, 33> kPrinted{0.0,
                                          -0.0,
                                          1.0,
                                          -1.5,
                                          0.1,
                                          1e22,
                                          1e23,
                                          123456.0,
                                          1234567.0,
                                          999999.5,
                                          0.0001,
                                          0.00001234567,
                                          1e-7,
                                          1e15,
                                          1e16,
                                          123456789012345680.0,
                                          5e-324,
                                          -9.7517e-319,
                                          2.2250738585072014e-308,
                                          2.225073858507201e-308,
                                          1.7976931348623157e308,
                                          -1.7976931348623157e308,
                                          0.30000000000000004,
                                          100.0,
                                          1e300,
                                          -1e-300,
                                          4503599627370496.5,
                                          9007199254740993.0,
                                          65504.0,
                                          3.14159265358979,
                                          std::numeric_limits<double>::infinity(),
                                          -std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::quiet_NaN()};

TEST(KnownAnswers, OfEveryRuleOfPrintingAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 7> kKnown{{
      {"as they are", 0x72F59290A145E3BC},
      {"bare", 0x03BF00D9B89E1BFE},
      {"null", 0x085E21A887F3D5BB},
      {"six digits", 0xCF45C95D38E319D6},
      {"fifteen digits", 0xA0EC7EB9F5B5AFDB},
      {"flushed", 0x52754B924FAB2CB4},
      {"without sign", 0x25FF7B1244E69B8C},
  }};
  static constexpr std::array<ChangedRule<PrintRules>, 6> kChanges{{
      {"bare", [](PrintRules& r) { r.non_finite = NonFinitePrinting::bare; }},
      {"null", [](PrintRules& r) { r.non_finite = NonFinitePrinting::null; }},
      {"six digits", [](PrintRules& r) { r.digits = Digits::six; }},
      {"fifteen digits", [](PrintRules& r) { r.digits = Digits::fifteen; }},
      {"flushed", [](PrintRules& r) { r.subnormal = SubnormalPrinting::flushed; }},
      {"without sign", [](PrintRules& r) { r.zero = ZeroPrinting::without_sign; }},
  }};
  expect_known<PrintRules>(kChanges, kKnown, [](const PrintRules& rules, bool, Digest& digest) {
    for (const double number : kPrinted) {
      const Result<std::string> text = print_number(std::bit_cast<std::uint64_t>(number), rules);
      text ? digest.add(*text) : digest.add(text.error());
    }
  });
}

constexpr std::array<std::string_view, 58> kTexts{"0",
                                                  "-0",
                                                  "-0.0",
                                                  "0e5",
                                                  "-0e-5",
                                                  "1",
                                                  "-1",
                                                  "12",
                                                  "1.",
                                                  ".5",
                                                  "01",
                                                  "-",
                                                  "+1",
                                                  "1e",
                                                  "1e+",
                                                  "1e-",
                                                  "1e5",
                                                  "1E5",
                                                  "1e+5",
                                                  "1.5e-5",
                                                  "0.1",
                                                  "9.7517E-319",
                                                  "9.7517E-3199",
                                                  "1e308",
                                                  "1e309",
                                                  "-1e309",
                                                  "1e400",
                                                  "1e-400",
                                                  "4.9e-324",
                                                  "2.4703282292062327e-324",
                                                  "2.4703282292062328e-324",
                                                  "2.2250738585072011e-308",
                                                  "8.8895642e-316",
                                                  "1e22",
                                                  "1e23",
                                                  "9007199254740993",
                                                  "9007199254740992",
                                                  "9007199254740992.5",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "123456789012345678901234567890",
                                                  "0.000000000000000000001234567890123456789",
                                                  "1.00000000000000000001",
                                                  "0.5",
                                                  "2049",
                                                  "2049.0000000000000001",
                                                  "2047.9999999999999999",
                                                  "65519.999999999999",
                                                  "65520",
                                                  "5.9604644775390625e-8",
                                                  "NaN",
                                                  "Infinity",
                                                  "-Infinity",
                                                  "null",
                                                  "nul",
                                                  "",
                                                  " 1",
                                                  "1 "};

TEST(KnownAnswers, OfEveryRuleOfParsingAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 9> kKnown{{
      {"as they are", 0xC59132AA2E733CA9},
      {"non-finite accepted", 0xA4372FFA940DC7B6},
      {"f32", 0xA3AC4A9D130D974F},
      {"best effort", 0x2E5C339C54606D94},
      {"subnormals flushed", 0x78219630C6EDB54F},
      {"subnormals refused", 0xCA4AF8D79EB22AC0},
      {"negative zero integer", 0x9C2E50CE07976829},
      {"point ends", 0x763213CA07EE410F},
      {"null zero", 0x22223B162D08C3F4},
  }};
  static constexpr std::array<ChangedRule<ParseRules>, 8> kChanges{{
      {"non-finite accepted", [](ParseRules& r) { r.non_finite = NonFiniteParsing::accept; }},
      {"f32", [](ParseRules& r) { r.precision = ParsePrecision::f32; }},
      {"best effort", [](ParseRules& r) { r.precision = ParsePrecision::best_effort; }},
      {"subnormals flushed", [](ParseRules& r) { r.subnormal = SubnormalParsing::flushed; }},
      {"subnormals refused", [](ParseRules& r) { r.subnormal = SubnormalParsing::refused; }},
      {"negative zero integer", [](ParseRules& r) { r.negative_zero = NegativeZeroParsing::integer; }},
      {"point ends", [](ParseRules& r) { r.point = PointParsing::ends_the_number; }},
      {"null zero", [](ParseRules& r) { r.null = NullParsing::zero; }},
  }};
  expect_known<ParseRules>(kChanges, kKnown, [](const ParseRules& rules, bool, Digest& digest) {
    const auto add = [&](const Result<std::uint64_t>& code) { code ? digest.add(*code) : digest.add(code.error()); };
    for (const std::string_view text : kTexts) add(parse_number(text, rules));
    for (const std::string_view text : kTexts) {
      digest.add(std::uint64_t{is_json_number(text)});
      for (const Format format : {Format::f32, Format::f16, Format::bf16, Format::e4m3fn})
        add(parse_number_as(format, text));
      const Result<bool> exact = is_exact_number(text);
      exact ? digest.add(std::uint64_t{*exact}) : digest.add(exact.error());
    }
  });
}

/// What is done to the rules of every row.
struct RowRules {
  void (*change)(BlockRules&) = [](BlockRules&) {};
};

/// Finite numbers, and any bytes.
void encode_all(const RowRules& rules, bool, Digest& digest) {
  static const std::vector<std::uint8_t> bytes = [] {
    Random random(9);
    std::vector<std::uint8_t> all(3000);
    for (std::uint8_t& byte : all) byte = static_cast<std::uint8_t>(random.bits());
    return all;
  }();
  for (Encoding e : all_encodings()) {
    const BlockRules own = e.rules;
    rules.change(e.rules);
    if (e.rules == own) continue;
    Random random(10);
    const std::size_t blocks = e.block_size < 128 ? 6 : 2;
    if (e.quantizes) {
      std::vector<float> values(blocks * e.block_size);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = static_cast<float>(static_cast<int>(random.below(4096)) - 2048);
        values[i] = std::ldexp(number, static_cast<int>(i / e.block_size % 6) * 9 - 29);
      }
      std::vector<std::uint8_t> encoded(encoded_bytes(e, values.size()).value(), 0xEE);
      if (const auto done = quantize(e, values, encoded); !done) digest.add(done.error());
      digest.add(encoded);
      std::vector<double> bounds(e.block_size);
      error_bounds(e, std::span(values).first(e.block_size), bounds);
      digest.add(bounds);
    }
    const std::span<const std::uint8_t> stored =
        std::span(bytes).first(std::min(bytes.size() / e.block_bytes, blocks) * e.block_bytes);
    std::vector<float> decoded(decoded_count(e, stored.size()).value());
    if (const auto done = dequantize(e, stored, decoded); !done) digest.add(done.error());
    digest.add(decoded);
  }
}

TEST(KnownAnswers, OfEveryRuleOfEncodingsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 24> kKnown{{
      {"as they are", 0xCBF29CE484222325},        {"half_away", 0x61CC9E1DE4441178},
      {"half_even", 0x6F69FA17867D0FD1},          {"half_up", 0x4B1B24EB22E26032},
      {"truncate", 0x2E2049533FD6577F},           {"overflow zero", 0x3881E22B7764E572},
      {"overflow saturates", 0x0E3F33B4C55DCAAF}, {"scale nearest", 0xBF9411CEBC77F9D8},
      {"scale private", 0x61F2BDF0F50EEE7E},      {"interleaved", 0x6C85473F52487A30},
      {"last byte", 0x38D527A845F78EBA},          {"extreme refused", 0x56F270466CBACA7F},
      {"planes reversed", 0x0961F995BBB226EB},    {"per word", 0x1AFEA8A5474B6117},
      {"affine cpu", 0xA8612D850C9701FC},         {"affine gpu", 0xF6317D428041D4ED},
      {"edge divided", 0xA003C65A6403E9F8},       {"exponent nearest", 0x2606EBBFC4B055C2},
      {"scale becomes nan", 0x9092AE002B040872},  {"columns sequential", 0x6A74CF654DF8E8E2},
      {"zero one less", 0x23177D2EDCD06D5C},      {"read sequentially", 0x841E89426D60BC9C},
      {"fourth code zero", 0x1372FF9037BE16D5},   {"residual exact", 0x3D2DE30B7A7A6A5D},
  }};
  using Row = RowRules;
  using Block = BlockRules;
  static constexpr std::array<ChangedRule<Row>, 23> kChanges{{
      {"half_away", [](Row& r) { r.change = [](Block& b) { b.code = CodeRounding::half_away; }; }},
      {"half_even", [](Row& r) { r.change = [](Block& b) { b.code = CodeRounding::half_even; }; }},
      {"half_up", [](Row& r) { r.change = [](Block& b) { b.code = CodeRounding::half_up; }; }},
      {"truncate", [](Row& r) { r.change = [](Block& b) { b.code = CodeRounding::truncate; }; }},
      {"overflow zero", [](Row& r) { r.change = [](Block& b) { b.overflow = CodeOverflow::zero; }; }},
      {"overflow saturates", [](Row& r) { r.change = [](Block& b) { b.overflow = CodeOverflow::saturate; }; }},
      {"scale nearest", [](Row& r) { r.change = [](Block& b) { b.scale = ScaleRule::nearest_even; }; }},
      {"scale private", [](Row& r) { r.change = [](Block& b) { b.scale = ScaleRule::skainet_private; }; }},
      {"interleaved", [](Row& r) { r.change = [](Block& b) { b.order = NibbleOrder::interleaved; }; }},
      {"last byte", [](Row& r) { r.change = [](Block& b) { b.write = WriteRule::forgets_last_byte; }; }},
      {"extreme refused", [](Row& r) { r.change = [](Block& b) { b.extreme = ExtremeCode::refused; }; }},
      {"planes reversed", [](Row& r) { r.change = [](Block& b) { b.planes = PlaneOrder::reversed; }; }},
      {"per word", [](Row& r) { r.change = [](Block& b) { b.packing = BitPacking::per_word; }; }},
      {"affine cpu", [](Row& r) { r.change = [](Block& b) { b.affine_rule = AffineRule::cpu; }; }},
      {"affine gpu", [](Row& r) { r.change = [](Block& b) { b.affine_rule = AffineRule::gpu; }; }},
      {"edge divided", [](Row& r) { r.change = [](Block& b) { b.edge = AffineEdge::divided; }; }},
      {"exponent nearest", [](Row& r) { r.change = [](Block& b) { b.exponent = ScaleExponent::nearest; }; }},
      {"scale becomes nan", [](Row& r) { r.change = [](Block& b) { b.scale_overflow = ScaleOverflow::becomes_nan; }; }},
      {"columns sequential", [](Row& r) { r.change = [](Block& b) { b.columns = ColumnOrder::sequential; }; }},
      {"zero one less", [](Row& r) { r.change = [](Block& b) { b.zero = ZeroPoint::one_less; }; }},
      {"read sequentially", [](Row& r) { r.change = [](Block& b) { b.reading = CodeReading::sequential; }; }},
      {"fourth code zero", [](Row& r) { r.change = [](Block& b) { b.fourth = FourthCode::zero; }; }},
      {"residual exact", [](Row& r) { r.change = [](Block& b) { b.residual = ResidualScale::exact; }; }},
  }};
  expect_known<Row>(kChanges, kKnown, encode_all);
}

void dequantize_affine(const AffineRules& rules, bool, Digest& digest) {
  Random random(12);
  const auto bytes = [&](std::size_t size) {
    std::vector<std::uint8_t> all(size);
    for (std::uint8_t& byte : all) byte = static_cast<std::uint8_t>(random.bits());
    return all;
  };
  struct Shape {
    std::size_t out, in, columns, block_rows, block_columns;
  };
  for (const Format format : {Format::bf16, Format::f16, Format::f32})
    for (const unsigned bits : {2U, 3U, 4U, 5U, 6U, 8U})
      for (const Shape& s : {Shape{3, 128, 2, 1, 0}, Shape{2, 64, 1, 1, 0}, Shape{66, 128, 1, 1, 0},
                             Shape{5, 96, 3, 2, 32}, Shape{6, 40, 2, 4, 24}}) {
        const std::size_t scales = (s.out + s.block_rows - 1) / s.block_rows * s.columns * spec(format).bytes();
        const std::vector<std::uint8_t> codes = bytes(s.out * s.in * bits / 8);
        const std::vector<std::uint8_t> scale = bytes(scales);
        const std::vector<std::uint8_t> bias = bytes(scales);
        std::vector<float> out(s.out * s.in);
        const AffineWeights weights{s.out, s.in, s.columns, format,       codes,
                                    scale, bias, bits,      s.block_rows, s.block_columns};
        if (const auto done = affine_dequantize(weights, out, rules); !done) digest.add(done.error());
        digest.add(out);
      }
}

TEST(KnownAnswers, OfEveryRuleOfAffineWeightsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 10> kKnown{{
      {"as they are", 0x120BD71D6AABD9EB},
      {"scales as f32", 0x2380A72990A0CCFC},
      {"group of columns", 0xA022968414810740},
      {"group not passed", 0x8469B037A6889FA0},
      {"group minus one", 0x5FF99EC91FAAC230},
      {"width 4", 0xFF2938B3799024C2},
      {"logical dtype", 0x511701A77932FD0C},
      {"block of the scales' shape", 0x534E2E58BA293A8B},
      {"rows per scale", 0x62C9E7C0055D6A2C},
      {"first row", 0x452B30FD72BBE9D4},
  }};
  static constexpr std::array<ChangedRule<AffineRules>, 9> kChanges{{
      {"scales as f32", [](AffineRules& r) { r.scales = ScaleReading::bytes_as_f32; }},
      {"group of columns", [](AffineRules& r) { r.group = GroupReading::scale_columns; }},
      {"group not passed", [](AffineRules& r) { r.group = GroupReading::not_passed; }},
      {"group minus one", [](AffineRules& r) { r.group = GroupReading::minus_one; }},
      {"width 4", [](AffineRules& r) { r.width = CodeWidth::global_4; }},
      {"logical dtype", [](AffineRules& r) { r.width = CodeWidth::logical_dtype; }},
      {"block of the scales' shape", [](AffineRules& r) { r.block = BlockReading::scale_shape; }},
      {"rows per scale", [](AffineRules& r) { r.block = BlockReading::rows_per_scale; }},
      {"first row", [](AffineRules& r) { r.row = RowReading::first; }},
  }};
  expect_known<AffineRules>(kChanges, kKnown, dequantize_affine);
}

void multiply_all(const ProductRules& rules, bool, Digest& digest) {
  Random random(13);
  for (int i = 0; i < 120; ++i) {
    const PackedSample s = random_sample(random, i % 4 == 3);
    const PackedSample other = random_sample(random, false);
    std::vector<float> y(s.product.rows * s.product.out_features, 7.0F);
    std::vector<float> up = y;
    if (const auto done = affine_matmul(s.arguments(), s.weights.view(), y, rules); !done) digest.add(done.error());
    digest.add(y);
    PackedBytes second = s.weights;
    for (std::uint8_t& code : second.codes) code = static_cast<std::uint8_t>(code * 5 + 1);
    if (const auto done = affine_gate_up(s.arguments(), s.weights.view(), second.view(), y, up, rules); !done)
      digest.add(done.error());
    digest.add(y);
    digest.add(up);
    // Shapes that do not go together.
    if (const auto done = affine_matmul(s.arguments(), other.weights.view(), y, rules); !done) digest.add(done.error());
  }
  // As many outputs as a group that is wrong needs to read past a buffer only in the middle.
  PackedSample large(1, 128, 64, 64, 4, Format::f32, SumOrder::lanes);
  for (std::uint8_t& code : large.weights.codes) code = static_cast<std::uint8_t>(random.bits());
  for (std::size_t o = 0; o < 64; ++o) large.set_scale(o, o % 2, static_cast<float>(o));
  for (float& x : large.x) x = static_cast<float>(random.below(64));
  std::vector<float> sums(64, 7.0F);
  if (const auto done = affine_matmul(large.arguments(), large.weights.view(), sums, rules); !done)
    digest.add(done.error());
  digest.add(sums);
  for (const unsigned bits : {0U, 1U, 4U, 7U, 8U, 9U})
    for (const std::size_t group : {0U, 16U, 32U, 64U}) {
      PackedSample s(1, 64, 3, 32, 8, Format::f16, SumOrder::sequential);
      s.product.bits = bits;
      s.product.group_size = group;
      std::vector<float> y(3);
      if (const auto done = affine_matmul(s.arguments(), s.weights.view(), y, rules); !done) digest.add(done.error());
    }
}

TEST(KnownAnswers, OfEveryRuleOfProductsAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 21> kKnown{{
      {"as they are", 0xF7CB0F7095523890},
      {"bytes as f32", 0x119761D0AC18D66E},
      {"half as bfloat", 0x14E4B68850FE4F11},
      {"group of scale columns", 0x807D36F3F4E98F2B},
      {"group out per column", 0xE1F600D96DE4F391},
      {"group not passed", 0x73495B6657398E29},
      {"input not reset", 0x8BFF3328AFADB1C9},
      {"common scale", 0x7DA16296E82F6F47},
      {"features not passed", 0x2B16348D9B8C90D0},
      {"first row", 0xBF673F42A5804B12},
      {"by group", 0x7B9BC05ECC186F6C},
      {"high first", 0xF6A99011AF6CB275},
      {"within word", 0xF62342361F5E56B3},
      {"per word", 0x88AA2DDB92FB254D},
      {"bias dropped", 0x10C899E32CCD38D7},
      {"bias per row", 0x83C5CBF6BB36D3F5},
      {"weights in scale format", 0xA6370EBA87FE2142},
      {"whole steps", 0xA57F62EAD19EC7E5},
      {"whole tiles", 0x0AA6A34527855E95},
      {"sums in half", 0x9A3E042517259CC4},
      {"swapped", 0x7BC9943198EEF40C},
  }};
  using Rules = ProductRules;
  static constexpr std::array<ChangedRule<Rules>, 20> kChanges{{
      {"bytes as f32", [](Rules& r) { r.scales = ProductScales::bytes_as_f32; }},
      {"half as bfloat", [](Rules& r) { r.scales = ProductScales::half_as_bfloat; }},
      {"group of scale columns", [](Rules& r) { r.group = ProductGroup::scale_columns; }},
      {"group out per column", [](Rules& r) { r.group = ProductGroup::out_per_column; }},
      {"group not passed", [](Rules& r) { r.group = ProductGroup::not_passed; }},
      {"input not reset", [](Rules& r) { r.input = ProductInput::not_reset; }},
      {"common scale", [](Rules& r) { r.input = ProductInput::common_scale; }},
      {"features not passed", [](Rules& r) { r.features = ProductFeatures::not_passed; }},
      {"first row", [](Rules& r) { r.row = ProductRow::first; }},
      {"by group", [](Rules& r) { r.layout = ProductLayout::by_group; }},
      {"high first", [](Rules& r) { r.codes = ProductCodes::high_first; }},
      {"within word", [](Rules& r) { r.codes = ProductCodes::within_word; }},
      {"per word", [](Rules& r) { r.codes = ProductCodes::per_word; }},
      {"bias dropped", [](Rules& r) { r.bias = ProductBias::dropped; }},
      {"bias per row", [](Rules& r) { r.bias = ProductBias::per_row; }},
      {"weights in scale format", [](Rules& r) { r.weights = ProductWeights::scale_format; }},
      {"whole steps", [](Rules& r) { r.tail = ProductTail::whole_steps; }},
      {"whole tiles", [](Rules& r) { r.outputs = ProductOutputs::whole_tiles; }},
      {"sums in half", [](Rules& r) { r.sum = ProductSum::half; }},
      {"swapped", [](Rules& r) { r.pair = ProductPair::swapped; }},
  }};
  expect_known<Rules>(kChanges, kKnown, multiply_all);
}

TEST(KnownAnswers, OfEveryRuleOfProductsThatChecksAtTheIndexAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 8> kKnown{{
      {"as they are", 0x3E108FC5A205C981},
      {"at the index", 0x076868027C9B3509},
      {"and bytes as f32", 0x1AC28913F09BE739},
      {"and group of scale columns", 0xA6E482C5CED98874},
      {"and group out per column", 0xA6E482C5CED98874},
      {"and group not passed", 0xA3737A7A03C082C8},
      {"and features not passed", 0x8060707165E24DEC},
      {"and by group", 0x5E2C9A1E9460B6D2},
  }};
  using Rules = ProductRules;
  static constexpr std::array<ChangedRule<Rules>, 7> kChanges{{
      {"at the index", [](Rules& r) { r.checks = ProductChecks::at_the_index; }},
      {"and bytes as f32",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.scales = ProductScales::bytes_as_f32;
       }},
      {"and group of scale columns",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.group = ProductGroup::scale_columns;
       }},
      {"and group out per column",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.group = ProductGroup::out_per_column;
       }},
      {"and group not passed",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.group = ProductGroup::not_passed;
       }},
      {"and features not passed",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.features = ProductFeatures::not_passed;
       }},
      {"and by group",
       [](Rules& r) {
         r.checks = ProductChecks::at_the_index;
         r.layout = ProductLayout::by_group;
       }},
  }};
  expect_known<Rules>(kChanges, kKnown, [](const Rules& rules, bool, Digest& digest) {
    Random random(14);
    for (int i = 0; i < 60; ++i) {
      PackedSample s = random_sample(random, false);
      const std::size_t cut = random.below(3);
      for (std::vector<std::uint8_t>* const bytes : {&s.weights.codes, &s.weights.scales, &s.weights.biases})
        if (random.below(3) == 0 && bytes->size() > cut) bytes->resize(bytes->size() - cut * 2);
      if (random.below(4) == 0 && !s.x.empty()) s.x.pop_back();
      std::vector<float> y(s.product.rows * s.product.out_features, 7.0F);
      if (const auto done = affine_matmul(s.arguments(), s.weights.view(), y, rules); !done) digest.add(done.error());
      digest.add(y);
    }
  });
}

/// Values at and beside the ends of each field, one at a time; words at random and at their edges.
std::vector<std::vector<std::int64_t>> values_of(const Layout& layout) {
  std::vector<std::vector<std::int64_t>> all;
  std::vector<std::int64_t> plain;
  for (const Field& field : layout.fields) plain.push_back(field.plain() ? std::int64_t{0x3FF0000000000000} : 1);
  all.push_back(plain);
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const std::int64_t largest =
        layout.fields[i].plain() ? std::int64_t{0x7FEFFFFFFFFFFFFF} : layout.fields[i].largest();
    for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, largest, largest - 1, largest / 3,
                                     largest < INT64_MAX ? largest + 1 : largest, std::int64_t{0x7FF8000000000000}}) {
      all.push_back(plain);
      all.back()[i] = value;
    }
  }
  std::vector<std::int64_t> most;
  for (const Field& field : layout.fields) most.push_back(field.plain() ? plain[0] : field.largest());
  all.push_back(most);
  return all;
}

TEST(KnownAnswers, OfEveryRuleOfPackingAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 8> kKnown{{
      {"as they are", 0xEBCCD9FCDBC6715D},
      {"or overflow", 0x3394289B8736F120},
      {"cut off", 0xCA2E01CDFE7262D1},
      {"negative passes", 0x6F7B02635F6CF15E},
      {"specials pass", 0xA2CF074564E31159},
      {"int32", 0x67F7368610959D88},
      {"as numbers", 0x59380B0436DFA5C1},
      {"plain as bits", 0x44A92F3C36441DFD},
  }};
  static constexpr std::array<ChangedRule<PackRules>, 7> kChanges{{
      {"or overflow", [](PackRules& r) { r.range = RangeRule::or_overflow; }},
      {"cut off", [](PackRules& r) { r.range = RangeRule::cut_off; }},
      {"negative passes", [](PackRules& r) { r.range = RangeRule::negative_passes; }},
      {"specials pass", [](PackRules& r) { r.range = RangeRule::specials_pass; }},
      {"int32", [](PackRules& r) { r.arithmetic = PackArithmetic::int32; }},
      {"as numbers", [](PackRules& r) { r.arithmetic = PackArithmetic::as_numbers; }},
      {"plain as bits", [](PackRules& r) { r.plain = PlainPacking::as_bits; }},
  }};
  expect_known<PackRules>(kChanges, kKnown, [](const PackRules& rules, bool, Digest& digest) {
    for (const Layout& layout : all_layouts())
      for (const std::vector<std::int64_t>& values : values_of(layout)) {
        const Result<PackedWords> words = pack(layout, values, rules);
        if (!words) {
          digest.add(words.error());
          continue;
        }
        for (const std::uint64_t word : *words) digest.add(word);
        digest.add(not_executable_because(layout, values));
      }
  });
}

TEST(KnownAnswers, OfEveryRuleOfUnpackingAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 7> kKnown{{
      {"as they are", 0x41C99AD9DE80FF77},
      {"numeric cast", 0xDD0E5A955DE3FED7},
      {"through f32", 0xD497F2A6EF73F6CF},
      {"flushed", 0xCCF9171BF047B3A9},
      {"unmasked", 0xD0F859598F5E5BB5},
      {"sign extended", 0x6396E2B0E5E1A1F0},
      {"modulo 32", 0x70D05B69E6A1BFBB},
  }};
  static constexpr std::array<ChangedRule<UnpackRules>, 6> kChanges{{
      {"numeric cast", [](UnpackRules& r) { r.word = WordReading::numeric_cast; }},
      {"through f32", [](UnpackRules& r) { r.word = WordReading::through_f32; }},
      {"flushed", [](UnpackRules& r) { r.word = WordReading::flushed; }},
      {"unmasked", [](UnpackRules& r) { r.field = FieldReading::unmasked; }},
      {"sign extended", [](UnpackRules& r) { r.field = FieldReading::sign_extended; }},
      {"modulo 32", [](UnpackRules& r) { r.field = FieldReading::shifts_modulo_32; }},
  }};
  expect_known<UnpackRules>(kChanges, kKnown, [](const UnpackRules& rules, bool, Digest& digest) {
    Random random(15);
    std::vector<PackedWords> words;
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t first = random.bits() >> random.below(64);
      const std::uint64_t second = random.bits() >> random.below(64);
      words.push_back({first, second});
    }
    for (const double number : {0.0, 1.0, -1.0, 3.7, 1e10, 1e19, -1e19, 1e-310, 1e300})
      words.push_back({std::bit_cast<std::uint64_t>(number), std::bit_cast<std::uint64_t>(-number)});
    for (const Layout& layout : all_layouts())
      for (const PackedWords& pair : words) {
        const Unpacked fields = unpack(layout, pair, rules);
        for (std::size_t i = 0; i < fields.values.size(); ++i) {
          digest.add(static_cast<std::uint64_t>(fields.values[i]));
          digest.add(field_text(layout.fields[i], fields.values[i]));
          digest.add(std::uint64_t{layout.fields[i].holds(fields.values[i])});
          digest.add(layout.fields[i].range());
        }
        digest.add(fields.ignored[0]);
        digest.add(fields.ignored[1]);
        digest.add(not_executable_because(layout, fields.values));
      }
  });
}

}  // namespace
}  // namespace packcheck::test
