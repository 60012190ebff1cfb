// Whatever ends the process, the case that it was judging is in a file that reads back.
#include "properties/engines/running_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "properties/cases/cases.h"
#include "properties/engines/engines.h"
#include "subjects/reference/reference.h"
#include "tests/properties/temporary_folder.h"

namespace packcheck::test {
namespace {

/// Ends the process at the first double above 1: no handler, no shrinking, no report can run.
Verdict kill_at_a_large_number(Subject&, const NumberCase& c) {
  if (c.bits >> 52 == 0x400) ::kill(::getpid(), SIGKILL);
  Judge judge;
  judge.add_checked(1);
  return std::move(judge).verdict();
}

std::vector<std::string> one_variant(const SubjectInfo&) { return {"json"}; }

Law deadly_law() {
  Law law = make_law<NumberCase>("text.printing_is_exact", "", {}, number_cases, one_variant, kill_at_a_large_number);
  return law;
}

RunOptions of_engine(Engine engine) {
  RunOptions options;
  options.effort = effort_of_profile("gate").value();
  options.engines = {};
  options.engines[static_cast<std::size_t>(engine)] = true;
  options.subject_spec = "exec:./it's \"mine\"";
  return options;
}

class KilledProcess : public testing::TestWithParam<Engine> {};

TEST_P(KilledProcess, LeavesTheCaseThatItWasJudging) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "running" / "job.json";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RunOptions options = of_engine(GetParam());
    const Result<std::unique_ptr<RunningCase>> running = RunningCase::open(path);
    options.running = running->get();
    const auto reference = make_reference();
    (void)run_law(deadly_law(), *reference, CorpusStore(), options);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "no case was deadly";
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  const Result<std::vector<CaseFile>> files = read_case_file(path);
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_EQ(files->at(0).law, "text.printing_is_exact");
  EXPECT_EQ(files->at(0).subject, "exec:./it's \"mine\"");
  EXPECT_EQ(files->at(0).c.as<NumberCase>().bits >> 52, 0x400U) << "not the case that killed it";
}

INSTANTIATE_TEST_SUITE_P(Engines, KilledProcess, testing::Values(Engine::property, Engine::fuzz),
                         [](const auto& test) { return std::string(engine_name(test.param)); });

TEST(RunningCases, AShorterCaseLeavesNothingOfALongerOneAndAnEndedRunNoFile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "job.json";
  Result<std::unique_ptr<RunningCase>> running = RunningCase::open(path);
  ASSERT_TRUE(running) << running.error().text();
  const std::string head = RunningCase::head_of("text.printing_is_exact", "reference", "number");
  (*running)->mark(head, R"({"bits":"0x0000000000000001"})");
  (*running)->mark(head, R"({"bits":"0x2"})");
  const Result<std::vector<CaseFile>> files = read_case_file(path);
  ASSERT_TRUE(files) << files.error().text();
  EXPECT_EQ(files->at(0).c.as<NumberCase>().bits, 2U);
  (*running)->clear();
  EXPECT_EQ(read_file(path)->find_first_not_of(' '), std::string::npos);
  (*running)->mark(head, std::string(2U << 20, '1'));
  EXPECT_THAT(*read_file(path), testing::HasSubstr("too long"));
  running->reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(RunningCases, AreRefusedWhereNoFileCanBe) {
  EXPECT_THAT(RunningCase::open("/dev/null/job.json").error().text(), testing::HasSubstr("/dev/null"));
}

}  // namespace
}  // namespace packcheck::test
