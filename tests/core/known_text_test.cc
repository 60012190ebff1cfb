// Known answers of the rules of number texts, of JSON texts, and of what packed words say (known_answers.h).
#include <array>
#include <vector>

#include "core/params/analysis.h"
#include "core/text/json_document.h"
#include "core/text/number_form.h"
#include "core/text/number_text.h"
#include "tests/core/known_answers.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

constexpr std::array<double, 33> kPrinted{0.0,
                                          -0.0,
                                          1.0,
                                          -1.5,
                                          0.1,
                                          1e22,
                                          1e23,
                                          123456.0,
                                          1234567.0,
                                          999999.5,
                                          0.0001,
                                          0.00001234567,
                                          1e-7,
                                          1e15,
                                          1e16,
                                          123456789012345680.0,
                                          5e-324,
                                          -9.7517e-319,
                                          2.2250738585072014e-308,
                                          2.225073858507201e-308,
                                          1.7976931348623157e308,
                                          -1.7976931348623157e308,
                                          0.30000000000000004,
                                          100.0,
                                          1e300,
                                          -1e-300,
                                          4503599627370496.5,
                                          9007199254740993.0,
                                          65504.0,
                                          3.14159265358979,
                                          std::numeric_limits<double>::infinity(),
                                          -std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::quiet_NaN()};

TEST(KnownAnswers, OfEveryRuleOfPrintingAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 7> kKnown{{
      {"as they are", 0x72F59290A145E3BC},
      {"bare", 0x03BF00D9B89E1BFE},
      {"null", 0x085E21A887F3D5BB},
      {"six digits", 0xCF45C95D38E319D6},
      {"fifteen digits", 0xA0EC7EB9F5B5AFDB},
      {"flushed", 0x52754B924FAB2CB4},
      {"without sign", 0x25FF7B1244E69B8C},
  }};
  static constexpr std::array<ChangedRule<PrintRules>, 6> kChanges{{
      {"bare", [](PrintRules& r) { r.non_finite = NonFinitePrinting::bare; }},
      {"null", [](PrintRules& r) { r.non_finite = NonFinitePrinting::null; }},
      {"six digits", [](PrintRules& r) { r.digits = Digits::six; }},
      {"fifteen digits", [](PrintRules& r) { r.digits = Digits::fifteen; }},
      {"flushed", [](PrintRules& r) { r.subnormal = SubnormalPrinting::flushed; }},
      {"without sign", [](PrintRules& r) { r.zero = ZeroPrinting::without_sign; }},
  }};
  expect_known<PrintRules>(kChanges, kKnown, [](const PrintRules& rules, bool, Digest& digest) {
    for (const double number : kPrinted) {
      const Result<std::string> text = print_number(std::bit_cast<std::uint64_t>(number), rules);
      text ? digest.add(*text) : digest.add(text.error());
    }
  });
}

constexpr std::array<std::string_view, 58> kTexts{"0",
                                                  "-0",
                                                  "-0.0",
                                                  "0e5",
                                                  "-0e-5",
                                                  "1",
                                                  "-1",
                                                  "12",
                                                  "1.",
                                                  ".5",
                                                  "01",
                                                  "-",
                                                  "+1",
                                                  "1e",
                                                  "1e+",
                                                  "1e-",
                                                  "1e5",
                                                  "1E5",
                                                  "1e+5",
                                                  "1.5e-5",
                                                  "0.1",
                                                  "9.7517E-319",
                                                  "9.7517E-3199",
                                                  "1e308",
                                                  "1e309",
                                                  "-1e309",
                                                  "1e400",
                                                  "1e-400",
                                                  "4.9e-324",
                                                  "2.4703282292062327e-324",
                                                  "2.4703282292062328e-324",
                                                  "2.2250738585072011e-308",
                                                  "8.8895642e-316",
                                                  "1e22",
                                                  "1e23",
                                                  "9007199254740993",
                                                  "9007199254740992",
                                                  "9007199254740992.5",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "123456789012345678901234567890",
                                                  "0.000000000000000000001234567890123456789",
                                                  "1.00000000000000000001",
                                                  "0.5",
                                                  "2049",
                                                  "2049.0000000000000001",
                                                  "2047.9999999999999999",
                                                  "65519.999999999999",
                                                  "65520",
                                                  "5.9604644775390625e-8",
                                                  "NaN",
                                                  "Infinity",
                                                  "-Infinity",
                                                  "null",
                                                  "nul",
                                                  "",
                                                  " 1",
                                                  "1 "};

TEST(KnownAnswers, OfEveryRuleOfParsingAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 9> kKnown{{
      {"as they are", 0xC59132AA2E733CA9},
      {"non-finite accepted", 0xA4372FFA940DC7B6},
      {"f32", 0xA3AC4A9D130D974F},
      {"best effort", 0x2E5C339C54606D94},
      {"subnormals flushed", 0x78219630C6EDB54F},
      {"subnormals refused", 0xCA4AF8D79EB22AC0},
      {"negative zero integer", 0x9C2E50CE07976829},
      {"point ends", 0x763213CA07EE410F},
      {"null zero", 0x22223B162D08C3F4},
  }};
  static constexpr std::array<ChangedRule<ParseRules>, 8> kChanges{{
      {"non-finite accepted", [](ParseRules& r) { r.non_finite = NonFiniteParsing::accept; }},
      {"f32", [](ParseRules& r) { r.precision = ParsePrecision::f32; }},
      {"best effort", [](ParseRules& r) { r.precision = ParsePrecision::best_effort; }},
      {"subnormals flushed", [](ParseRules& r) { r.subnormal = SubnormalParsing::flushed; }},
      {"subnormals refused", [](ParseRules& r) { r.subnormal = SubnormalParsing::refused; }},
      {"negative zero integer", [](ParseRules& r) { r.negative_zero = NegativeZeroParsing::integer; }},
      {"point ends", [](ParseRules& r) { r.point = PointParsing::ends_the_number; }},
      {"null zero", [](ParseRules& r) { r.null = NullParsing::zero; }},
  }};
  expect_known<ParseRules>(kChanges, kKnown, [](const ParseRules& rules, bool, Digest& digest) {
    const auto add = [&](const Result<std::uint64_t>& code) { code ? digest.add(*code) : digest.add(code.error()); };
    for (const std::string_view text : kTexts) add(parse_number(text, rules));
    for (const std::string_view text : kTexts) {
      digest.add(std::uint64_t{is_json_number(text)});
      for (const Format format : {Format::f32, Format::f16, Format::bf16, Format::e4m3fn})
        add(parse_number_as(format, text));
      const Result<bool> exact = is_exact_number(text);
      exact ? digest.add(std::uint64_t{*exact}) : digest.add(exact.error());
    }
  });
}

void add(Digest& digest, const JsonValue& value) {
  digest.add(json_kind_name(value.kind()));
  digest.add(value.key());
  digest.add(value.text());
  digest.add(std::uint64_t{value.truth()});
  digest.add(value.size());
  digest.add(value.pointer());
  for (const JsonValue member : value) add(digest, member);
}

TEST(KnownAnswers, OfTextAndItsPlacesAreWhatTheyWere) {
  static constexpr std::array<KnownAnswer, 1> kKnown{{
      {"as they are", 0x5592CB9ED894AF0E},
  }};
  expect_known_answers(kKnown, [](Digest& digest) {
    const std::string_view text =
        "{\"a\":[1,-2.5e+3,true,false,null,\"x\\n\\u00e9\\ud83d\\ude00\xC3\xA9\",[],{}],\"b~/\":{\"c\":\"\","
        "\"d\" : [ [ 0 ] ] },\"\":\"\xE2\x82\xAC\\\\\"}";
    JsonLimits limits;
    limits.depth = 3;
    for (const bool keep : {false, true}) {
      limits.duplicate_keys = keep ? DuplicateKeys::keep : DuplicateKeys::refuse;
      for_each_edit(text, 1, "0\"\\ue,[]} \x80", [&](std::string_view edited) {
        const Result<JsonDocument> document = read_json(edited, limits);
        if (!document) return digest.add(document.error());
        add(digest, document->root());
        const std::optional<JsonValue> member = document->root().member("a");
        if (member) digest.add(member->size());
      });
      limits.depth = 4;
    }
    for (const std::string_view token :
         {"0", "-0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
          "1.0", "1e2", "01", "", "-", "12x"}) {
      const Result<std::int64_t> number = parse_json_integer(token, "here");
      number ? digest.add(static_cast<std::uint64_t>(*number)) : digest.add(number.error());
    }
    for (unsigned c = 0; c < 256; ++c) {
      std::string out = "x";
      const Result<void> done = append_json_string(out, std::string(1, static_cast<char>(c)) + "\xC3\xA9");
      if (!done) digest.add(done.error());
      digest.add(out);
    }
    for (const std::uint64_t bits :
         {0x0ULL, 0x8000000000000000ULL, 0x1ULL, 0x3FF0000000000000ULL, 0x7FF0000000000000ULL, 0x7FF8000000000001ULL,
          0xFFFFFFFFFFFFFFFFULL, 0x0000000000030201ULL}) {
      for (const BitsRule rule : {BitsRule::where_needed, BitsRule::always}) {
        const NumberForm form = number_form(bits, rule);
        digest.add(form.number.value_or("-"));
        digest.add(form.bits.value_or("-"));
      }
      for_each_edit(print_bits(bits), 1, "0fFx g", [&](std::string_view edited) {
        for (const std::string_view number : {"1.0", "-0.0", "x"}) {
          const Result<std::uint64_t> read = read_number_form(number, edited);
          read ? digest.add(*read) : digest.add(read.error());
        }
        const Result<std::uint64_t> alone = read_number_form(std::nullopt, edited);
        alone ? digest.add(*alone) : digest.add(alone.error());
      });
    }
    for (const Layout& layout : all_layouts()) {
      for (const WordSpan& word : analyse(layout)) {
        digest.add(std::uint64_t{word.plain});
        digest.add(word.covered);
        digest.add(word.overlapping);
        digest.add(word.gaps);
        digest.add(std::uint64_t{word.can_be_negative});
        for (const std::optional<std::uint64_t>& smallest : word.smallest) digest.add(smallest.value_or(77));
      }
      for (const Error& fault : faults_of(layout)) digest.add(fault);
    }
  });
}

}  // namespace
}  // namespace packcheck::test
