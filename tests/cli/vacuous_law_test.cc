// The gate is worth something only if no law can be hollowed out unseen: each law in turn gets a check that always
// holds, and the gate's step of the twins must turn red by the twins that name the law.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/twins.h"

namespace packcheck::test {
namespace {

std::vector<const Twin*> twins_that_name(const Law& law) {
  std::vector<const Twin*> twins;
  for (const Twin& twin : all_twins())
    if (twin.law == law.id) twins.push_back(&twin);
  return twins;
}

/// The step of the gate, with these twins, this law and only the property engine.
TwinTable gate_step(const Law& law, std::vector<const Twin*> twins, int cases) {
  TwinsPlan plan;
  plan.twins = std::move(twins);
  plan.laws = {&law};
  plan.run.effort.property_cases = cases;
  plan.run.engines = {false, false, true, false};
  plan.jobs = 1;
  plan.progress = false;
  Result<TwinTable> table = judge_twins(plan);
  EXPECT_TRUE(table);
  return table ? *table : TwinTable();
}

/// The same row, but whatever the subject answers is right.
Law hollow(const Law& law) {
  Law copy = law;
  copy.check = [](Subject&, const Case&) {
    Judge judge;
    judge.add_checked(1);
    return std::move(judge).verdict();
  };
  return copy;
}

class EveryLawOfTheGate : public testing::TestWithParam<std::string> {};

TEST_P(EveryLawOfTheGate, TurnsItRedWhenItsCheckAlwaysHolds) {
  const Law& law = *law_named(GetParam()).value();
  const std::vector<const Twin*> twins = twins_that_name(law);
  ASSERT_FALSE(twins.empty()) << "no twin names this law, so nothing would be missed without it";
  const int as_in_the_gate = effort_of_profile("gate")->property_cases;
  EXPECT_TRUE(std::any_of(twins.begin(), twins.end(), [&](const Twin* twin) {
    return gate_step(law, {twin}, as_in_the_gate).score() == 1.0;
  })) << "the law itself must catch a twin, or the rest of this test shows nothing";

  const Law always_holds = hollow(law);
  const TwinTable table = gate_step(always_holds, twins, 20);  // it would hold for more as well
  EXPECT_EQ(table.score(), 0.0) << "below 1 the command exits with 1, and so does the gate";
  for (const TwinRow& row : table.rows) {
    EXPECT_EQ(row.engines(), 0U) << row.twin->name;
    EXPECT_GT(row.catches[static_cast<std::size_t>(Engine::property)].cases, 0U) << "the hollow law was asked";
  }
  EXPECT_THAT(twins_text(table), testing::HasSubstr("NOT CAUGHT"));
}

std::vector<std::string> every_law() {
  std::vector<std::string> ids;
  for (const Law& law : all_laws()) ids.push_back(law.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Laws, EveryLawOfTheGate, testing::ValuesIn(every_law()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace packcheck::test
