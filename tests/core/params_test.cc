// Integers packed in doubles: words worked out by hand, and core against oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <locale.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cfenv>
#include <limits>

#include "core/params/layout.h"
#include "core/text/number_form.h"
#include "core/text/number_text.h"
#include "properties/oracles/params_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::vector<std::int64_t>;

const Layout& named(std::string_view id) { return **layout_named(id); }

TEST(Layouts, AreFoundByTheirFullNameOrByTheirOperator) {
  for (const Layout& layout : all_layouts()) EXPECT_EQ(*layout_named(layout.id()), &layout);
  EXPECT_EQ(*layout_named("conv2d"), &named("conv2d:gen2"));
  EXPECT_EQ(*layout_named("maxpool2d"), &named("maxpool2d:gen2"));
  EXPECT_EQ(*layout_named("dropout"), &named("dropout:gen3"));
  EXPECT_THAT(layout_named("conv3d").error().text(), HasSubstr("conv2d:gen2, conv2d:gen1"));
}

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kQuietNan = std::uint64_t{0x7FF8} << 48;
std::int64_t as_value(double x) { return std::bit_cast<std::int64_t>(x); }

TEST(Layouts, AgreeWithTheOraclesTableOfPlaceValues) {
  for (const Layout& layout : all_layouts()) {
    const std::vector<std::uint64_t> sizes = oracle::field_sizes(layout.id()).value();
    ASSERT_EQ(sizes.size(), layout.fields.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Field& field = layout.fields[i];
      EXPECT_EQ(field.plain() ? 0 : static_cast<std::uint64_t>(field.largest()) + 1, sizes[i])
          << layout.id() << " " << field.name;
      Values one(sizes.size(), 0);
      one[i] = field.plain() ? as_value(1.0) : 1;
      EXPECT_EQ(pack(layout, one).value(), oracle::packed(layout.id(), one)) << field.name;
    }
  }
}

TEST(Packing, GivesTheWordsWorkedOutByHand) {
  // kernel 3 x 3, stride 1, padding 1, 64 output channels
  const Values conv{3, 3, 1, 1, 64};
  EXPECT_THAT(pack(named("conv2d:gen2"), conv).value(), ElementsAre(0x030301, 65600));
  EXPECT_EQ(oracle::packed("conv2d:gen2", conv), (oracle::Words{197377, 65600}));
  const Values pool{2, 2, 2, 0};
  EXPECT_THAT(pack(named("maxpool2d:gen2"), pool).value(), ElementsAre(131586, 0));
  EXPECT_EQ(oracle::packed("maxpool2d:gen2", pool), (oracle::Words{131586, 0}));
  // dilation 2, kernel 300 x 3; 8 heads of 2 kv heads, model size 512, sequence 128, causal
  EXPECT_THAT(pack(named("conv2d:gen3"), Values{1, 300, 3, 2, 1, 64}).value(), ElementsAre(0x100012C0302, 65600));
  EXPECT_THAT(pack(named("mha:gen3"), Values{8, 2, 512, 128, 1, 0}).value(), ElementsAre(0x800020200, 0x8000000002));
  EXPECT_THAT(pack(named("conv2d:gen1"), Values{2, 1, 1}).value(), ElementsAre(0x200000001, 0x100000000));
  EXPECT_THAT(pack(named("dropout:gen3"), Values{as_value(0.5), 3}).value(), ElementsAre(0x3FE0000000000000, 3));
  EXPECT_THAT(pack(named("reduce:gen3"), Values{static_cast<std::int64_t>(kQuietNan), 0}).value(),
              ElementsAre(kQuietNan, 0));
  const Values largest{255, 255, 255, 65535, 65535};
  EXPECT_THAT(pack(named("conv2d:gen2"), largest).value(), ElementsAre(0xFFFFFF, 0xFFFFFFFF));
}

/// Values at the ends and the middle of a field, and of a plain number what it may and may not be.
Values edge_values(const Field& field) {
  if (!field.plain()) {
    Values values{0, 1, field.largest() / 2, field.largest() / 2 + 1, field.largest() - 1, field.largest()};
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }
  return {0,
          as_value(-0.0),
          1,
          as_value(0.5),
          as_value(1.0),
          as_value(1.0) + 1,
          as_value(2.5),
          as_value(0x1p53 - 1),
          as_value(0x1p53),
          as_value(0x1p53 + 2),
          as_value(-1.5),
          as_value(std::numeric_limits<double>::max()),
          as_value(std::numeric_limits<double>::infinity()),
          static_cast<std::int64_t>(kQuietNan),
          static_cast<std::int64_t>(kQuietNan | kSign),
          static_cast<std::int64_t>(kQuietNan + 1)};
}

TEST(Packing, EveryCombinationOfEdgeValuesGivesTheOraclesWordsAndComesBackOrIsRefusedByBoth) {
  std::size_t refused = 0;
  for (const Layout& layout : all_layouts()) {
    std::size_t combinations = 1;
    for (const Field& field : layout.fields) combinations *= edge_values(field).size();
    std::size_t packed = 0;
    for (std::size_t n = 0; n < combinations; ++n) {
      Values values;
      std::size_t rest = n;
      for (const Field& field : layout.fields) {
        const Values edges = edge_values(field);
        values.push_back(edges[rest % edges.size()]);
        rest /= edges.size();
      }
      const Result<PackedWords> words = pack(layout, values);
      const std::optional<oracle::Words> expected = oracle::packed(layout.id(), values);
      ASSERT_EQ(words.has_value(), expected.has_value()) << layout.id() << " combination " << n;
      if (!words) {
        ++refused;
        continue;
      }
      ++packed;
      ASSERT_EQ(*words, *expected);
      const Unpacked back = unpack(layout, *words);
      ASSERT_EQ(back.values, values);
      ASSERT_EQ(oracle::unpacked(layout.id(), *words), values);
      ASSERT_THAT(back.ignored, ElementsAre(0, 0));
    }
    EXPECT_GT(packed, 1U) << layout.id();
  }
  EXPECT_GT(refused, 0U);
}

TEST(Packing, RefusesAWordThatBecomesAnInfinityOrANan) {
  const Layout& conv = named("conv2d:gen3");
  const Values infinite{0x7FF000, 0, 0, 0, 0, 0};
  EXPECT_THAT(pack(conv, infinite).error().text(), HasSubstr("scalar becomes an infinity"));
  EXPECT_THAT(pack(conv, Values{0x7FF000, 3, 3, 1, 0, 8}).error().text(), HasSubstr("scalar becomes a NaN"));
  EXPECT_EQ(pack(conv, Values{0x7FEFFF, 3, 3, 1, 0, 8}).value()[0], 0x7FEFFF0000030301U);
  EXPECT_EQ(pack(conv, infinite, {.range = RangeRule::specials_pass}).value()[0], 0x7FF0000000000000U);
  EXPECT_FALSE(oracle::packed("conv2d:gen3", infinite));
}

TEST(Unpacking, AnyTwoWordsGiveTheOraclesFieldsAndTheRestIsReported) {
  Random random(51);
  for (const Layout& layout : all_layouts()) {
    for (int i = 0; i < 20000; ++i) {
      const PackedWords words{random.bits() >> random.below(64), random.bits() >> random.below(64)};
      const Unpacked fields = unpack(layout, words);
      ASSERT_EQ(fields.values, oracle::unpacked(layout.id(), words)) << hex(words[0]) << " " << hex(words[1]);
      const PackedWords known = pack(layout, fields.values, {.range = RangeRule::or_overflow}).value();
      for (std::size_t w = 0; w < kPackedWords; ++w) {
        ASSERT_EQ(known[w] | fields.ignored[w], words[w]);
        ASSERT_EQ(known[w] & fields.ignored[w], 0U);
      }
    }
  }
}

TEST(Packing, RefusesWhatDoesNotFitAndNamesTheField) {
  for (const Layout& layout : all_layouts()) {
    for (std::size_t i = 0; i < layout.fields.size(); ++i) {
      if (layout.fields[i].plain()) continue;
      const std::int64_t limit = layout.fields[i].largest();
      if (limit == std::numeric_limits<std::int64_t>::max()) continue;
      for (const std::int64_t wrong : {std::int64_t{-1}, limit + 1, std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max()}) {
        Values values(layout.fields.size(), 0);
        values[i] = wrong;
        const Result<PackedWords> words = pack(layout, values);
        ASSERT_FALSE(words.has_value()) << layout.fields[i].name << " " << wrong;
        EXPECT_THAT(words.error().text(), HasSubstr("field " + std::string(layout.fields[i].name)));
        EXPECT_THAT(words.error().text(), HasSubstr("0.." + std::to_string(limit)));
        EXPECT_FALSE(oracle::packed(layout.id(), values).has_value());
      }
    }
    EXPECT_THAT(pack(layout, Values(layout.fields.size() + 1, 1)).error().text(), HasSubstr("one per field"));
    EXPECT_THAT(pack(layout, Values{}).error().text(), HasSubstr("0 values"));
  }
}

TEST(Packing, WithoutAMaskAFieldRunsIntoItsNeighbour) {
  // kernel_w 256 adds 1 to a kernel_h of 2 by OR and leaves a kernel_h of 3 as it is.
  const Layout& conv = named("conv2d:gen2");
  const auto back = [&](const Values& values) {
    return unpack(conv, pack(conv, values, {.range = RangeRule::or_overflow}).value()).values;
  };
  EXPECT_THAT(back({2, 256, 1, 0, 8}), ElementsAre(3, 0, 1, 0, 8));
  EXPECT_THAT(back({3, 256, 1, 0, 8}), ElementsAre(3, 0, 1, 0, 8));
  EXPECT_THAT(back({3, 3, 256, 0, 8}), ElementsAre(3, 3, 0, 0, 8));
  EXPECT_THAT(back({3, 3, 1, 0, 65536}), ElementsAre(3, 3, 1, 1, 0));
}

TEST(Unpacking, ANumericCastOfASubnormalLosesEveryField) {
  const Layout& conv = named("conv2d:gen2");
  EXPECT_THAT(unpack(conv, {0x030301, 65600}, {.word = WordReading::numeric_cast}).values, testing::Each(0));
  // The double 197377.0: its value has the fields, its bits don't.
  const PackedWords number{std::bit_cast<std::uint64_t>(197377.0), 0};
  EXPECT_THAT(unpack(conv, number, {.word = WordReading::numeric_cast}).values, ElementsAre(3, 3, 1, 0, 0));
  EXPECT_THAT(unpack(conv, number).values, testing::Not(ElementsAre(3, 3, 1, 0, 0)));
  // NaN and negative give 0, as Rust's saturating cast does; infinity gives all ones.
  EXPECT_THAT(unpack(conv, {0x7FF8000000000000, 0xC000000000000000}, {.word = WordReading::numeric_cast}).values,
              testing::Each(0));
  EXPECT_THAT(unpack(conv, {0x7FF0000000000000, 0x7FF0000000000000}, {.word = WordReading::numeric_cast}).values,
              ElementsAre(255, 255, 255, 65535, 65535));
}

TEST(FaultyChoices, LoseWhatTheirNamesSay) {
  const Layout& conv = named("conv2d:gen2");
  const auto word = [&](const Values& values, const PackRules& rules) { return pack(conv, values, rules).value(); };
  EXPECT_EQ(word({3, 3, -1, 0, 8}, {.range = RangeRule::negative_passes})[0], ~std::uint64_t{0});
  EXPECT_FALSE(pack(conv, Values{3, 3, 256, 0, 8}, {.range = RangeRule::negative_passes}));
  EXPECT_EQ(word({3, 3, 1, 1, 65536}, {.range = RangeRule::cut_off})[1], 0x10000U);
  // 40000·2^16 is negative as an int.
  EXPECT_EQ(word({3, 3, 1, 40000, 8}, {.arithmetic = PackArithmetic::int32})[1], 0xFFFFFFFF9C400008U);
  EXPECT_EQ(word({3, 3, 1, 0, 8}, {.arithmetic = PackArithmetic::as_numbers})[0],
            std::bit_cast<std::uint64_t>(197377.0));
  EXPECT_EQ(pack(named("conv2d:gen1"), Values{2, 1, 1}, {.arithmetic = PackArithmetic::int32}).value()[0], 3U);
  EXPECT_EQ(pack(named("cat:gen3"), Values{as_value(1.0)}, {.plain = PlainPacking::as_bits}).value()[0], 1U);
  EXPECT_THAT(unpack(conv, {0x030301, 65600}, {.word = WordReading::through_f32}).values, testing::Each(0));
  EXPECT_THAT(unpack(conv, {0x030301, 65600}, {.word = WordReading::flushed}).values, testing::Each(0));
  EXPECT_THAT(unpack(conv, {0x030301, 65600}, {.field = FieldReading::unmasked}).values,
              ElementsAre(3, 0x303, 0x30301, 1, 65600));
  EXPECT_THAT(unpack(conv, {0xFF0301, 65600}, {.field = FieldReading::sign_extended}).values,
              ElementsAre(-1, 3, 1, 1, 64));
  EXPECT_THAT(unpack(named("linear:gen3"), {0x500000003, 0}, {.field = FieldReading::shifts_modulo_32}).values,
              ElementsAre(3, 0, 3));
}

TEST(FieldText, IsReadBackAsTheValueItWas) {
  for (const Layout& layout : all_layouts())
    for (const Field& field : layout.fields)
      for (const std::int64_t value : edge_values(field)) {
        if (!field.holds(value)) continue;
        EXPECT_EQ(parse_field(field, field_text(field, value)), value) << field_text(field, value);
      }
  EXPECT_THAT(parse_field(named("conv2d:gen2").fields[2], "1.0").error().text(), HasSubstr("0..255"));
  EXPECT_THAT(parse_field(named("dropout:gen3").fields[0], "x").error().text(), HasSubstr("0.0 to 1.0"));
}

/// Sets a locale, a rounding mode and flush-to-zero for this thread; puts them back.
class Disturbed {
 public:
  Disturbed(locale_t locale, int rounding, bool flush) : locale_(uselocale(locale)), rounding_(std::fegetround()) {
    std::fesetround(rounding);
    set_flushing(flush);
  }
  ~Disturbed() {
    set_flushing(false);
    std::fesetround(rounding_);
    uselocale(locale_);
  }
  Disturbed(const Disturbed&) = delete;
  Disturbed& operator=(const Disturbed&) = delete;

 private:
  static void set_flushing([[maybe_unused]] bool flush) {
#if defined(__x86_64__)
    constexpr unsigned kFlushing = 0x8040;  // FTZ and DAZ
    _mm_setcsr((_mm_getcsr() & ~kFlushing) | (flush ? kFlushing : 0));
#endif
  }
  locale_t locale_;
  int rounding_;
};

TEST(Packing, EveryFieldSurvivesTextUnderEveryRoundingModeFlushToZeroAndACommaLocale) {
  const locale_t comma = newlocale(LC_ALL_MASK, "de_DE.UTF-8", nullptr);
  std::size_t sent = 0;
  for (const locale_t locale : {newlocale(LC_ALL_MASK, "C", nullptr), comma}) {
    if (locale == nullptr) continue;  // no de_DE.UTF-8; ci/install generates it
    for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
      for (const bool flush : {false, true})
        for (const Layout& layout : all_layouts())
          for (std::size_t i = 0; i < layout.fields.size(); ++i)
            for (const std::int64_t value : edge_values(layout.fields[i])) {
              Values values;
              for (const Field& field : layout.fields)
                values.push_back(field.plain() ? as_value(1.0) : 3 & field.largest());
              values[i] = value;
              Values back;
              bool packed = false;
              {
                const Disturbed disturbed(locale, rounding, flush);
                const Result<PackedWords> words = pack(layout, values);
                packed = words.has_value();
                PackedWords read{};
                for (std::size_t w = 0; packed && w < kPackedWords; ++w) {
                  const NumberForm form = number_form((*words)[w]);
                  read[w] = form.number ? parse_number(*form.number).value() : parse_bits(*form.bits).value();
                }
                if (packed) back = unpack(layout, read).values;
              }
              ASSERT_EQ(packed, oracle::packed(layout.id(), values).has_value()) << layout.id();
              if (!packed) continue;
              ASSERT_EQ(back, values) << layout.id() << " mode " << rounding << (flush ? " flushed" : "");
              ++sent;
            }
    freelocale(locale);
  }
  EXPECT_GT(sent, 2000U);
}

TEST(Execution, AZeroFieldIsPackableButNotExecutableExceptPadding) {
  const Layout& conv = named("conv2d:gen2");
  EXPECT_EQ(not_executable_because(conv, Values{3, 3, 1, 0, 64}), "");
  EXPECT_EQ(not_executable_because(conv, Values{3, 3, 0, 0, 64}), "stride is 0");
  EXPECT_EQ(not_executable_because(conv, Values{0, 3, 1, 0, 64}), "kernel_h is 0");
  EXPECT_EQ(not_executable_because(conv, Values{3, 3, 1, 0, 0}), "out_channels is 0");
  EXPECT_EQ(not_executable_because(named("conv2d:gen3"), Values{0, 3, 3, 1, 0, 8}), "");
  EXPECT_EQ(not_executable_because(named("depthwiseConv1d:gen3"), Values{8, 3, 0}), "channels is 0");
}

TEST(ParamsOracle, HasNoAnswerForAnUnknownLayout) {
  EXPECT_FALSE(oracle::packed("conv2d", Values{3, 3, 1, 1, 64}));
  EXPECT_FALSE(oracle::packed("conv2d:gen2", Values{3, 3, 1, 1}));
  EXPECT_FALSE(oracle::unpacked("conv2d:gen4", {0, 0}));
  EXPECT_FALSE(oracle::unpacked("maxpool2d:gen2 avgpool2d:gen2", {0, 0}));
  EXPECT_FALSE(oracle::field_sizes(""));
}

}  // namespace
}  // namespace packcheck::test
