// core/text/json_document: what a JSON text holds, and what is refused.
#include "core/text/json_document.h"

#include <gtest/gtest.h>
#include <locale.h>

#include <cfenv>
#include <fstream>
#include <sstream>

#include "tests/core/data_folder.h"

namespace packcheck {
namespace {

std::string refusal_of(std::string_view text, const JsonLimits& limits = {}) {
  const Result<JsonDocument> read = read_json(text, limits);
  return read ? "accepted" : read.error().text();
}

TEST(JsonDocument, GivesMembersAndElementsInTheOrderOfTheText) {
  const Result<JsonDocument> read = read_json(R"({"b":[1,"x",null,true],"a":{"":false}})");
  ASSERT_TRUE(read) << read.error().text();
  const JsonValue root = read->root();
  ASSERT_EQ(root.kind(), JsonKind::object);
  EXPECT_EQ(root.size(), 2U);
  std::string seen;
  for (const JsonValue member : root) {
    seen.append(member.key()).append(":");
    for (const JsonValue inner : member) {
      seen.append(json_kind_name(inner.kind())).append("(").append(inner.text()).append(")");
      if (inner.is(JsonKind::boolean)) seen.append(inner.truth() ? "true" : "false");
      seen.append(" ").append(inner.pointer()).append(";");
    }
  }
  EXPECT_EQ(seen,
            "b:a number(1) /b/0;a string(x) /b/1;null() /b/2;a boolean()true /b/3;"
            "a:a boolean()false /a/;");
}

TEST(JsonDocument, KeepsEveryNumberTokenAsItWasWritten) {
  for (const std::string token :
       {"-0", "0", "-0.0", "1.0E25", "9.7517E-319", "9007199254740993", "-9223372036854775809", "18446744073709551616",
        "1e-400", "123456789012345678901234567890.50e-10", "1E+2"}) {
    const Result<JsonDocument> read = read_json("[" + token + "]");
    ASSERT_TRUE(read) << token << ": " << read.error().text();
    EXPECT_EQ((*read->root().begin()).text(), token);
  }
}

TEST(JsonDocument, KeepsTokensUnderACommaLocaleAndUpwardRounding) {
  const locale_t comma = newlocale(LC_ALL_MASK, "de_DE.UTF-8", nullptr);
  if (comma == nullptr) GTEST_SKIP() << "no de_DE.UTF-8 (ci/install generates it)";
  const locale_t before = uselocale(comma);
  std::fesetround(FE_UPWARD);
  const Result<JsonDocument> read = read_json("[1.5,1.7976931348623158e308]");
  std::fesetround(FE_TONEAREST);
  const bool locale_is_back = uselocale(before) == comma;
  freelocale(comma);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ((*read->root().begin()).text(), "1.5");
  EXPECT_TRUE(locale_is_back);
}

TEST(JsonDocument, SurvivesAMoveOfItsOwner) {
  Result<JsonDocument> read = read_json(R"({"a":"\u00e9\n"})");
  ASSERT_TRUE(read);
  const JsonValue value = *read->root().member("a");
  const JsonDocument moved = std::move(*read);
  EXPECT_EQ(value.text(), "\xC3\xA9\n");
  EXPECT_EQ(moved.root().size(), 1U);
  EXPECT_FALSE(moved.root().member("b"));
  EXPECT_EQ(value.size(), 0U);
}

TEST(JsonDocument, RefusesAKeyThatAppearsTwiceInOneObjectOnly) {
  EXPECT_EQ(refusal_of(R"({"n":[{"a":1,"b":2,"\u0061":3}]})"),
            "/n/0: the key 'a' appears twice; expected each key once: readers differ in which one they take");
  EXPECT_EQ(refusal_of(R"({"a":{"a":1},"b":{"a":1}})"), "accepted");
  JsonLimits forgiving;
  forgiving.duplicate_keys = DuplicateKeys::keep;
  const Result<JsonDocument> kept = read_json(R"({"a":1,"a":2})", forgiving);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->root().size(), 2U);
  EXPECT_EQ(kept->root().member("a")->text(), "1");
}

TEST(JsonDocument, RefusesWhatANulOrAByteOrderMarkHides) {
  EXPECT_EQ(refusal_of(std::string_view("{}\0garbage", 10)), "the JSON text, byte 3: a NUL; expected text");
  EXPECT_EQ(refusal_of("\xEF\xBB\xBF{}"), "the JSON text, byte 1: a byte order mark; expected UTF-8 without one");
}

TEST(JsonDocument, RefusesWhatPassesItsLimits) {
  EXPECT_EQ(refusal_of("[[1]]", {.bytes = 100, .depth = 2}), "accepted");
  EXPECT_EQ(refusal_of("[[1],[[2]]]", {.bytes = 100, .depth = 2}),
            "/1/0: nested deeper than 2; expected a flatter document");
  EXPECT_EQ(refusal_of("[1]", {.bytes = 2, .depth = 2}), "the JSON text: 3 bytes; expected at most 2");
  EXPECT_NE(refusal_of(std::string(100000, '[')), "accepted");
}

TEST(JsonDocument, SaysWhereTheSyntaxIsWrong) {
  EXPECT_NE(refusal_of(R"({"a/b":[1,NaN]})").find("/a~1b, byte 11: parse error at line 1"), std::string::npos)
      << refusal_of(R"({"a/b":[1,NaN]})");
  EXPECT_NE(refusal_of("[1e999]"), "accepted");
  EXPECT_NE(refusal_of("[1] x"), "accepted");
  EXPECT_NE(refusal_of(""), "accepted");
}

TEST(JsonDocument, ReadsIntegersOnlyWhereTheyAreWrittenAsIntegers) {
  EXPECT_EQ(parse_json_integer("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(parse_json_integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_json_integer("0"), 0);
  for (const char* token : {"9223372036854775808", "3.0", "1e2", "-0", "", "3x"})
    EXPECT_FALSE(parse_json_integer(token)) << token;
  EXPECT_EQ(parse_json_integer("3.0", "/shape/1").error().text(),
            "/shape/1: 3.0; expected an integer without fraction or exponent, from -2^63 to 2^63 - 1");
}

TEST(JsonString, IsReadBackAsItWas) {
  std::string every;
  for (char letter = 1; letter < 127; ++letter) every.push_back(letter);
  every.append("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  // The first and the last of every length, and beside the surrogates.
  every.append("\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
  std::string json;
  ASSERT_TRUE(append_json_string(json, every));
  const Result<JsonDocument> read = read_json(json);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->root().text(), every);
}

TEST(JsonString, RefusesWhatIsNoUtf8) {
  for (const char* text : {"\x80", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE0\x80\x80",
                           "\xF8\x88\x80", "\xC3(", "\xC3\xC0", "\xC1\xBF", "\xE0\x9F\xBF", "\xE2\x82", "\xE2\x82(",
                           "\xE2(\x80", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF0\x9F\x98(", "\xF5\x80\x80\x80"}) {
    std::string json = "kept";
    EXPECT_FALSE(append_json_string(json, text));
    EXPECT_EQ(json, "kept");
  }
}

TEST(JsonDocument, AcceptsAndRefusesWhatJSONTestSuiteSays) {
  const std::filesystem::path suite = data_folder("json-test-suite/test_parsing");
  if (!std::filesystem::exists(suite)) GTEST_SKIP() << "no " << suite;
  JsonLimits limits;  // the suite wants duplicate keys accepted, as the RFC does
  limits.duplicate_keys = DuplicateKeys::keep;
  int must_accept = 0;
  int must_refuse = 0;
  for (const auto& file : std::filesystem::directory_iterator(suite)) {
    std::stringstream text;
    text << std::ifstream(file.path(), std::ios::binary).rdbuf();
    const std::string name = file.path().filename();
    const std::string answer = refusal_of(text.str(), limits);
    must_accept += name[0] == 'y' ? 1 : 0;
    must_refuse += name[0] == 'n' ? 1 : 0;
    if (name[0] != 'i') {
      EXPECT_EQ(answer == "accepted", name[0] == 'y') << name << ": " << answer;
    }
  }
  EXPECT_GE(must_accept, 95);
  EXPECT_GE(must_refuse, 188);
}

}  // namespace
}  // namespace packcheck
