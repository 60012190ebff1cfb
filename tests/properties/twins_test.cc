// The laws can fail: every faulty twin is caught with the corpus empty, every law catches one, and
// the true reference holds them all.
#include "subjects/reference/twins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "properties/engines/engines.h"
#include "tests/properties/samples.h"

namespace packcheck {
void PrintTo(const Twin& twin, std::ostream* out) { *out << twin.name; }
void PrintTo(const Law& law, std::ostream* out) { *out << law.id; }
}  // namespace packcheck

namespace packcheck::test {
namespace {

RunOptions quick() {
  RunOptions options;
  options.effort = effort_of_profile("quick").value();
  return options;
}

/// Whether the case still breaks the law where it did.
bool breaks_at(const Law& law, Subject& subject, const Case& c, const std::string& place) {
  const Verdict verdict = law.check(subject, c);
  return verdict.ruling == Ruling::broken && std::any_of(verdict.breaches.begin(), verdict.breaches.end(),
                                                         [&](const Breach& b) { return b.place == place; });
}

class EveryTwin : public testing::TestWithParam<Twin> {};

TEST_P(EveryTwin, IsCaughtByTheLawItNamesWithACaseThatReadsBackAndBreaksItAgain) {
  const Twin& twin = GetParam();
  const Law& law = *law_named(twin.law).value();
  const auto subject = make_twin(twin.name);
  ASSERT_NE(subject, nullptr);
  const LawResult result = run_law(law, *subject, CorpusStore(), quick());
  EXPECT_EQ(result.ruling, Ruling::broken);
  ASSERT_FALSE(result.findings.empty());
  const auto reference = make_reference();
  for (const Finding& finding : result.findings) {
    const Result<Case> c = law.case_type->from_json(finding.case_json);
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_TRUE(breaks_at(law, *subject, *c, finding.breach.place)) << finding.case_json;
    EXPECT_NE(law.check(*reference, *c).ruling, Ruling::broken) << finding.case_json;
    EXPECT_NE(finding.breach.expected, finding.breach.actual);
    EXPECT_FALSE(finding.breach.input.empty());
    EXPECT_FALSE(finding.breach.why.empty());
  }
}

TEST_P(EveryTwin, DeclaresNothingButWhatTheReferenceDeclares) {
  const auto subject = make_twin(GetParam().name);
  EXPECT_EQ(subject->info().name, "twin:" + std::string(GetParam().name));
  const SubjectInfo reference = reference_info();
  EXPECT_FALSE(subject->info().declarations.empty());
  for (const Declaration& d : subject->info().declarations) {
    const Declaration* same = reference.find(d.operation, d.variant);
    ASSERT_NE(same, nullptr) << d.text();
    EXPECT_EQ(d.text(), same->text());
  }
}

INSTANTIATE_TEST_SUITE_P(Twins, EveryTwin, testing::ValuesIn(all_twins().begin(), all_twins().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Twins, AreKnownByTheirNamesOnly) {
  EXPECT_EQ(make_twin("reference"), nullptr);
  EXPECT_EQ(make_twin(""), nullptr);
}

class EveryLaw : public testing::TestWithParam<Law> {};

TEST_P(EveryLaw, HoldsForTheReference) {
  const auto reference = make_reference();
  const LawResult result = run_law(GetParam(), *reference, CorpusStore(), quick());
  EXPECT_EQ(result.ruling, Ruling::holds) << result.reason;
  for (const Finding& finding : result.findings) ADD_FAILURE() << finding.signature() << " " << finding.case_json;
}

TEST_P(EveryLaw, CanFailBecauseATwinBreaksIt) {
  const Law& law = GetParam();
  std::vector<Twin> twins(all_twins().begin(), all_twins().end());
  // Likely ones first: those that name this law, then those that name one of its family.
  const std::string family = law.id.substr(0, law.id.find('.'));
  std::stable_sort(twins.begin(), twins.end(), [&](const Twin& a, const Twin& b) {
    const auto distance = [&](const Twin& t) { return t.law == law.id ? 0 : t.law.rfind(family, 0) == 0 ? 1 : 2; };
    return distance(a) < distance(b);
  });
  RunOptions options = quick();
  options.most_findings = 1;
  const bool caught = std::any_of(twins.begin(), twins.end(), [&](const Twin& twin) {
    return run_law(law, *make_twin(twin.name), CorpusStore(), options).ruling == Ruling::broken;
  });
  EXPECT_TRUE(caught) << "no twin breaks " << law.id;
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLaw, testing::ValuesIn(all_laws()),
                         [](const auto& test) { return as_test_name(test.param.id); });

TEST(Laws, HaveIdsOfTheirOwnASentenceAndVariantsForTheReference) {
  std::vector<std::string> ids;
  const SubjectInfo reference = reference_info();
  for (const Law& law : all_laws()) {
    ids.push_back(law.id);
    EXPECT_FALSE(law.sentence.empty()) << law.id;
    EXPECT_FALSE(law.variants(reference).empty()) << law.id;
    EXPECT_EQ(law_named(law.id).value(), &law);
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(Laws, AreFoundByGlobAndAnUnknownOneIsRefusedWithTheKnownOnes) {
  EXPECT_EQ(laws_matching("*")->size(), all_laws().size());
  EXPECT_EQ(laws_matching("params.*")->size(), 5U);
  EXPECT_EQ(laws_matching("text.printing_is_exac?")->size(), 1U);
  EXPECT_EQ(laws_matching("*_is_exact")->size(), 2U);
  for (const char* glob : {"", "params", "nothing.*", "?", "text.printing_is_exact?"})
    EXPECT_THAT(laws_matching(glob).error().text(), testing::HasSubstr("text.printing_is_exact")) << glob;
  EXPECT_THAT(law_named("text.nothing").error().text(), testing::HasSubstr("unknown law 'text.nothing'"));
}

}  // namespace
}  // namespace packcheck::test
