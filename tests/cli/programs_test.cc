// The built-in subjects that are programs, judged end to end: each has the findings that subjects/expected lists,
// and the report says who loses which packed value.
#include <gmock/gmock.h>

#include "subjects/third_party/names.h"
#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const ThirdPartySubject& subject : kThirdPartySubjects)
    if (!subject.command.empty()) names.emplace_back(subject.name);
  return names;
}

/// What the program cannot do without here; empty if everything is there.
std::string missing_for(const std::filesystem::path& folder, const std::string& name) {
  for (const ThirdPartySubject& subject : kThirdPartySubjects) {
    if (subject.name != name) continue;
    const std::string command(subject.command);
    if (command.rfind("{built}", 0) == 0)
      return std::filesystem::exists(command_path().parent_path() / "subjects" / name) ? ""
                                                                                       : "this build has no " + name;
    const std::string first = command.substr(0, command.find(' '));
    return shell(folder, "command -v " + first).status == 0 ? "" : "no " + first + " on the PATH";
  }
  return "no such subject";
}

class BuiltInProgram : public CommandTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_for(folder(), GetParam()); !missing.empty()) GTEST_SKIP() << missing;
  }
};

TEST_P(BuiltInProgram, HasTheFindingsThatAreListedAndNoOthers) {
  const std::string source = PACKCHECK_SOURCE_DIRECTORY;
  const Ran ran = run(
      {"verify", "--subject", GetParam(), "--expected", source + "/subjects/expected", "--corpus", source + "/corpus"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const Json report = Json::parse(text_of(folder() / "packcheck-report/report.json"));
  EXPECT_EQ(report["subjects"][0]["name"], GetParam());
  EXPECT_EQ(report["subjects"][0]["absent"], "") << "it did not start";
  EXPECT_EQ(report["packed_losses"].size(), GetParam() == "half" ? 0U : 1U) << "half has no text";
}

INSTANTIATE_TEST_SUITE_P(Subjects, BuiltInProgram, testing::ValuesIn(program_names()),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           std::string name = parameter.param;
                           for (char& letter : name)
                             if (letter == '-') letter = '_';
                           return name;
                         });

class Programs : public CommandTest {};

TEST_F(Programs, SerdeJsonFirstLosesAPackedValueOf28Bits) {
  if (const std::string missing = missing_for(folder(), "serde_json"); !missing.empty()) GTEST_SKIP() << missing;
  const std::string source = PACKCHECK_SOURCE_DIRECTORY;
  const Ran ran = run({"verify", "--subject", "serde_json", "--law", "text.packed*", "--corpus", source + "/corpus"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(text_of(folder() / "packcheck-report/report.md"),
              HasSubstr("| serde_json | 179926783 (0x0ab976ff) | 8.8895642e-316 | 179926782 (0x0ab976fe) |"));
  EXPECT_THAT(text_of(folder() / "packcheck-report/report.html"), HasSubstr("<td>179926783 (0x0ab976ff)</td>"));
}

TEST_F(Programs, AreAbsentWhereTheirCommandIs) {
  const Ran ran = shell(folder(), "PATH=/nowhere " + command_path().string() + " subjects --json");
  ASSERT_EQ(ran.status, 0) << ran.err;
  std::size_t absent = 0;
  for (const Json& row : ran.json())
    for (const char* const name : {"java", "node", "python", "python-json"})
      if (row["subject"] == name) absent += row["absent"].is_string() ? 1 : 0;
  EXPECT_EQ(absent, 4U);
  EXPECT_THAT(ran.out, HasSubstr("no command 'java' here"));
}

TEST_F(Programs, HaveAWorkerOrNoneAtAll) {
  const Ran ran =
      run({"sweep", "format.widening_is_exact", "--from", "f16", "--to", "f32", "--subject", "python", "--in-process"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("a program, with --in-process"));
}

}  // namespace
}  // namespace packcheck::test
