// Known answers of the JSON libraries through their adapters, the wrong ones included.
#include <gtest/gtest.h>

#include "tests/third_party/loaded.h"

namespace packcheck::third_party_test {
namespace {

constexpr std::uint64_t kPackedKernel = 0x0000000000030301;  // 3 x 3, stride 1: a subnormal double
constexpr std::uint64_t kQuietNan = 0x7FF8000000000000;
constexpr std::uint64_t kInfinity = 0x7FF0000000000000;

class JsonSubject : public testing::TestWithParam<const char*> {};

TEST_P(JsonSubject, PrintsAPackedParameterAsTextThatReadsBack) {
  PACKCHECK_LOAD_OR_SKIP(json, GetParam());
  const Said printed = print(*json.table, kPackedKernel);
  ASSERT_EQ(printed.code, PACKCHECK_OK) << printed.text;
  const Said parsed = parse(*json.table, printed.text);
  ASSERT_EQ(parsed.code, PACKCHECK_OK) << parsed.text;
  EXPECT_EQ(parsed.bits, kPackedKernel) << printed.text;
}

TEST_P(JsonSubject, RefusesWhatStartsLikeNoNumberAndSaysWhy) {
  PACKCHECK_LOAD_OR_SKIP(json, GetParam());
  for (const char* text : {"", "NaN", "\"5\"", "null", "true", "[1]"}) {
    const Said parsed = parse(*json.table, text);
    EXPECT_EQ(parsed.code, PACKCHECK_REFUSED) << text;
    EXPECT_FALSE(parsed.text.empty()) << text;
  }
}

class StrictJsonSubject : public JsonSubject {};

TEST_P(StrictJsonSubject, RefusesWhatIsNoFiniteNumberAndSaysWhy) {
  PACKCHECK_LOAD_OR_SKIP(json, GetParam());
  for (const char* text : {"1e999", "1 2", "1.", "+1", "-Infinity"}) {
    const Said parsed = parse(*json.table, text);
    EXPECT_EQ(parsed.code, PACKCHECK_REFUSED) << text;
    EXPECT_FALSE(parsed.text.empty()) << text;
  }
}

TEST_P(JsonSubject, ReadsIntegersAsDoubles) {
  PACKCHECK_LOAD_OR_SKIP(json, GetParam());
  EXPECT_EQ(parse(*json.table, "197377").bits, 0x4108180800000000U);
  EXPECT_EQ(parse(*json.table, "-5").bits, 0xC014000000000000U);
}

std::string test_name(const testing::TestParamInfo<const char*>& parameter) {
  const std::string name = parameter.param;
  return name.substr(0, name.find('-')) + (name.find('-') == std::string::npos ? "" : "_full");
}

INSTANTIATE_TEST_SUITE_P(Subjects, JsonSubject,
                         testing::Values("nlohmann_json", "rapidjson", "rapidjson-full", "jansson", "jsoncpp", "cjson"),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Subjects, StrictJsonSubject,
                         testing::Values("nlohmann_json", "rapidjson", "rapidjson-full", "jansson"), test_name);

TEST(NlohmannJson, LosesTheSignOfMinusZeroAndPrintsNanAsNull) {
  PACKCHECK_LOAD_OR_SKIP(json, "nlohmann_json");
  EXPECT_EQ(parse(*json.table, "-0").bits, 0U);
  EXPECT_EQ(parse(*json.table, "-0.0").bits, 0x8000000000000000U);
  const Said printed = print(*json.table, kQuietNan);
  EXPECT_EQ(printed.code, PACKCHECK_OK);
  EXPECT_EQ(printed.text, "null");
}

TEST(RapidJson, IsOffByOneUnitUnlessAskedForFullPrecision) {
  PACKCHECK_LOAD_OR_SKIP(fast, "rapidjson");
  PACKCHECK_LOAD_OR_SKIP(full, "rapidjson-full");
  EXPECT_EQ(parse(*fast.table, "8.8895642e-316").bits, 0x0AB976FEU);
  EXPECT_EQ(parse(*full.table, "8.8895642e-316").bits, 0x0AB976FFU);
}

TEST(RapidJson, RefusesToPrintWhatJsonCannotSay) {
  PACKCHECK_LOAD_OR_SKIP(json, "rapidjson");
  EXPECT_EQ(print(*json.table, kQuietNan).code, PACKCHECK_REFUSED);
  EXPECT_EQ(print(*json.table, kInfinity).code, PACKCHECK_REFUSED);
}

TEST(Simdjson, ReadsPackedParametersAndLosesTheSignOfMinusZero) {
  PACKCHECK_LOAD_OR_SKIP(json, "simdjson");
  EXPECT_EQ(parse(*json.table, "9.7517E-319").bits, kPackedKernel);
  EXPECT_EQ(parse(*json.table, "-0").bits, 0U);
  EXPECT_EQ(parse(*json.table, "18446744073709551616").code, PACKCHECK_REFUSED);
  for (const char* text : {"", "1e999", "NaN", "null", "\"5\"", "1 2", "1.", "+1", "01"})
    EXPECT_EQ(parse(*json.table, text).code, PACKCHECK_REFUSED) << text;
}

TEST(Jansson, RefusesIntegersThatNo64BitsHold) {
  PACKCHECK_LOAD_OR_SKIP(json, "jansson");
  EXPECT_EQ(parse(*json.table, "9223372036854775808").code, PACKCHECK_REFUSED);
  EXPECT_EQ(parse(*json.table, "9223372036854775808.0").bits, 0x43E0000000000000U);
  EXPECT_EQ(print(*json.table, kQuietNan).code, PACKCHECK_REFUSED);
}

TEST(JsonCpp, WritesInfinityAsANumberThatIsTooLarge) {
  PACKCHECK_LOAD_OR_SKIP(json, "jsoncpp");
  EXPECT_EQ(print(*json.table, kInfinity).text, "1e+9999");
  EXPECT_EQ(print(*json.table, kQuietNan).text, "null");
  const Said minus = parse(*json.table, "-inf");  // the sign alone is its number
  EXPECT_EQ(minus.code, PACKCHECK_OK);
  EXPECT_EQ(minus.bits, 0U);
}

TEST(CJson, PrintsFifteenDigitsWhereSeventeenAreNeeded) {
  PACKCHECK_LOAD_OR_SKIP(json, "cjson");
  EXPECT_EQ(print(*json.table, 0x3FD3333333333334).text, "0.3");  // 0.30000000000000004
  EXPECT_EQ(print(*json.table, kInfinity).text, "null");
  EXPECT_EQ(parse(*json.table, "1 2").bits, 0x3FF0000000000000U);
}

}  // namespace
}  // namespace packcheck::third_party_test
