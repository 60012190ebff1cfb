// Known answers of the rules of number formats, encodings and packed parameters (known_answers.h).
#include <array>
#include <limits>
#include <vector>

#include "core/encoding/bounds.h"
#include "core/encoding/encoding.h"
#include "core/format/convert.h"
#include "core/params/layout.h"
#include "tests/core/answers.h"
#include "tests/core/known_answers.h"
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
