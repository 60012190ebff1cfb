// A law that proves nothing is no success: every report says so, and the run fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/report.h"
#include "cli/results.h"
#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;
using testing::Not;

VerifyResult with_law(const std::string& bad_test) {
  LawResult law{"text.printing_is_exact", "reference", Ruling::holds, {}, {"json"}, {}, {}};
  law.tallies[static_cast<std::size_t>(Engine::property)].cases = 500;
  law.tallies[static_cast<std::size_t>(Engine::property)].checked = 493;
  law.tallies[static_cast<std::size_t>(Engine::property)].not_applicable = 7;
  law.classes = {{"a subnormal", 500, bad_test.empty() ? 40U : 0U}};
  law.bad_test = bad_test;
  // As it comes from a job process.
  const Result<LawResult> read = law_result_from_json(law_result_to_json(law));
  EXPECT_TRUE(read);
  VerifyResult result{"0", "gate", 1, false, {}};
  result.subjects.push_back({"reference", "reference", "1", {}, false, {*read}, {}});
  return result;
}

constexpr const char* kWhy = "none of 500 drawn cases has a subnormal";

TEST(BadTestReports, FailTheRunThoughTheLawHolds) {
  EXPECT_TRUE(with_law("").good());
  VerifyResult bad = with_law(kWhy);
  EXPECT_FALSE(bad.good());
  EXPECT_EQ(bad.finding_count(), 0U);
  bad.compared_with_expected = true;
  EXPECT_FALSE(bad.good());
}

TEST(BadTestReports, NameTheLawTheSubjectAndTheClassThatIsMissing) {
  const VerifyResult bad = with_law(kWhy);
  const std::string line = std::string("text.printing_is_exact, reference: ") + kWhy;
  EXPECT_THAT(summary_text(bad), HasSubstr("BAD TEST " + line));
  EXPECT_THAT(summary_text(bad), Not(HasSubstr("All laws hold")));
  EXPECT_THAT(report_markdown(bad), HasSubstr("**Bad test**: " + line));
  const Json row = Json::parse(report_json(bad)).at("verdicts").at(0);
  EXPECT_EQ(row.at("bad_test"), kWhy);
  EXPECT_EQ(row.at("drawn").at("a subnormal"), (Json{{"cases", 500}, {"with", 0}}));
  const std::string junit = report_junit(bad);
  EXPECT_THAT(junit, HasSubstr("failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr(kWhy));
}

TEST(BadTestReports, OfASoundLawShowTheDistributionAndWhatDidNotApply) {
  const VerifyResult sound = with_law("");
  EXPECT_THAT(summary_text(sound), HasSubstr("All laws hold"));
  EXPECT_EQ(Json::parse(report_json(sound)).at("verdicts").at(0).at("drawn").at("a subnormal").at("with"), 40);
  const std::string junit = report_junit(sound);
  EXPECT_THAT(junit, HasSubstr("failures=\"0\""));
  EXPECT_THAT(junit, HasSubstr("<property name=\"drawn cases with a subnormal\" value=\"40\""));
  EXPECT_THAT(junit, HasSubstr("<property name=\"drawn cases that do not apply\" value=\"7\""));
}

}  // namespace
}  // namespace packcheck::test
