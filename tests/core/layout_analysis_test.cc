// core/params/analysis: what the table says of each word, against packing every value and looking.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/params/analysis.h"
#include "properties/checks/double_class.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using testing::IsEmpty;

const WordSpan span_of(std::string_view id, std::size_t word) { return analyse(**layout_named(id))[word]; }

TEST(LayoutAnalysis, EveryLayoutOfTheTableIsSound) {
  for (const Layout& layout : all_layouts()) {
    EXPECT_THAT(faults_of(layout), IsEmpty()) << layout.id() << ": " << faults_of(layout).front().text();
    for (const WordSpan& span : analyse(layout)) EXPECT_EQ(span.overlapping, 0U) << layout.id();
  }
}

TEST(LayoutAnalysis, FindsTheFaultsOfAnUnsoundTable) {
  const auto fault = [](std::vector<Field> fields) {
    const Layout layout{"test", "x", fields};
    const std::vector<Error> faults = faults_of(layout);
    return faults.empty() ? std::string() : faults.front().what;
  };
  EXPECT_EQ(fault({{"a", 0, 0, 8}, {"b", 0, 8, 8}}), "");
  EXPECT_EQ(fault({{"a", 0, 0, 8}, {"b", 0, 7, 8}}), "shares bits with another field");
  EXPECT_EQ(fault({{"a", 0, 0, 8}, {"a", 0, 8, 8}}), "the name appears twice");
  EXPECT_EQ(fault({{"a", 0, 60, 8}}), "lies outside its word");
  EXPECT_EQ(fault({{"a", 2, 0, 8}}), "lies outside its word");
  EXPECT_EQ(fault({{"a", 0, 0, 0}}), "lies outside its word");
  EXPECT_EQ(fault({{"a", 0, 0, 64}}), "lies outside its word");
  EXPECT_EQ(fault({{"a", 1, 0, 64, FieldKind::number}, {"b", 1, 0, 8}}), "shares bits with another field");
  const std::vector<Field> overlap{{"a", 0, 0, 8}, {"b", 0, 6, 8}};
  EXPECT_EQ(analyse({"test", "x", overlap})[0].overlapping, 0xC0U);
}

TEST(LayoutAnalysis, SaysWhatPackingEveryValueOfASmallLayoutShows) {
  Random random(71);
  for (int trial = 0; trial < 200; ++trial) {
    // One to three fields of one to four bits, mostly about the exponent; the whole exponent in every fourth trial.
    std::vector<Field> fields;
    if (trial % 4 == 0) fields.push_back({"exponent", 0, 52, 11});
    const std::size_t count = fields.size() + 1 + random.below(2);
    while (fields.size() < count) {
      const auto width = static_cast<unsigned>(1 + random.below(2));
      fields.push_back({"f", 0, static_cast<unsigned>(random.below(65 - width)), width});
    }
    const Layout layout{"test", "x", fields};
    std::array<std::optional<std::uint64_t>, kDoubleClasses> smallest{};
    std::uint64_t seen = 0;
    std::size_t combinations = 1;
    for (const Field& field : fields) combinations <<= field.width;
    for (std::size_t n = 0; n < combinations; ++n) {
      std::vector<std::int64_t> values;
      std::size_t rest = n;
      for (const Field& field : fields) {
        values.push_back(static_cast<std::int64_t>(rest) & field.largest());
        rest >>= field.width;
      }
      const std::uint64_t word = pack(layout, values, {.range = RangeRule::or_overflow}).value()[0];
      const DoubleClass observed = observed_class(word);
      ASSERT_EQ(double_class(word), observed) << hex(word);
      ASSERT_EQ(pack(layout, values).has_value(), observed < DoubleClass::infinity) << hex(word);
      auto& least = smallest[static_cast<std::size_t>(observed)];
      if (!least || word < *least) least = word;
      seen |= word;
    }
    const WordSpan span = analyse(layout)[0];
    for (std::size_t c = 0; c < kDoubleClasses; ++c)
      ASSERT_EQ(span.smallest[c], smallest[c]) << double_class_name(static_cast<DoubleClass>(c));
    ASSERT_EQ(span.covered, seen);
    ASSERT_EQ(span.gaps, ~seen);
    ASSERT_EQ(span.can_be_negative, seen >> 63 != 0);
  }
}

TEST(LayoutAnalysis, TheSeedsLayoutIsAlwaysSubnormalAndLaterOnesAreNot) {
  for (const char* id : {"conv2d:gen2", "maxpool2d:gen2", "maxpool2d:gen3", "maxpool2d:stale", "gridSample:gen3",
                         "trapezoidalScan:gen3", "mha:gen3", "linear:gen3", "batchNorm2d:gen3", "layerNorm:gen3"}) {
    const WordSpan span = span_of(id, 0);
    EXPECT_TRUE(span.can_be(DoubleClass::zero)) << id;
    EXPECT_TRUE(span.can_be(DoubleClass::subnormal)) << id;
    EXPECT_FALSE(span.can_be(DoubleClass::normal)) << id;
    EXPECT_FALSE(span.can_be_negative) << id;
  }
  // A dilation of 4097, a height of 2^20, a length of 2^36.
  EXPECT_EQ(span_of("conv2d:gen3", 0).smallest[2], std::uint64_t{4096} << 40);
  EXPECT_EQ(span_of("interpolate:gen3", 0).smallest[2], std::uint64_t{1} << 52);
  EXPECT_EQ(span_of("depthwiseConv1d:gen3", 0).smallest[2], std::uint64_t{1} << 52);
  for (const char* id : {"conv2d:gen1", "conv2d:gen3", "interpolate:gen3", "depthwiseConv1d:gen3"}) {
    EXPECT_EQ(span_of(id, 0).smallest[3], std::uint64_t{0x7FF} << 52) << id;
    EXPECT_EQ(span_of(id, 0).smallest[4], (std::uint64_t{0x7FF} << 52) + 1) << id;
    EXPECT_TRUE(span_of(id, 0).can_be_negative) << id;
  }
  // Only dilation at bit 32: below it nothing.
  EXPECT_EQ(span_of("conv2d:gen1", 1).smallest[1], std::uint64_t{1} << 32);
  EXPECT_EQ(span_of("conv2d:gen3", 0).gaps, std::uint64_t{0xFF} << 32);
  EXPECT_EQ(span_of("conv2d:gen2", 0).gaps, ~std::uint64_t{0xFFFFFF});
}

TEST(LayoutAnalysis, APlainWordIsWhatItsKindHolds) {
  for (const Layout& layout : all_layouts()) {
    const std::array<WordSpan, kPackedWords> spans = analyse(layout);
    for (const Field& field : layout.fields) {
      if (!field.plain()) continue;
      const WordSpan& span = spans[field.word];
      EXPECT_TRUE(span.plain);
      for (std::size_t c = 0; c < kDoubleClasses; ++c) {
        if (!span.smallest[c]) continue;
        EXPECT_TRUE(field.holds(static_cast<std::int64_t>(*span.smallest[c]))) << layout.id() << " " << field.name;
        EXPECT_EQ(static_cast<std::size_t>(observed_class(*span.smallest[c])), c);
      }
      EXPECT_EQ(span.can_be(DoubleClass::subnormal), field.holds(1)) << layout.id() << " " << field.name;
      EXPECT_EQ(span.can_be_negative, field.holds(std::bit_cast<std::int64_t>(-0.5))) << layout.id();
    }
  }
}

}  // namespace
}  // namespace packcheck::test
