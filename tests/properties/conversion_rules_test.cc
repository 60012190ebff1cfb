// Declared rules of a conversion: the one that is declared is the one that is judged, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/format/dialect.h"
#include "core/format/mode.h"
#include "properties/engines/engines.h"
#include "tests/properties/fake_subject.h"

namespace packcheck::test {
namespace {

/// Declares `line` and converts by `rules`, refusals included.
FakeSubject converter(const std::string& line, const ConvertRules& rules) {
  return FakeSubject({line}, [rules](const Request& request) {
    const Format from = format_named(request.arguments.at(0)).value();
    const Format to = format_named(request.arguments.at(1)).value();
    const Bytes in = string_to_bytes(request.arguments.at(3));
    Bytes out(in.size() / spec(from).bytes() * spec(to).bytes());
    if (!convert_array(from, to, in, out, rules)) return outcome(Outcome::refused);
    return answered(bytes_to_string(out));
  });
}

LawResult judged(FakeSubject subject) {
  RunOptions options;
  options.effort = {.sweep_inputs = 65536, .enumerated_cases = 100, .property_cases = 300, .fuzz_inputs = 100};
  return run_law(*law_named("format.narrowing_is_correctly_rounded").value(), subject, CorpusStore(), options);
}

void expect_judged(const std::string& line, const ConvertRules& rules, bool right) {
  EXPECT_EQ(judged(converter(line, rules)).ruling, right ? Ruling::holds : Ruling::broken)
      << line << "; really " << mode_text(rules);
}

TEST(DeclaredRules, OfIntegersAreTheOnesThatAreJudged) {
  constexpr IntegerRule kRules[] = {IntegerRule::saturate, IntegerRule::wrap, IntegerRule::refuse,
                                    IntegerRule::indefinite};
  for (const IntegerRule declared : kRules)
    for (const IntegerRule real : kRules)
      expect_judged("convert f16->i8 integer=" + std::string(integer_name(declared)), {.integer = real},
                    declared == real);
}

TEST(DeclaredRules, OfSubnormalsNanAndTiesAreTheOnesThatAreJudged) {
  const ConvertRules up{.rounding = Rounding::nearest_up};
  const ConvertRules cut_off{.subnormal = SubnormalRule::truncated};
  const ConvertRules infinite{.nan = NanRule::infinity};
  const ConvertRules zero{.nan = NanRule::zero};
  const std::pair<const char*, ConvertRules> rows[] = {{"", {}},
                                                       {" rounding=nearest-up", up},
                                                       {" subnormal=truncated", cut_off},
                                                       {" nan=infinity", infinite},
                                                       {" nan=zero", zero}};
  for (const auto& declared : rows)
    for (const auto& real : rows)
      expect_judged("convert bf16->f16" + std::string(declared.first), real.second, declared.first == real.first);
}

TEST(DeclaredRules, OfADialectAreItsRows) {
  const ConvertRules half = dialect_rules("skainet-q4_0", Format::f32, Format::f16).value();
  const ConvertRules bfloat = dialect_rules("skainet", Format::f32, Format::bf16).value();
  for (const bool right : {false, true}) {
    expect_judged("convert f32->f16 dialect=skainet-q4_0", right ? half : ConvertRules{}, right);
    expect_judged("convert f32->bf16 dialect=skainet", right ? bfloat : ConvertRules{}, right);
    expect_judged("convert f32->i8 dialect=skainet integer=wrap",
                  {.rounding = Rounding::toward_zero, .integer = right ? IntegerRule::wrap : IntegerRule::saturate},
                  right);
  }
}

TEST(DeclaredRules, OfADialectStandBehindThoseSpelledOut) {
  const Result<Declaration> parsed = parse_declaration("convert f32->i8 dialect=x86-cast integer=wrap");
  const Declaration& d = parsed.value();
  EXPECT_EQ(d.option("rounding"), "toward-zero");
  EXPECT_EQ(d.option("integer"), "wrap");
  EXPECT_EQ(d.option("nan"), "quieted");
  EXPECT_EQ(declared_mode(d), "toward-zero,integer=wrap");
  EXPECT_EQ(d.text(), "convert f32->i8 dialect=x86-cast integer=wrap");
  const Result<Declaration> half = parse_declaration("convert f32->f16 dialect=skainet-q4_0");
  EXPECT_EQ(declared_mode(half.value()), "nearest-away");
}

TEST(DeclaredRules, OfADialectWithoutThePairAreRefused) {
  EXPECT_THAT(parse_declaration("convert f32->bf16 dialect=skainet-q4_0").error().text(),
              testing::HasSubstr("no conversion f32->bf16; expected one of f32->f16"));
  EXPECT_THAT(parse_declaration("convert f32->bf16 dialect=kotlin").error().text(),
              testing::HasSubstr("none skainet skainet-q4_0"));
}

TEST(Refusal, IsWrongWhereEveryNumberFits) {
  FakeSubject subject({"convert f16->i8 integer=refuse"}, [](const Request&) { return outcome(Outcome::refused); });
  const LawResult result = judged(std::move(subject));
  ASSERT_EQ(result.ruling, Ruling::broken);
  EXPECT_EQ(result.findings[0].breach.place, "f16->i8 refused");
}

}  // namespace
}  // namespace packcheck::test
