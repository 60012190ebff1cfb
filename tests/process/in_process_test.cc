// A library without a worker: what is no conversion is guarded as in one, and what is no library is refused.
#include <gtest/gtest.h>

#include "subjects/process/in_process_subject.h"
#include "tests/process/requests.h"

namespace packcheck {
namespace {

std::string library(const std::string& what) {
  return std::string(PACKCHECK_MISBEHAVING_DIRECTORY) + "/lib" + what + ".so";
}

TEST(InProcess, AnswersAndGoesOnAnswering) {
  const auto subject = open_in_process_subject(library("none"));
  ASSERT_TRUE(subject) << subject.error().text();
  expect_good_answer(**subject);
  expect_good_answer(**subject);
}

TEST(InProcess, WhatIsNoConversionGoesThroughGuardedBuffers) {
  struct Row {
    const char* what;
    Outcome outcome;
  };
  for (const Row& row : {Row{"write_past", Outcome::overran}, Row{"leave_unwritten", Outcome::left_unwritten},
                         Row{"garbage_code", Outcome::broke_protocol}, Row{"rounding_mode", Outcome::broke_protocol}}) {
    const auto subject = open_in_process_subject(library(row.what));
    ASSERT_TRUE(subject) << subject.error().text();
    const Reply reply = (*subject)->call(bad_request());
    EXPECT_EQ(outcome_name(reply.outcome), outcome_name(row.outcome)) << row.what << ": " << reply.message;
    expect_good_answer(**subject);
  }
}

TEST(InProcess, AFileThatIsNoLibraryIsRefused) {
  for (const char* path : {"/nonexistent/lib.so", __FILE__, ""}) {
    const auto subject = open_in_process_subject(path);
    ASSERT_FALSE(subject) << path;
    EXPECT_FALSE(subject.error().text().empty());
  }
}

}  // namespace
}  // namespace packcheck
