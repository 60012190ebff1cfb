// The text in tensor files: names as UTF-8, what a terminal may be shown of them, and the strings of a header.
#include <gtest/gtest.h>

#include <string>

#include "core/file/checks.h"
#include "core/file/header_json.h"

namespace packcheck::test {
namespace {

TEST(FileText, TheFirstAndLastCharactersOfEveryLengthAreUtf8) {
  for (const std::string text : {"", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xE0\xBF\xBF", "\xED\x9F\xBF",
                                 "\xED\x80\x80", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF0\xBF\xBF\xBF",
                                 "\xF4\x80\x80\x80", "\xF4\x8F\xBF\xBF", "a\xC3\xA9z"}) {
    EXPECT_TRUE(is_utf8(text)) << testing::PrintToString(text);
    EXPECT_EQ(is_utf8(text + text), true) << testing::PrintToString(text);
  }
}

TEST(FileText, WhatIsCutOffOverlongASurrogateOrBeyondUnicodeIsNoUtf8) {
  for (const std::string text : {"\x80",
                                 "\xBF",
                                 "\xC0\x80",
                                 "\xC1\xBF",
                                 "\xC2",
                                 "\xC2\x7F",
                                 "\xC2\xC0",
                                 "\xE0\x9F\xBF",
                                 "\xE0\xA0",
                                 "\xE0\xA0\x7F",
                                 "\xED\xA0\x80",
                                 "\xED\xBF\xBF",
                                 "\xE1\x7F\x80",
                                 "\xF0\x8F\xBF\xBF",
                                 "\xF0\x90\x80",
                                 "\xF0\x90\x80\xC0",
                                 "\xF0\x90\x7F\x80",
                                 "\xF4\x90\x80\x80",
                                 "\xF5\x80\x80\x80",
                                 "\xF8\x88\x80\x80",
                                 "\xFF"}) {
    EXPECT_FALSE(is_utf8(text)) << testing::PrintToString(text);
    EXPECT_FALSE(is_utf8("a" + text)) << testing::PrintToString(text);
    EXPECT_FALSE(is_utf8(text + "a")) << testing::PrintToString(text);
  }
}

TEST(FileText, ATerminalGetsNoControlsAndNothingThatTurnsTheDirectionOfText) {
  for (const std::string& text :
       {std::string(1, '\0'), std::string("\x1B"), std::string("\x1F"), std::string("\x7F"), std::string("\xC2\x80"),
        std::string("\xC2\x9B"), std::string("\xC2\x9F"), std::string("\xE2\x80\x8E"), std::string("\xE2\x80\x8F"),
        std::string("\xE2\x80\xA8"), std::string("\xE2\x80\xAA"), std::string("\xE2\x80\xAE"),
        std::string("\xE2\x81\xA6"), std::string("\xE2\x81\xA9")})
    EXPECT_EQ(printable("a" + text + "b"), "a?b") << testing::PrintToString(text);
  for (const std::string text : {" ", "~", "\xC2\xA0", "\xC3\x9B", "\xC3\x80", "\xE2\x80\x8D", "\xE2\x80\x90",
                                 "\xE2\x80\xA7", "\xE2\x80\xAF", "\xE2\x81\xA5", "\xE2\x81\xAA", "\xE2\x82\xA8",
                                 "\xE2\x82\xA6", "\xE2\x82\x8E", "\xE3\x80\xA8", "\xE3\x81\xA6", "\xF0\xA2\x80\xA8"})
    EXPECT_EQ(printable("a" + text + "b"), "a" + text + "b") << testing::PrintToString(text);
  EXPECT_EQ(printable("\xE2\x80"), "??");
  EXPECT_EQ(printable("\xFFz"), "?z");
}

TEST(FileText, ALongNameIsCutBehindAWholeCharacter) {
  EXPECT_EQ(printable("abcdef", 3), "abcd…");
  EXPECT_EQ(printable("abcd", 3), "abcd");
  EXPECT_EQ(printable("abc\xC3\xA9gh", 3), "abc\xC3\xA9…");
}

/// The string that a header's text begins with, or its refusal.
std::string string_of(std::string_view text) {
  HeaderJson json(text, 8);
  std::string read = json.string();
  return json.ok() ? read : json.error().text();
}

TEST(HeaderText, EscapesAreTheCharactersTheyName) {
  struct Row {
    const char* text;
    const char* meant;
  };
  for (const Row& row :
       {Row{R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"}, Row{R"("\u0041\u007f")", "A\x7F"},
        Row{R"("\u0080")", "\xC2\x80"}, Row{R"("\u00E9\u00eF")", "\xC3\xA9\xC3\xAF"}, Row{R"("\u07ff")", "\xDF\xBF"},
        Row{R"("\u0800")", "\xE0\xA0\x80"}, Row{R"("\u20AC")", "\xE2\x82\xAC"}, Row{R"("\uD7FF")", "\xED\x9F\xBF"},
        Row{R"("\ue000")", "\xEE\x80\x80"}, Row{R"("\uffff")", "\xEF\xBF\xBF"}, Row{R"("\uabcd")", "\xEA\xAF\x8D"},
        Row{R"("\ufaFA")", "\xEF\xAB\xBA"}, Row{R"("\uD800\uDC00")", "\xF0\x90\x80\x80"},
        Row{R"("\ud83d\ude00!")", "\xF0\x9F\x98\x80!"}, Row{R"("\uDBFF\uDFFF")", "\xF4\x8F\xBF\xBF"},
        Row{R"("\uD9AB\uDEF1")", "\xF1\xBA\xBB\xB1"}})
    EXPECT_EQ(string_of(row.text), row.meant) << row.text;
}

TEST(HeaderText, AnEscapeThatNamesNoCharacterIsRefused) {
  for (const char* text :
       {R"("\x")", R"("\")", R"("\u12")", R"("\u12G4")", R"("\u:000")", R"("\u/000")", R"("\u@000")", R"("\u`000")",
        R"("\ug000")", R"("\uD800")", R"("\uDBFF-\uDC00")", R"("\uD800\n")", R"("\uD800\uDBFF")", R"("\uD800\uE000")",
        R"("\uD800\u0041")", R"("\uDC00")", R"("\uDFFF")", R"("\uD800\uDC0")", "\"\\"}) {
    HeaderJson json(text, 8);
    static_cast<void>(json.string());
    EXPECT_FALSE(json.ok()) << text;
  }
}

TEST(HeaderText, WhatIsWrittenAsAStringIsReadAsItWas) {
  std::string every;
  for (int code = 0; code < 0x80; ++code) every += static_cast<char>(code);
  every += "\xC3\xA9\xF0\x9F\x98\x80";
  std::string written;
  append_header_string(written, every);
  EXPECT_EQ(string_of(written), every);
  written.clear();
  append_header_string(written, std::string_view("\0\x1F /\"\\\x7F\b", 8));
  EXPECT_EQ(written, R"("\u0000\u001f /\"\\)"
                     "\x7F"
                     R"(\b")");
}

TEST(HeaderText, AKeyIsPartOfAPointerWithItsMarksEscaped) {
  EXPECT_EQ(pointer_part("a/b~c"), "/a~1b~0c");
  EXPECT_EQ(pointer_part("\x1F \n"), "/? ?");
  EXPECT_EQ(pointer_part(std::string(79, 'k')), "/" + std::string(79, 'k'));
  EXPECT_EQ(pointer_part(std::string(80, 'k')), "/" + std::string(79, 'k'));
}

TEST(HeaderText, IntegersAreExactUpTo64Bits) {
  const auto integer_of = [](std::string_view text) {
    HeaderJson json(text, 8);
    const std::uint64_t value = json.integer();
    return json.ok() ? std::to_string(value) : json.error().text();
  };
  for (const char* text : {"0", "7", "10", "9223372036854775808", "18446744073709551615"})
    EXPECT_EQ(integer_of(text), text);
  EXPECT_EQ(integer_of(" \t\n\r12]"), "12");
  EXPECT_EQ(integer_of("18446744073709551616"),
            "header byte 8: an integer that does not fit 64 bits; expected at most 18446744073709551615");
  EXPECT_EQ(integer_of(" 99999999999999999999"),
            "header byte 9: an integer that does not fit 64 bits; expected at most 18446744073709551615");
  EXPECT_EQ(integer_of(""), "header byte 8: the header ends; expected an integer such as 12");
  EXPECT_EQ(integer_of("01"), "header byte 8: '01'; expected an integer such as 12");
  EXPECT_EQ(integer_of("1.5"), "header byte 8: '1.5'; expected an integer such as 12");
  EXPECT_EQ(integer_of("1e5"), "header byte 8: '1e5'; expected an integer such as 12");
  EXPECT_EQ(integer_of("-1"), "header byte 8: '-1'; expected an integer such as 12");
  EXPECT_EQ(integer_of("abcdefghijklmnop"), "header byte 8: 'abcdefghijkl'; expected an integer such as 12");
}

}  // namespace
}  // namespace packcheck::test
