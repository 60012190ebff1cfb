// lib: subjects. Each way to misbehave is a library of its own; the worker reports it, and the next
// call works again.
#include "subjects/process/native_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

#include "subjects/include/packcheck/subject.h"
#include "subjects/process/mailbox.h"
#include "subjects/process/messages.h"
#include "tests/process/requests.h"

namespace packcheck {
namespace {

using ::testing::HasSubstr;

std::string misbehaving(const std::string& what) {
  return std::string(PACKCHECK_MISBEHAVING_DIRECTORY) + "/lib" + what + ".so";
}

std::unique_ptr<Subject> open_or_fail(const std::string& what, const CallLimits& limits = kPatient) {
  Result<std::unique_ptr<Subject>> subject = open_native_subject(misbehaving(what), limits);
  EXPECT_TRUE(subject) << subject.error().text();
  return subject ? std::move(*subject) : nullptr;
}

struct Misbehaviour {
  std::string what;
  Request request;
  Outcome outcome;
  std::string message;
  CallLimits limits = kPatient;

  friend std::ostream& operator<<(std::ostream& out, const Misbehaviour& m) { return out << m.what; }
};
class MisbehavingLibrary : public ::testing::TestWithParam<Misbehaviour> {};

TEST_P(MisbehavingLibrary, IsReportedAndTheNextCallWorks) {
  const Misbehaviour& m = GetParam();
  const auto subject = open_or_fail(m.what, m.limits);
  ASSERT_NE(subject, nullptr);
  expect_good_answer(*subject);
  for (int time = 0; time < 2; ++time) {
    expect_reply(subject->call(m.request), m.outcome, m.message);
    expect_good_answer(*subject);
  }
}

TEST_P(MisbehavingLibrary, IsReportedInABatchAsInSingleCalls) {
  const Misbehaviour& m = GetParam();
  const auto subject = open_or_fail(m.what, m.limits);
  ASSERT_NE(subject, nullptr);
  const std::vector<Request> requests{good_request(), print_request(0), m.request, good_request(), m.request};
  const std::vector<Reply> replies = subject->call_batch(requests);
  ASSERT_EQ(replies.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(replies[i], subject->call(requests[i])) << i;
  expect_reply(replies[2], m.outcome, m.message);
}

INSTANTIATE_TEST_SUITE_P(
    NativeSubject, MisbehavingLibrary,
    ::testing::Values(
        Misbehaviour{"segfault", bad_request(), Outcome::crashed, "SIGSEGV"},
        Misbehaviour{"abort", bad_request(), Outcome::crashed, "SIGABRT"},
        Misbehaviour{"exit_3", bad_request(), Outcome::crashed, "exit status 3"},
        Misbehaviour{"write_input", bad_request(), Outcome::crashed, "SIGSEGV"},
        Misbehaviour{"read_past_input", bad_request(), Outcome::crashed, "SIGSEGV"},
        Misbehaviour{"write_far_past", bad_request(), Outcome::crashed, "SIGSEGV"},
        Misbehaviour{"loop_for_ever", bad_request(), Outcome::hung, "no answer within the call limit", kImpatient},
        Misbehaviour{"eat_memory", bad_request(), Outcome::out_of_memory, "grew past the memory limit", kSmall},
        Misbehaviour{"eat_memory_and_give_it_back", bad_request(), Outcome::out_of_memory, "grew past the memory limit",
                     kTiny},
        Misbehaviour{"write_past", bad_request(), Outcome::overran, "output: byte 1 after its 8 bytes"},
        Misbehaviour{"write_before", bad_request(), Outcome::overran, "output: byte 3 before its 8 bytes"},
        Misbehaviour{"write_past_message", bad_request(), Outcome::overran,
                     "error message: byte 1 after its 256 bytes"},
        Misbehaviour{"leave_unwritten", bad_request(), Outcome::left_unwritten, "byte 4 of 8 is the first"},
        Misbehaviour{"text_unwritten", print_request(0x0BAD), Outcome::left_unwritten, "byte 24 of 123 is the first"},
        Misbehaviour{"size_unwritten", print_request(0x0BAD), Outcome::left_unwritten, "byte 0 of 8 is the first"},
        Misbehaviour{"message_without_nul", bad_request(), Outcome::broke_protocol,
                     "the error message is not NUL-terminated"},
        Misbehaviour{"garbage_code", bad_request(), Outcome::broke_protocol, "returned the unknown code 42"},
        Misbehaviour{"size_past_capacity", print_request(0x0BAD), Outcome::broke_protocol,
                     "print gave size 513 with capacity 512"},
        Misbehaviour{"rounding_mode", bad_request(), Outcome::broke_protocol,
                     "left the floating-point environment changed"},
        Misbehaviour{"unprintable_message", bad_request(), Outcome::refused, "line?stray ?, fine é"}),
    [](const auto& parameter) { return parameter.param.what; });

Request tensor_request(const std::string& handle) {
  return {Operation::repack_tensor,
          {"dense(f16)", "target=dense(bf16) form=- dtype=f16 shape=2 strides=- offset=0 handle=" + handle +
                             " region=0,4 resolver=1\n\x01\x3C\x02\x3C"}};
}

TEST(NativeSubject, ARefusalThatReadsTheFileFirstAndDeniesItIsACrash) {
  const auto liar = open_or_fail("read_before_refusing");
  const auto honest = open_or_fail("refuse_unread");
  ASSERT_NE(liar, nullptr);
  ASSERT_NE(honest, nullptr);
  for (const char* const handle : {"file", "device"}) {
    expect_reply(liar->call(tensor_request(handle)), Outcome::crashed, "SIGSEGV");
    EXPECT_EQ(honest->call(tensor_request(handle)).outcome, Outcome::answered) << handle;
  }
  // What is in memory may be read: the resolver was not asked.
  EXPECT_EQ(liar->call(tensor_request("owned")).outcome, Outcome::answered);
}

TEST(NativeSubject, FlushToZeroLeftBehindIsReportedWhereTheHardwareHasIt) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the library sets MXCSR";
#endif
  const auto subject = open_or_fail("flush_to_zero");
  ASSERT_NE(subject, nullptr);
  expect_reply(subject->call(bad_request()), Outcome::broke_protocol, "left the floating-point environment changed");
}

TEST(NativeSubject, ALibraryMayChangeTheFloatingPointEnvironmentWhileItIsLoaded) {
  const auto subject = open_or_fail("flush_to_zero_when_loaded");
  ASSERT_NE(subject, nullptr);
  expect_good_answer(*subject);
  const Reply subnormal = subject->call(print_request(1));
  EXPECT_EQ(subnormal.parts, std::vector<std::string>{"4.9406564584124654e-324"}) << "flush to zero would print 0";
}

TEST(NativeSubject, WhatALibraryPrintsReachesNobody) {
  const auto subject = open_or_fail("write_standard_output");
  ASSERT_NE(subject, nullptr);
  testing::internal::CaptureStdout();
  EXPECT_EQ(subject->call(bad_request()).outcome, Outcome::answered);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(NativeSubject, ALeakThatAddsUpOverCallsReachesTheMemoryLimit) {
  const auto subject = open_or_fail("large_leak", kSmall);
  ASSERT_NE(subject, nullptr);
  int answered = 0;
  while (answered < 8 && subject->call(bad_request()).outcome == Outcome::answered) ++answered;
  EXPECT_GE(answered, 1);
  EXPECT_LE(answered, 3) << "20 MiB are kept in each call, and 64 are allowed";
  expect_good_answer(*subject);
}

TEST(NativeSubject, MemoryThatThisProcessHasFreedIsNoRoomForTheLibrary) {
  // Freed memory stays in the heap, since a block of this size was freed before and another lies above it.
  constexpr std::size_t kBytes = std::size_t{24} << 20;
  { const std::string raises_the_threshold_of_mmap(kBytes, 'x'); }
  auto freed = std::make_unique<std::string>(kBytes, 'x');
  const std::string above(1000, 'x');
  freed.reset();
  for (const std::string what : {"large_leak", "eat_memory_and_give_it_back"}) {
    const auto subject = open_or_fail(what, kTiny);
    ASSERT_NE(subject, nullptr);
    expect_reply(subject->call(bad_request()), Outcome::out_of_memory, "grew past the memory limit");
  }
}

TEST(NativeSubject, ASlowLeakIsMeasuredInBytesPerCall) {
  const auto subject = open_or_fail("slow_leak");
  ASSERT_NE(subject, nullptr);
  const Result<std::uint64_t> leaking = subject->bytes_kept_per_call(bad_request(), 50, 500);
  ASSERT_TRUE(leaking) << leaking.error().text();
  EXPECT_GE(*leaking, 100U);
  EXPECT_LE(*leaking, 200U);
  const Result<std::uint64_t> clean = subject->bytes_kept_per_call(good_request(), 50, 500);
  ASSERT_TRUE(clean) << clean.error().text();
  EXPECT_EQ(*clean, 0U);
}

TEST(NativeSubject, AFaultDuringTheLeakProbeIsAnError) {
  const auto subject = open_or_fail("segfault");
  ASSERT_NE(subject, nullptr);
  EXPECT_EQ(subject->bytes_kept_per_call(bad_request(), 1, 1).error().text(), "crashed: SIGSEGV");
  EXPECT_THAT(subject->bytes_kept_per_call(good_request(), 1, 0).error().text(), HasSubstr("no repeats"));
  EXPECT_THAT(subject->bytes_kept_per_call({Operation::parse, {"1"}}, 1, 1).error().text(), HasSubstr("skipped"));
  expect_good_answer(*subject);
}

TEST(NativeSubject, WhatALibraryLacksIsSkipped) {
  const auto subject = open_or_fail("none");
  ASSERT_NE(subject, nullptr);
  for (const Request& request : {Request{Operation::parse, {"1"}}, Request{Operation::repack, {"f16", "f32", "xx"}},
                                 Request{Operation::repack, {"f8", "f32", "x"}}, Request{Operation::print, {"short"}},
                                 Request{Operation::repack, {"f16"}}})
    EXPECT_EQ(outcome_name(subject->call(request).outcome), "skipped") << operation_name(request.operation);
}

TEST(NativeSubject, EmptyAndLargeInputsAreAnswered) {
  const auto subject = open_or_fail("none");
  ASSERT_NE(subject, nullptr);
  EXPECT_EQ(subject->call(repack_request({})).parts, std::vector<std::string>{""});
  const Reply large = subject->call(repack_request(std::vector<std::uint16_t>(3000000, 0x3F80)));
  ASSERT_EQ(large.outcome, Outcome::answered) << large.message;
  EXPECT_EQ(large.parts[0].size(), 12000000U);
}

TEST(NativeSubject, ManyRequestsInOneBatchAreAnsweredInOrder) {
  const auto subject = open_or_fail("none");
  ASSERT_NE(subject, nullptr);
  std::vector<Request> requests;
  for (std::uint16_t i = 0; i < 3000; ++i) requests.push_back(repack_request({i}));
  requests[2000] = repack_request(std::vector<std::uint16_t>(1000000, 7));
  const std::vector<Reply> replies = subject->call_batch(requests);
  ASSERT_EQ(replies.size(), requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i == 0x0BAD || i == 2000) continue;
    const std::string expected{0, 0, static_cast<char>(i & 0xFF), static_cast<char>(i >> 8)};
    ASSERT_EQ(replies[i].parts, std::vector<std::string>{expected}) << i;
  }
  EXPECT_EQ(replies[2000].parts.at(0).size(), 4000000U);
}

TEST(NativeSubject, ACopyOfTheProcessMadeByForkHasAWorkerOfItsOwn) {
  auto subject = open_or_fail("none");
  ASSERT_NE(subject, nullptr);
  const pid_t copy = fork();
  if (copy == 0) {
    const bool answered = subject->call(good_request()).outcome == Outcome::answered;
    subject.reset();  // must leave the worker of the original alone
    _exit(answered ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  EXPECT_EQ(status, 0);
  expect_good_answer(*subject);
}

TEST(NativeSubject, ALargerTableOfALaterVersionIsAccepted) {
  const auto subject = open_or_fail("large_table");
  ASSERT_NE(subject, nullptr);
  EXPECT_EQ(subject->info().name, "misbehaving");
  expect_good_answer(*subject);
}

struct LoadError {
  std::string what;
  std::string complaint;

  friend std::ostream& operator<<(std::ostream& out, const LoadError& m) { return out << m.what; }
};
class UnloadableLibrary : public ::testing::TestWithParam<LoadError> {};

TEST_P(UnloadableLibrary, IsAnErrorThatSaysWhy) {
  const auto subject = open_native_subject(misbehaving(GetParam().what), kPatient);
  ASSERT_FALSE(subject);
  EXPECT_THAT(subject.error().text(), HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    NativeSubject, UnloadableLibrary,
    ::testing::Values(
        LoadError{"crash_in_constructor", "while it started: crashed: SIGABRT"},
        LoadError{"exit_in_constructor", "while it started: crashed: exit status 4"},
        LoadError{"no_entry_point", "packcheck_subject_v1: no entry point"},
        LoadError{"null_table", "packcheck_subject_v1: returned NULL"},
        LoadError{"small_table", "struct_size is " + std::to_string(offsetof(packcheck_subject, affine_dequantize))},
        LoadError{"bad_name", "name is 'no spaces, please'"}, LoadError{"undeclared_function", "print is not declared"},
        LoadError{"unknown_declaration", "unknown variant 'f8->f32'"}, LoadError{"declared_twice", "declared twice"},
        LoadError{"null_function", "parse is declared but NULL"}, LoadError{"that_does_not_exist", "no such file"}),
    [](const auto& parameter) { return parameter.param.what; });

TEST(NativeSubject, AFileThatIsNoLibraryIsAnError) {
  const std::string path = testing::TempDir() + "packcheck_no_library_" + std::to_string(getpid()) + ".so";
  std::ofstream(path) << "just text, longer than the header of a library, so that its first bytes are looked at";
  const auto subject = open_native_subject(path, kPatient);
  ASSERT_FALSE(subject);
  EXPECT_THAT(subject.error().text(), HasSubstr("cannot be loaded"));
  unlink(path.c_str());
}

/// A request for the repacking of `count` numbers, its arguments owned here.
struct LargeRepack {
  explicit LargeRepack(std::size_t count, std::uint16_t last = 0x3F80) : owned(repack_request({})) {
    std::vector<std::uint16_t> elements(count, 0x4049);
    if (count > 0) elements.back() = last;
    owned = repack_request(elements);
    arguments.assign(owned.arguments.begin(), owned.arguments.end());
  }
  [[nodiscard]] RequestView view() const { return {owned.operation, arguments}; }
  Request owned;
  std::vector<std::string_view> arguments;
};

TEST(NativeSubject, AnswersArraysOfEverySizeInPlaceAsThroughThePipe) {
  const auto subject = open_or_fail("none");
  ASSERT_NE(subject, nullptr);
  // Around the sizes where the request, then the reply, goes into the mailbox, and where they no longer fit.
  constexpr std::size_t kLeast = Mailbox::kLeast;
  constexpr std::size_t kMost = Mailbox::kMost;
  for (const std::size_t count : {std::size_t{1}, kLeast / 4 - 8, kLeast / 4, kLeast / 2 - 20, kLeast / 2, kLeast,
                                  kMost / 4 - 8, kMost / 4 + 8, kMost / 2 - 20, kMost / 2 + 20}) {
    const LargeRepack large(count);
    const Reply by_pipe = subject->call(large.owned);
    ASSERT_EQ(outcome_name(by_pipe.outcome), "answered") << count << " " << by_pipe.message;
    ASSERT_EQ(by_pipe.parts.at(0).size(), 4 * count);
    const Reply in_place = subject->call_in_place(large.view());
    EXPECT_TRUE(in_place == by_pipe) << count;
    expect_good_answer(*subject);
  }
}

TEST(NativeSubject, AFaultInAnArrayInPlaceIsReportedAndTheNextCallWorks) {
  const LargeRepack bad(Mailbox::kLeast, 0x0BAD);
  const LargeRepack good(Mailbox::kLeast);
  for (const char* const what : {"segfault", "leave_unwritten", "write_past"}) {
    const auto subject = open_or_fail(what);
    ASSERT_NE(subject, nullptr);
    const Reply expected = subject->call(bad.owned);
    EXPECT_TRUE(is_fault(expected.outcome)) << what;
    for (int time = 0; time < 2; ++time) {
      EXPECT_TRUE(subject->call_in_place(bad.view()) == expected) << what;
      EXPECT_EQ(outcome_name(subject->call_in_place(good.view()).outcome), "answered") << what;
    }
  }
}

TEST(Mailbox, KnowsItsNotesFromEverythingElse) {
  const Mailbox box;
  ASSERT_TRUE(box.takes(Mailbox::kLeast));
  EXPECT_EQ(box.noted(Mailbox::note(Mailbox::kLeast)), Mailbox::kLeast);
  EXPECT_EQ(box.noted(Mailbox::note(Mailbox::kMost)), Mailbox::kMost);
  EXPECT_EQ(box.noted(Mailbox::note(Mailbox::kLeast - 1)), std::nullopt);
  EXPECT_EQ(box.noted(Mailbox::note(Mailbox::kMost + 1)), std::nullopt);
  EXPECT_EQ(box.noted(Mailbox::note(Mailbox::kLeast) + "x"), std::nullopt);
  EXPECT_EQ(box.noted(encode_hello_request()), std::nullopt);
  EXPECT_EQ(box.noted(""), std::nullopt);
}

}  // namespace
}  // namespace packcheck
