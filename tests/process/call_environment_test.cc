// A subject under other floating-point modes or a decimal comma: the subject sees them, nobody else does.
#include "subjects/call_environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <limits>

#include "core/environment.h"
#include "subjects/process/native_subject.h"
#include "tests/process/requests.h"

namespace packcheck {
namespace {

CallEnvironment environment(const std::string& text) {
  const Result<CallEnvironment> parsed = parse_call_environment(text);
  EXPECT_TRUE(parsed) << parsed.error().text();
  return parsed.value_or(CallEnvironment{});
}

std::string refusal(const std::string& text) {
  const Result<CallEnvironment> parsed = parse_call_environment(text);
  return parsed ? "accepted" : parsed.error().what;
}

bool has_comma_locale() { return parse_call_environment("comma").has_value(); }

/// Answers what it sees of its environment.
class Witness final : public Subject {
 public:
  Reply call(const Request&) override {
    const volatile double three = 3.0;
    const volatile double tiny = std::numeric_limits<double>::denorm_min();
    Reply reply;
    reply.parts = {std::to_string(std::fegetround()), tiny * three == 0.0 ? "flushed" : "kept",
                   std::strtod("1,5", nullptr) == 1.5 ? "comma" : "point"};
    return reply;
  }
};

std::vector<std::string> seen_under(const std::string& text) {
  return make_subject_under(environment(text), std::make_unique<Witness>())->call({}).parts;
}

TEST(CallEnvironment, IsTheSubjectsAlone) {
  EXPECT_EQ(seen_under("upward"), (std::vector<std::string>{std::to_string(FE_UPWARD), "kept", "point"}));
  EXPECT_EQ(seen_under("toward-zero"), (std::vector<std::string>{std::to_string(FE_TOWARDZERO), "kept", "point"}));
#if defined(__x86_64__)
  EXPECT_EQ(seen_under("flush"), (std::vector<std::string>{std::to_string(FE_TONEAREST), "flushed", "point"}));
  EXPECT_EQ(seen_under("flush,downward"), (std::vector<std::string>{std::to_string(FE_DOWNWARD), "flushed", "point"}));
#endif
  EXPECT_TRUE(environment_is_exact());
  EXPECT_EQ(std::strtod("1.5", nullptr), 1.5);
}

TEST(CallEnvironment, MayHaveADecimalComma) {
  if (!has_comma_locale()) GTEST_SKIP() << "no locale de_DE.UTF-8";
  EXPECT_EQ(seen_under("comma"), (std::vector<std::string>{std::to_string(FE_TONEAREST), "kept", "comma"}));
  EXPECT_EQ(std::strtod("1.5", nullptr), 1.5);
}

TEST(CallEnvironment, OfEveryKindOfCall) {
  const std::unique_ptr<Subject> subject = make_subject_under(environment("upward"), std::make_unique<Witness>());
  const Request request;
  EXPECT_EQ(subject->call_batch({&request, 1})[0].parts[0], std::to_string(FE_UPWARD));
  EXPECT_EQ(subject->call_in_place({}).parts[0], std::to_string(FE_UPWARD));
}

TEST(CallEnvironment, ReachesALibraryInItsWorker) {
  const std::string folder = PACKCHECK_MISBEHAVING_DIRECTORY;
  constexpr std::uint64_t kTenth = 0x3FB999999999999A;
  const auto printed = [&](const CallEnvironment& in) {
    const auto subject = open_native_subject(folder + "/libnone.so", kPatient, in);
    EXPECT_TRUE(subject) << subject.error().text();
    const Reply reply = (*subject)->call(print_request(kTenth));
    return reply.parts.empty() ? reply.message : reply.parts[0];
  };
  EXPECT_EQ(printed({}), "0.10000000000000001");
  EXPECT_EQ(printed(environment("downward")), "0.1") << "printf follows the rounding mode";
  if (has_comma_locale()) {
    EXPECT_EQ(printed(environment("comma")), "0,10000000000000001");
  }
}

TEST(CallEnvironment, MustBeLeftAsItWas) {
  const std::string library = std::string(PACKCHECK_MISBEHAVING_DIRECTORY) + "/librounding_mode.so";
  const auto subject = open_native_subject(library, kPatient, environment("downward"));
  ASSERT_TRUE(subject) << subject.error().text();
  EXPECT_EQ(outcome_name((*subject)->call(good_request()).outcome), "answered");
  EXPECT_EQ((*subject)->call(bad_request()).outcome, Outcome::broke_protocol) << "it rounds upward from here on";
}

TEST(CallEnvironment, OtherWordsAreRefused) {
  EXPECT_EQ(refusal(""), "no condition ''");
  EXPECT_EQ(refusal("upwards"), "no condition 'upwards'");
  EXPECT_EQ(refusal("upward,"), "no condition ''");
  EXPECT_EQ(refusal("upward,downward"), "'downward' after 'upward,'");
  EXPECT_EQ(refusal("upward,upward"), "'upward' after 'upward,'");
}

}  // namespace
}  // namespace packcheck
