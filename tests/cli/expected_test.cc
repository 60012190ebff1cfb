// packcheck verify --expected: a subject breaks exactly what its list says.
#include <gmock/gmock.h>

#include <set>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kFirstLine = "packcheck-expected 1\n";

class Expected : public CommandTest {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder() / "expected"); }
  [[nodiscard]] Ran verify(const std::string& subject, const std::string& law = "text.*") const {
    return run({"verify", "--corpus", "none", "--law", law, "--subject", subject, "--expected", "expected", "--json"});
  }
  void list(const std::string& text) const { files().write("expected/reference", text); }
};

struct BadList {
  const char* name;
  std::string text;
  std::vector<std::string> message;
};
void PrintTo(const BadList& l, std::ostream* out) { *out << l.name; }

class BrokenList : public Expected, public testing::WithParamInterface<BadList> {};

TEST_P(BrokenList, IsBadInput) {
  list(GetParam().text);
  const Ran ran = verify("reference", "text.printing_is_exact");
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("expected/reference"));
  for (const std::string& part : GetParam().message) EXPECT_THAT(ran.err, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(
    Expected, BrokenList,
    testing::Values(
        BadList{"empty", "", {"first line", "packcheck-expected 1"}},
        BadList{"later_version", "packcheck-expected 2\n", {"packcheck-expected 2", "packcheck-expected 1"}},
        BadList{"no_first_line", "text.printing_is_exact json normal\n", {"first line"}},
        BadList{"unknown_law", std::string(kFirstLine) + "\ntext.nothing json\n", {":3", "unknown law 'text.nothing'"}},
        BadList{
            "double_line",
            std::string(kFirstLine) + "text.printing_is_exact json normal\ntext.printing_is_exact json normal # 2\n",
            {":3", "twice"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Expected, TheReferenceIsExpectedToHoldEverything) {
  EXPECT_EQ(verify("reference").status, 0);
  list(std::string(kFirstLine) + "# nothing is expected\n");
  EXPECT_EQ(verify("reference").status, 0);
}

TEST_F(Expected, AListedFindingThatIsNotFoundFails) {
  list(std::string(kFirstLine) + "text.printing_is_exact json normal\n");
  const Ran ran = verify("reference");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.json()["subjects"][0]["unexpected"][0].get<std::string>(),
              HasSubstr("listed, but not found: text.printing_is_exact json normal"));
  EXPECT_EQ(verify("reference", "params.*").status, 0) << "a law that was not run says nothing";
}

TEST_F(Expected, ATwinIsExpectedToBeCaughtByItsLaw) {
  EXPECT_EQ(verify("twin:six_digits").status, 0);
  const Ran missed = verify("twin:six_digits", "text.parsing_is_correctly_rounded");
  EXPECT_EQ(missed.status, 0) << "its law was not run";
}

TEST_F(Expected, AThirdPartySubjectBreaksExactlyItsList) {
  if (!has_subject("nlohmann_json")) GTEST_SKIP() << "this build has no subject nlohmann_json";
  const Ran unlisted = verify("nlohmann_json");
  EXPECT_EQ(unlisted.status, 1);
  std::set<std::string> signatures;
  const Json report = unlisted.json();
  for (const Json& row : report["verdicts"])
    if (row["verdict"] == "broken") signatures.insert(row["signature"].get<std::string>());
  ASSERT_FALSE(signatures.empty());
  const Json first_run = report["subjects"][0]["unexpected"];
  EXPECT_EQ(first_run.size(), signatures.size());
  EXPECT_THAT(first_run[0].get<std::string>(), HasSubstr("new finding: "));
  std::string exact = kFirstLine;
  for (const std::string& signature : signatures) exact += signature + "  # known\n";
  files().write("expected/nlohmann_json", exact);
  const Ran listed = verify("nlohmann_json");
  EXPECT_EQ(listed.status, 0) << listed.json()["subjects"];
  EXPECT_EQ(listed.json()["good"], true);
  files().write("expected/nlohmann_json", exact + "text.printing_is_exact json nowhere\n");
  EXPECT_EQ(verify("nlohmann_json").status, 1) << "a listed finding that passes";
  const std::string without_one = kFirstLine + exact.substr(exact.find('\n', exact.find('\n') + 1) + 1);
  files().write("expected/nlohmann_json", without_one);
  const Ran new_one = verify("nlohmann_json");
  EXPECT_EQ(new_one.status, 1);
  EXPECT_EQ(new_one.json()["subjects"][0]["unexpected"].size(), 1U);
  EXPECT_THAT(new_one.json()["subjects"][0]["unexpected"][0].get<std::string>(),
              AllOf(HasSubstr("new finding: "), HasSubstr(*signatures.begin())));
}

}  // namespace
}  // namespace packcheck::test
