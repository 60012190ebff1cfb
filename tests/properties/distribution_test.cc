// A law whose cases never go where bugs live is a bad test, and every generator goes there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"
#include "properties/cases/products.h"
#include "properties/engines/engines.h"
#include "subjects/reference/reference.h"
#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

class EveryDeclaredClass : public testing::TestWithParam<TypeAndVariant> {};

TEST_P(EveryDeclaredClass, OccursAgainAndAgainInDrawnCasesOfTheVariant) {
  constexpr int kDraws = 240;
  const auto& [type, variant] = GetParam();
  const std::vector<std::string_view> names = type->classes(variant);
  std::vector<int> occurred(names.size());
  for (std::uint64_t seed = 0; seed < kDraws && !names.empty(); ++seed) {
    const std::uint64_t members = type->classes_of(random_case(*type, variant, seed));
    EXPECT_EQ(members >> names.size(), 0U) << "a bit without a name";
    for (std::size_t i = 0; i < names.size(); ++i) occurred[i] += static_cast<int>(members >> i & 1);
  }
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_GE(occurred[i], 2) << names[i];
}

/// What a generator of conversions draws depends on the source alone.
std::vector<TypeAndVariant> one_of_each_generator() {
  std::vector<TypeAndVariant> variants = all_variants();
  variants.erase(std::remove_if(variants.begin(), variants.end(),
                                [](const TypeAndVariant& v) {
                                  const bool pair = v.variant.find("->") != std::string::npos;
                                  return pair && v.variant.find("->f32") == std::string::npos &&
                                         v.variant != "f32->f16";
                                }),
                 variants.end());
  return variants;
}

INSTANTIATE_TEST_SUITE_P(Generators, EveryDeclaredClass, testing::ValuesIn(one_of_each_generator()), name_of_variant);

TEST(Products, AreDrawnWithEveryGroupFormatOfScalesAndOrderTogetherInEachWidth) {
  for (const char* variant :
       {"affine2:f32", "affine3:f32", "affine4:f32", "affine5:f32", "affine6:f32", "affine8:f32"}) {
    std::map<std::string, int> drawn;
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
      const Case c = random_case(product_cases, variant, seed);
      const ProductRequest& r = c.as<ProductCase>().request;
      EXPECT_EQ(r.variant(), variant);
      ++drawn[std::to_string(r.group_size)
                  .append(" ")
                  .append(spec(r.scale_format).name)
                  .append(" ")
                  .append(sum_order_name(r.order))];
    }
    EXPECT_EQ(drawn.size(), 3U * 3 * 4) << variant;
    for (const auto& [what, count] : drawn) EXPECT_GE(count, 2) << variant << " " << what;
  }
}

/// Numbers from 0 to 15, of which it says that some are large and some odd.
class SmallNumbers final : public TypedCaseType<NumberCase> {
 public:
  using TypedCaseType::TypedCaseType;
  NumberCase draw_value(Source& source, std::string_view) const override { return {source.below(16)}; }
  std::string variant_of(const NumberCase&) const override { return "json"; }
  Json write(const NumberCase& c) const override { return {{"bits", c.bits}}; }
  Result<NumberCase> read(MemberReader& members) const override { return NumberCase{members.hex("bits", 64)}; }
  std::size_t payload(const NumberCase&) const override { return 8; }
  std::vector<std::string_view> classes(std::string_view) const override { return {"an odd number", "a large number"}; }
  std::uint64_t members(const NumberCase& c) const override { return member_bits({c.bits % 2 == 1, c.bits > 1000}); }
};

LawResult judged_with(int cases) {
  static const SmallNumbers type("small");
  const Law law = make_law<NumberCase>(
      "test.small", "", {}, type, [](const SubjectInfo&) { return std::vector<std::string>{"json"}; },
      [](Subject&, const NumberCase&) {
        Judge judge;
        judge.add_checked(1);
        return std::move(judge).verdict();
      });
  RunOptions options;
  options.effort = {.sweep_inputs = 10, .enumerated_cases = 10, .property_cases = cases, .fuzz_inputs = 10};
  const auto reference = make_reference();
  return run_law(law, *reference, CorpusStore(), options);
}

TEST(BadTests, AreLawsWhoseManyCasesNeverHaveWhatTheirTypeDeclares) {
  const LawResult result = judged_with(400);
  EXPECT_EQ(result.ruling, Ruling::holds);
  EXPECT_EQ(result.bad_test, "none of 400 drawn cases has a large number");
  ASSERT_EQ(result.classes.size(), 2U);
  EXPECT_EQ(result.classes[0].drawn, 400U);
  EXPECT_GT(result.classes[0].occurred, 100U);
  EXPECT_EQ(result.classes[1].occurred, 0U);
}

TEST(BadTests, AreNotFoundInAFewCases) { EXPECT_EQ(judged_with(399).bad_test, ""); }

TEST(BadTests, NoLawIsForTheReference) {
  // One law of each type of case; the others of the type draw from the same generator.
  const auto reference = make_reference();
  RunOptions options;
  options.effort = effort_of_profile("quick").value();
  options.engines = {false, false, true, false};
  for (const char* id : {"text.printing_is_exact", "text.parsing_is_correctly_rounded", "params.unpack_inverts_pack",
                         "params.unpack_reads_each_field_from_its_place", "storage.repack_keeps_every_value",
                         "affine.dequantize_reads_scales_in_their_dtype_and_group"}) {
    const LawResult result = run_law(*law_named(id).value(), *reference, CorpusStore(), options);
    EXPECT_EQ(result.bad_test, "") << id;
    EXPECT_FALSE(result.classes.empty()) << id;
    for (const CaseClass& c : result.classes) EXPECT_GE(c.drawn, 400U) << id << " " << c.name;
  }
}

TEST(Seeds, NoTwoLawsSeeTheSameCasesThoughTheyDrawFromOneGenerator) {
  std::vector<std::vector<std::uint64_t>> seen;
  const auto reference = make_reference();
  for (const char* id : {"test.one", "test.two"}) {
    std::vector<std::uint64_t>& numbers = seen.emplace_back();
    const Law law{id,
                  "",
                  {},
                  &number_cases,
                  [](const SubjectInfo&) { return std::vector<std::string>{"json"}; },
                  [&numbers](Subject&, const Case& c) {
                    numbers.push_back(c.as<NumberCase>().bits);
                    Judge judge;
                    judge.add_checked(1);
                    return std::move(judge).verdict();
                  }};
    Hunt hunt(law, *reference, "json");
    run_property(hunt, 1, 100);
    ASSERT_EQ(numbers.size(), 100U);
  }
  EXPECT_NE(seen[0], seen[1]);
}

TEST(Digest, LeavesOutWhatTheClockDecides) {
  const auto reference = make_reference();
  const Law& law = *law_named("text.printing_is_exact").value();
  RunOptions options;
  options.effort = {.sweep_inputs = 10, .enumerated_cases = 10, .property_cases = 20, .fuzz_inputs = 20};
  const LawResult counted = run_law(law, *reference, CorpusStore(), options);
  options.until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  const LawResult timed = run_law(law, *reference, CorpusStore(), options);
  for (std::size_t i = 0; i < kEngineCount; ++i) EXPECT_EQ(timed.tallies[i].digest, counted.tallies[i].digest);
}

}  // namespace
}  // namespace packcheck::test
