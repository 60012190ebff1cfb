// Integers packed in doubles: words worked out by hand, and core against oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <set>

#include "core/params/layout.h"
#include "properties/oracles/params_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::vector<std::int64_t>;

const Layout& named(std::string_view id) { return **layout_named(id); }

TEST(Layouts, HaveFieldsThatFitTheirWordAndDoNotOverlap) {
  std::set<std::string> ids;
  for (const Layout& layout : all_layouts()) {
    EXPECT_TRUE(ids.insert(layout.id()).second) << layout.id() << " is there twice";
    PackedWords taken{};
    std::set<std::string_view> names;
    for (const Field& field : layout.fields) {
      ASSERT_LT(field.word, kPackedWords) << layout.id();
      ASSERT_GT(field.width, 0U) << layout.id();
      ASSERT_LE(field.shift + field.width, 64U) << layout.id() << " " << field.name;
      ASSERT_LT(field.width, 63U) << "the largest value fits an int64";
      const std::uint64_t mask = static_cast<std::uint64_t>(field.largest()) << field.shift;
      EXPECT_EQ(taken[field.word] & mask, 0U) << layout.id() << " " << field.name;
      taken[field.word] |= mask;
      EXPECT_TRUE(names.insert(field.name).second) << layout.id() << " " << field.name;
    }
  }
}

TEST(Layouts, AreFoundByTheirFullNameOrByTheirOperator) {
  for (const Layout& layout : all_layouts()) EXPECT_EQ(*layout_named(layout.id()), &layout);
  EXPECT_EQ(*layout_named("conv2d"), &named("conv2d:gen2"));
  EXPECT_THAT(layout_named("conv3d").error().text(), HasSubstr("conv2d:gen2, maxpool2d:gen2"));
}

TEST(Layouts, AgreeWithTheOraclesTableOfPlaceValues) {
  for (const Layout& layout : all_layouts()) {
    const Values sizes = oracle::field_sizes(layout.id()).value();
    ASSERT_EQ(sizes.size(), layout.fields.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(layout.fields[i].largest() + 1, sizes[i]) << layout.id() << " " << layout.fields[i].name;
      Values one(sizes.size(), 0);
      one[i] = 1;
      EXPECT_EQ(pack(layout, one).value(), oracle::packed(layout.id(), one)) << layout.fields[i].name;
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
  const Values largest{255, 255, 255, 65535, 65535};
  EXPECT_THAT(pack(named("conv2d:gen2"), largest).value(), ElementsAre(0xFFFFFF, 0xFFFFFFFF));
}

/// Values at the ends and the middle of a field.
Values edge_values(std::int64_t size) { return {0, 1, 2, size / 2 - 1, size / 2, size - 2, size - 1}; }

TEST(Packing, EveryCombinationOfEdgeValuesGivesTheOraclesWordsAndComesBack) {
  for (const Layout& layout : all_layouts()) {
    const Values sizes = oracle::field_sizes(layout.id()).value();
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) combinations *= 7;
    for (std::size_t n = 0; n < combinations; ++n) {
      Values values;
      std::size_t rest = n;
      for (const std::int64_t size : sizes) {
        values.push_back(edge_values(size)[rest % 7]);
        rest /= 7;
      }
      const PackedWords words = pack(layout, values).value();
      ASSERT_EQ(words, oracle::packed(layout.id(), values));
      const Unpacked back = unpack(layout, words);
      ASSERT_EQ(back.values, values);
      ASSERT_EQ(oracle::unpacked(layout.id(), words), values);
      ASSERT_THAT(back.ignored, ElementsAre(0, 0));
    }
  }
}

TEST(Unpacking, AnyTwoWordsGiveTheOraclesFieldsAndTheRestIsReported) {
  Random random(51);
  for (const Layout& layout : all_layouts()) {
    for (int i = 0; i < 100000; ++i) {
      const PackedWords words{random.bits() >> random.below(64), random.bits() >> random.below(64)};
      const Unpacked fields = unpack(layout, words);
      ASSERT_EQ(fields.values, oracle::unpacked(layout.id(), words)) << hex(words[0]) << " " << hex(words[1]);
      const PackedWords known = pack(layout, fields.values).value();
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
      const std::int64_t limit = layout.fields[i].largest();
      for (const std::int64_t wrong : {std::int64_t{-1}, limit + 1, std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max()}) {
        Values values(layout.fields.size(), 1);
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
    return unpack(conv, pack(conv, values, RangeRule::or_overflow).value()).values;
  };
  EXPECT_THAT(back({2, 256, 1, 0, 8}), ElementsAre(3, 0, 1, 0, 8));
  EXPECT_THAT(back({3, 256, 1, 0, 8}), ElementsAre(3, 0, 1, 0, 8));
  EXPECT_THAT(back({3, 3, 256, 0, 8}), ElementsAre(3, 3, 0, 0, 8));
  EXPECT_THAT(back({3, 3, 1, 0, 65536}), ElementsAre(3, 3, 1, 1, 0));
}

TEST(Unpacking, ANumericCastOfASubnormalLosesEveryField) {
  const Layout& conv = named("conv2d:gen2");
  EXPECT_THAT(unpack(conv, {0x030301, 65600}, WordReading::numeric_cast).values, testing::Each(0));
  // The double 197377.0: its value has the fields, its bits don't.
  const PackedWords number{std::bit_cast<std::uint64_t>(197377.0), 0};
  EXPECT_THAT(unpack(conv, number, WordReading::numeric_cast).values, ElementsAre(3, 3, 1, 0, 0));
  EXPECT_THAT(unpack(conv, number).values, testing::Not(ElementsAre(3, 3, 1, 0, 0)));
  // NaN and negative give 0, as Rust's saturating cast does; infinity gives all ones.
  EXPECT_THAT(unpack(conv, {0x7FF8000000000000, 0xC000000000000000}, WordReading::numeric_cast).values,
              testing::Each(0));
  EXPECT_THAT(unpack(conv, {0x7FF0000000000000, 0x7FF0000000000000}, WordReading::numeric_cast).values,
              ElementsAre(255, 255, 255, 65535, 65535));
}

TEST(Execution, AZeroFieldIsPackableButNotExecutableExceptPadding) {
  const Layout& conv = named("conv2d:gen2");
  EXPECT_EQ(not_executable_because(conv, Values{3, 3, 1, 0, 64}), "");
  EXPECT_EQ(not_executable_because(conv, Values{3, 3, 0, 0, 64}), "stride is 0");
  EXPECT_EQ(not_executable_because(conv, Values{0, 3, 1, 0, 64}), "kernel_h is 0");
  EXPECT_EQ(not_executable_because(conv, Values{3, 3, 1, 0, 0}), "out_channels is 0");
}

TEST(ParamsOracle, HasNoAnswerForAnUnknownLayout) {
  EXPECT_FALSE(oracle::packed("conv2d", Values{3, 3, 1, 1, 64}));
  EXPECT_FALSE(oracle::packed("conv2d:gen2", Values{3, 3, 1, 1}));
  EXPECT_FALSE(oracle::unpacked("conv2d:gen3", {0, 0}));
  EXPECT_FALSE(oracle::field_sizes(""));
}

}  // namespace
}  // namespace packcheck::test
