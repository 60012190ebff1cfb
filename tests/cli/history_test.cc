// Findings whose case alone shows nothing: the subject answers wrongly only after many calls.
#include <gmock/gmock.h>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A program that answers its first twenty repacks rightly and all others wrongly.
std::string tiring_subject() {
  return std::string("exec:python3 ") + PACKCHECK_SOURCE_DIRECTORY + "/tests/process/misbehaving_program.py tire";
}

class History : public CommandTest {
 protected:
  [[nodiscard]] Json broken_row() const {
    const Ran ran = run({"verify", "--subject", tiring_subject(), "--law", "storage.repack_keeps_every_value",
                         "--corpus", "none", "--max-findings", "1", "--jobs", "1", "--json"});
    EXPECT_EQ(ran.status, 1) << ran.err;
    const Json report = ran.json();
    for (const Json& row : report["verdicts"])
      if (row["verdict"] == "broken") return row;
    ADD_FAILURE() << ran.out;
    return {};
  }
};

TEST_F(History, AFindingThatTheCaseAloneDoesNotShowRepeatsTheSearch) {
  const Json row = broken_row();
  EXPECT_EQ(row["depends_on_earlier_calls"], true);
  EXPECT_THAT(row["why"].get<std::string>(), HasSubstr("depends on earlier calls"));
  const std::string line = row["reproduce"];
  EXPECT_THAT(line, AllOf(StartsWith("packcheck verify --subject"), HasSubstr("--seed 1"), HasSubstr("--corpus none")));
  const Ran again = shell(folder(), line);
  EXPECT_EQ(again.status, 1) << line << "\n" << again.err;
  EXPECT_THAT(again.out, HasSubstr(row["signature"].get<std::string>()));
}

TEST_F(History, AFindingThatTheCaseAloneShowsCarriesTheCase) {
  const Ran ran = run({"verify", "--subject", "twin:numeric_cast", "--law", "params.unpack_inverts_pack", "--corpus",
                       "none", "--max-findings", "1", "--json"});
  const Json report = ran.json();
  ASSERT_EQ(report["findings"], 1);
  for (const Json& row : report["verdicts"]) {
    EXPECT_EQ(row["depends_on_earlier_calls"], false);
    EXPECT_THAT(row["reproduce"].get<std::string>(), StartsWith("packcheck repro"));
    EXPECT_THAT(row["why"].get<std::string>(), Not(HasSubstr("earlier calls")));
  }
}

TEST_F(History, ACaseThatBreaksItsLawOnlyAfterOthersDoesNotEnterTheCorpus) {
  const std::string file = (folder() / "packcheck-report" / "findings").string();
  (void)broken_row();
  const Ran imported =
      shell(folder(), "packcheck corpus import --corpus kept --law storage.repack_keeps_every_value --subject '" +
                          tiring_subject() + "' packcheck-report/findings/*.json");
  EXPECT_EQ(imported.status, 1) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("not imported"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "kept" / "repack" / "crashing"));
}

}  // namespace
}  // namespace packcheck::test
