// exec: subjects. Each way to misbehave is an argument of one program; the reply says what happened,
// and the next call works again.
#include "subjects/process/program_subject.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "subjects/process/native_subject.h"
#include "tests/process/requests.h"

namespace packcheck {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kShortStart = 300;

/// A command line; the scripts leave no compiled files beside them.
std::string misbehaving(const std::string& what) {
  return std::string(PACKCHECK_PYTHON) + " -B " + PACKCHECK_SOURCE_DIRECTORY +
         "/tests/process/misbehaving_program.py " + what;
}

std::unique_ptr<Subject> open_or_fail(const std::string& what, const CallLimits& limits = kPatient) {
  Result<std::unique_ptr<Subject>> subject =
      open_program_subject(misbehaving(what), limits, kPatient.timeout_milliseconds);
  EXPECT_TRUE(subject) << subject.error().text();
  return subject ? std::move(*subject) : nullptr;
}

std::string temporary_file(const std::string& name) {
  std::string path = testing::TempDir() + "packcheck_" + name + "_" + std::to_string(getpid());
  unlink(path.c_str());
  return path;
}

struct Misbehaviour {
  std::string what;
  Outcome outcome;
  std::string message;
  CallLimits limits = kPatient;

  friend std::ostream& operator<<(std::ostream& out, const Misbehaviour& m) { return out << m.what; }
};
class MisbehavingProgram : public ::testing::TestWithParam<Misbehaviour> {};

TEST_P(MisbehavingProgram, IsReportedAndTheNextCallWorks) {
  const Misbehaviour& m = GetParam();
  const auto subject = open_or_fail(m.what, m.limits);
  ASSERT_NE(subject, nullptr);
  expect_good_answer(*subject);
  for (int time = 0; time < 2; ++time) {
    expect_reply(subject->call(bad_request()), m.outcome, m.message);
    expect_good_answer(*subject);
  }
}

TEST_P(MisbehavingProgram, IsReportedInABatchAsInSingleCalls) {
  const Misbehaviour& m = GetParam();
  const auto subject = open_or_fail(m.what, m.limits);
  ASSERT_NE(subject, nullptr);
  const std::vector<Request> requests{good_request(), print_request(0), bad_request(), good_request()};
  const std::vector<Reply> replies = subject->call_batch(requests);
  ASSERT_EQ(replies.size(), requests.size());
  EXPECT_EQ(replies[0].parts, std::vector<std::string>{kGoodAnswer});
  EXPECT_EQ(outcome_name(replies[1].outcome), "skipped");
  expect_reply(replies[2], m.outcome, m.message);
  EXPECT_EQ(replies[3].parts, std::vector<std::string>{kGoodAnswer});
}

const std::string kNoFrame =
    "not a frame, or one of more than 268435456 bytes; expected a 4-byte little-endian length; does something else "
    "write to standard output?";

INSTANTIATE_TEST_SUITE_P(
    ProgramSubject, MisbehavingProgram,
    ::testing::Values(
        Misbehaviour{"exit", Outcome::crashed, "exit status 7"},  //
        Misbehaviour{"abort", Outcome::crashed, "SIGABRT"},
        Misbehaviour{"die_leaving_a_child", Outcome::crashed, "exit status 5"},
        Misbehaviour{"hang", Outcome::hung, "no answer within the call limit", {1000, kPatient.memory_bytes}},
        Misbehaviour{"eat_memory", Outcome::out_of_memory, "grew past the memory limit", kSmall},
        Misbehaviour{"print_garbage", Outcome::broke_protocol, kNoFrame},
        Misbehaviour{"close_output", Outcome::broke_protocol, "closed its output without an answer"},
        Misbehaviour{"close_within_a_frame", Outcome::broke_protocol, "closed its output within a frame"},
        Misbehaviour{"send_empty_frame", Outcome::broke_protocol, "sent an empty frame"},
        Misbehaviour{"send_cut_part", Outcome::broke_protocol,
                     "part 0: length 9; expected at most the 1 bytes that are left"},
        Misbehaviour{"send_unknown_word", Outcome::broke_protocol,
                     "unknown answer 'perhaps'; expected answered, refused, skipped or error"},
        Misbehaviour{"send_two_messages", Outcome::broke_protocol, "refused: 3 parts; expected a word and a message"},
        Misbehaviour{"raise", Outcome::broke_protocol, "adapter error: KeyError: 'lost'"},
        Misbehaviour{"return_text", Outcome::broke_protocol, "adapter error: repack returned no bytes"},
        Misbehaviour{"refuse", Outcome::refused, "too bad"}, Misbehaviour{"skip", Outcome::skipped, "not this one"}),
    [](const auto& parameter) { return parameter.param.what; });

TEST(ProgramSubject, AnAnswerThatNobodyAskedForIsReportedInTheNextCall) {
  const auto subject = open_or_fail("answer_twice");
  ASSERT_NE(subject, nullptr);
  const Reply first = subject->call(bad_request());
  EXPECT_EQ(first.parts, std::vector<std::string>{"first"});
  // The second answer is on its way: whether it is there before or after the next request is sent, the
  // third call meets whole frames again.
  const Reply second = subject->call(good_request());
  EXPECT_TRUE(second.outcome == Outcome::broke_protocol || second.parts != std::vector<std::string>{kGoodAnswer});
}

TEST(ProgramSubject, AProgramThatKnowsNoBatchesIsAskedOneByOne) {
  const auto subject = open_or_fail("know_no_batches");
  ASSERT_NE(subject, nullptr);
  const std::vector<Request> requests(5, good_request());
  for (const Reply& reply : subject->call_batch(requests))
    EXPECT_EQ(reply.parts, std::vector<std::string>{kGoodAnswer});
}

class ProgramThatSpoilsBatches : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(ProgramThatSpoilsBatches, IsReportedOnceThoughSingleCallsWork) {
  const auto subject = open_or_fail(GetParam().first);
  ASSERT_NE(subject, nullptr);
  const std::vector<Reply> replies = subject->call_batch(std::vector<Request>(3, good_request()));
  ASSERT_EQ(replies.size(), 3U);
  EXPECT_EQ(replies[0].parts, std::vector<std::string>{kGoodAnswer});
  EXPECT_EQ(replies[1].parts, std::vector<std::string>{kGoodAnswer});
  EXPECT_EQ(replies[2].message, GetParam().second);
  EXPECT_TRUE(is_fault(replies[2].outcome));
}

INSTANTIATE_TEST_SUITE_P(
    ProgramSubject, ProgramThatSpoilsBatches,
    ::testing::Values(std::pair("drop_a_reply",
                                "answer to batch: wrong number of replies; expected one per request (only in a "
                                "batch of requests)"),
                      std::pair("die_of_batches", "exit status 9 (only in a batch of requests)")),
    [](const auto& parameter) { return parameter.param.first; });

class ProgramThatCannotStartAgain : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(ProgramThatCannotStartAgain, IsGivenUpAfterThreeAttempts) {
  const std::string file = temporary_file(GetParam().first);
  const auto subject = open_or_fail(GetParam().first + " " + file);
  ASSERT_NE(subject, nullptr);
  expect_good_answer(*subject);
  expect_reply(subject->call(bad_request()), Outcome::crashed, "exit status 8");
  for (int time = 0; time < 3; ++time) expect_reply(subject->call(good_request()), Outcome::crashed, GetParam().second);
  std::ifstream started(file);
  const std::string starts{std::istreambuf_iterator<char>(started), {}};
  EXPECT_EQ(starts, "started\nstarted\nstarted\nstarted\n") << "one start that worked, three that did not";
  unlink(file.c_str());
}

INSTANTIATE_TEST_SUITE_P(
    ProgramSubject, ProgramThatCannotStartAgain,
    ::testing::Values(std::pair("start_once",
                                "cannot be started again: while it started: crashed: exit status 6; expected "
                                "an answer to hello"),
                      std::pair("change_its_hello", "cannot be started again: says another hello than before")),
    [](const auto& parameter) { return parameter.param.first; });

struct StartError {
  std::string name;
  std::string command;
  std::string complaint;
  std::uint64_t start_milliseconds = kPatient.timeout_milliseconds;

  friend std::ostream& operator<<(std::ostream& out, const StartError& m) { return out << m.name; }
};
class UnusableProgram : public ::testing::TestWithParam<StartError> {};

TEST_P(UnusableProgram, IsAnErrorThatSaysWhy) {
  const StartError& e = GetParam();
  const auto subject = open_program_subject(e.command, kPatient, e.start_milliseconds);
  ASSERT_FALSE(subject);
  EXPECT_THAT(subject.error().text(), HasSubstr("exec:" + e.command));
  EXPECT_THAT(subject.error().text(), HasSubstr(e.complaint));
}

INSTANTIATE_TEST_SUITE_P(
    ProgramSubject, UnusableProgram,
    ::testing::Values(
        StartError{"missing", "packcheck-has-no-such-command", "while it started: crashed: exit status 127"},
        StartError{"empty", " ", "no command"},  //
        StartError{"silent", "true", "crashed: exit status 0"}, StartError{"echo", "cat", "answer to hello: 2 parts"},
        StartError{"text", "echo some text", "not a frame"},
        StartError{"text_of_python", misbehaving("say_hello_in_text"), "not a frame"},
        StartError{"exits", misbehaving("exit_at_start"), "crashed: exit status 6"},
        StartError{"hangs", misbehaving("hang_at_start"), "hung: no answer within the call limit", kShortStart},
        StartError{"newer", misbehaving("speak_version_2"), "speaks protocol version '2'; expected version 1"},
        StartError{"older", misbehaving("speak_version_0_only"), "protocol version '1'; expected '0'"},
        StartError{"nonsense", misbehaving("declare_nonsense"), "unknown operation 'teleport'"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(ProgramSubject, MemoryKeptPerCallIsOnlyKnownOfLibraries) {
  const auto subject = open_or_fail("none");
  ASSERT_NE(subject, nullptr);
  EXPECT_THAT(subject->bytes_kept_per_call(good_request(), 1, 1).error().text(), HasSubstr("a lib: subject"));
}

TEST(ProgramSubject, LargeRequestsAndAnswersPassThroughFullPipes) {
  const auto subject = open_or_fail("none");
  ASSERT_NE(subject, nullptr);
  const Reply reply = subject->call(repack_request(std::vector<std::uint16_t>(500000, 0x3F80)));
  ASSERT_EQ(reply.outcome, Outcome::answered) << reply.message;
  EXPECT_EQ(reply.parts.at(0).size(), 2000000U);
}

TEST(ProgramSubject, WritingToAClosedPipeDoesNotKillThisProcess) {
  std::signal(SIGPIPE, SIG_DFL);
  const auto subject = open_or_fail("close_input", {1000, kPatient.memory_bytes});
  ASSERT_NE(subject, nullptr);
  EXPECT_EQ(subject->call(bad_request()).parts, std::vector<std::string>{"last"});
  expect_reply(subject->call(good_request()), Outcome::hung, "no answer within the call limit");
  expect_good_answer(*subject);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(ProgramSubject, WhatTheProgramStartedDiesWithIt) {
  const std::string file = temporary_file("lock");
  const auto subject = open_or_fail("die_leaving_a_child " + file);
  ASSERT_NE(subject, nullptr);
  expect_reply(subject->call(bad_request()), Outcome::crashed, "exit status 5");
  const int lock = open(file.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(lock, 0);
  EXPECT_EQ(flock(lock, LOCK_EX), 0);  // waits for ever, if the child is left alive
  close(lock);
  unlink(file.c_str());
}

TEST(ProgramSubject, TheProgramDiesWithThisProcess) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that the orphan can be waited for
  const std::string file = temporary_file("orphan");
  const pid_t middle = fork();
  if (middle == 0) {
    const auto subject = open_program_subject("sh -c 'echo $$ > " + file + "; exec sleep 1000'", kPatient, 60000);
    _exit(0);
  }
  pid_t program = 0;
  while (program == 0) {
    std::ifstream written(file);
    if (!(written >> program)) poll(nullptr, 0, 5);
  }
  kill(middle, SIGKILL);
  ASSERT_EQ(waitpid(middle, nullptr, 0), middle);
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, 0), program);  // for ever, if nobody kills it
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  unlink(file.c_str());
}

}  // namespace
}  // namespace packcheck
