// What laws make of answers, refusals, faults and declarations: small subjects made up for each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "core/format/mode.h"
#include "core/text/number_text.h"
#include "properties/cases/cases.h"
#include "properties/engines/engines.h"
#include "subjects/reference/reference.h"
#include "tests/properties/fake_subject.h"
#include "tests/properties/samples.h"

namespace packcheck::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

LawResult judged(const char* law, Subject& subject) {
  RunOptions options;
  options.effort = {.sweep_inputs = 65536, .enumerated_cases = 100, .property_cases = 300, .fuzz_inputs = 100};
  return run_law(*law_named(law).value(), subject, CorpusStore(), options);
}

Verdict judged(const char* law, Subject& subject, const Case& c) { return law_named(law).value()->check(subject, c); }

class EveryLawAndOutcome : public testing::TestWithParam<std::tuple<const char*, Outcome>> {};

/// Laws of what a subject answers; the others look at the subject as a program.
std::vector<const char*> laws_of_answers() {
  std::vector<const char*> ids;
  for (const Law& law : all_laws())
    if (!law.needs.empty()) ids.push_back(law.id.c_str());
  return ids;
}

// Laws that want a refusal for some inputs.
bool wants_refusals(std::string_view law) {
  return law == "params.out_of_range_fields_are_refused" || law == "text.parsing_refuses_what_is_no_json_number" ||
         law == "file.reading_is_total" || law == "file.unsound_files_are_refused" ||
         law == "graph.unsound_texts_are_refused" || law == "graph.unsound_bytes_are_refused" ||
         law == "shape.impossible_requests_are_refused" || law == "execute.impossible_nodes_are_refused" ||
         law == "affine.matmul_refuses_what_leaves_its_buffers" || law == "precision.unsound_networks_are_refused" ||
         law == "precision.graphs_of_no_network_are_refused";
}

TEST_P(EveryLawAndOutcome, GivesTheVerdictThatTheOutcomeMeans) {
  const auto& [law, what] = GetParam();
  FakeSubject subject = FakeSubject::like(reference_info(), [what = what](const Request&) { return outcome(what); });
  const LawResult result = judged(law, subject);
  if (what == Outcome::skipped) {
    EXPECT_EQ(result.ruling, Ruling::skipped);
    EXPECT_THAT(result.reason, HasSubstr("as the test says"));
    return;
  }
  if (what == Outcome::refused && wants_refusals(law)) {
    EXPECT_EQ(result.ruling, Ruling::holds);
    return;
  }
  EXPECT_EQ(result.ruling, Ruling::broken);
  for (const Finding& finding : result.findings) {
    EXPECT_THAT(finding.breach.place, EndsWith(" " + std::string(outcome_name(what))));
    EXPECT_THAT(finding.breach.actual, HasSubstr("as the test says"));
  }
}

INSTANTIATE_TEST_SUITE_P(Verdict, EveryLawAndOutcome,
                         testing::Combine(testing::ValuesIn(laws_of_answers()),
                                          testing::Values(Outcome::refused, Outcome::skipped, Outcome::crashed,
                                                          Outcome::hung, Outcome::out_of_memory, Outcome::overran,
                                                          Outcome::left_unwritten, Outcome::broke_protocol)),
                         [](const auto& test) {
                           return as_test_name(std::string(std::get<0>(test.param)) + " " +
                                               std::string(outcome_name(std::get<1>(test.param))));
                         });

TEST(Verdict, AnAnswerOfAnotherSizeIsBroken) {
  for (const std::size_t size : {0U, 1U, 3U, 5U, 1000U}) {
    FakeSubject subject({"repack f16->f32"}, [size](const Request&) { return answered(std::string(size, '\0')); });
    const Case c = conversion_cases.from_json(R"({"from":"f16","to":"f32","elements":["0x0000"]})").value();
    const Verdict verdict = judged("storage.repack_keeps_every_value", subject, c);
    ASSERT_EQ(verdict.ruling, Ruling::broken) << size;
    EXPECT_THAT(verdict.breaches[0].place, HasSubstr(outcome_name(Outcome::broke_protocol)));
  }
}

constexpr Rounding kRoundings[] = {Rounding::nearest_even, Rounding::nearest_away, Rounding::toward_zero,
                                   Rounding::upward, Rounding::downward};

class RoundingDeclared : public testing::TestWithParam<std::tuple<Rounding, Rounding, const char*>> {};

TEST_P(RoundingDeclared, IsTheOneThatIsJudged) {
  const auto& [declared, real, variant] = GetParam();
  ConvertRules rules;
  rules.rounding = real;
  FakeSubject subject({"convert " + std::string(variant) + " rounding=" + std::string(rounding_name(declared))},
                      element_by_element([rules](Format from, Format to, std::uint64_t bits) {
                        return convert(from, to, bits, rules);
                      }));
  const LawResult result = judged("format.narrowing_is_correctly_rounded", subject);
  EXPECT_EQ(result.ruling, declared == real ? Ruling::holds : Ruling::broken);
}

INSTANTIATE_TEST_SUITE_P(Verdict, RoundingDeclared,
                         testing::Combine(testing::ValuesIn(kRoundings), testing::ValuesIn(kRoundings),
                                          testing::Values("f64->f32", "f16->bf16")),
                         [](const auto& test) {
                           return as_test_name(std::string(std::get<2>(test.param)) + " declared " +
                                               std::string(rounding_name(std::get<0>(test.param))) + " is " +
                                               std::string(rounding_name(std::get<1>(test.param))));
                         });

TEST(Verdict, AModeOfTheCallIsTheDeclaredOne) {
  std::vector<std::string> modes;
  FakeSubject subject({"convert f32->f16 rounding=upward"}, [&modes](const Request& request) {
    modes.push_back(request.arguments.at(2));
    return outcome(Outcome::skipped);
  });
  const Case c = conversion_cases.from_json(R"({"from":"f32","to":"f16","elements":["0x0"]})").value();
  EXPECT_EQ(judged("format.narrowing_is_correctly_rounded", subject, c).ruling, Ruling::skipped);
  EXPECT_THAT(modes, testing::ElementsAre("upward"));
}

TEST(Verdict, FlushingSubnormalsIsRightExactlyWhereItIsDeclared) {
  for (const bool declared : {false, true})
    for (const bool flushes : {false, true}) {
      ConvertRules rules;
      rules.subnormal = flushes ? SubnormalRule::flushed : SubnormalRule::kept;
      FakeSubject subject({std::string("convert f16->f32 subnormal=") + (declared ? "flushed" : "kept")},
                          element_by_element([rules](Format from, Format to, std::uint64_t bits) {
                            return convert(from, to, bits, rules);
                          }));
      EXPECT_EQ(judged("format.widening_is_exact", subject).ruling,
                declared == flushes ? Ruling::holds : Ruling::broken)
          << declared << flushes;
    }
}

TEST(Verdict, SaturatingIsRightExactlyWhereItIsDeclared) {
  for (const char* variant : {"f16->e4m3fn", "f16->e5m2fnuz", "f16->e5m2"})
    for (const bool declared : {false, true})
      for (const bool saturates : {false, true}) {
        ConvertRules rules;
        rules.saturating = saturates;
        FakeSubject subject({std::string("convert ") + variant + (declared ? " overflow=saturate" : "")},
                            element_by_element([rules](Format from, Format to, std::uint64_t bits) {
                              return convert(from, to, bits, rules);
                            }));
        EXPECT_EQ(judged("format.narrowing_is_correctly_rounded", subject).ruling,
                  declared == saturates ? Ruling::holds : Ruling::broken)
            << variant << declared << saturates;
      }
}

TEST(Verdict, ASaturatingModeOfTheCallIsTheDeclaredOne) {
  std::vector<std::string> modes;
  FakeSubject subject({"convert f32->e2m1 rounding=toward-zero overflow=saturate"}, [&modes](const Request& request) {
    modes.push_back(request.arguments.at(2));
    return outcome(Outcome::skipped);
  });
  const Case c = conversion_cases.from_json(R"({"from":"f32","to":"e2m1","elements":["0x0"]})").value();
  EXPECT_EQ(judged("format.narrowing_is_correctly_rounded", subject, c).ruling, Ruling::skipped);
  EXPECT_THAT(modes, testing::ElementsAre("toward-zero,saturate"));
}

TEST(Verdict, BitsAboveANarrowFormatAreBrokenEvenInANan) {
  FakeSubject subject({"convert f16->e2m1"}, element_by_element([](Format, Format, std::uint64_t) { return 0x18U; }));
  for (const char* bits : {"0x8000", "0x7e00"}) {
    const Case c =
        conversion_cases.from_json(R"({"from":"f16","to":"e2m1","elements":[")" + std::string(bits) + "\"]}").value();
    const Verdict verdict = judged("format.narrowing_is_correctly_rounded", subject, c);
    ASSERT_EQ(verdict.ruling, Ruling::broken) << bits;
    EXPECT_THAT(verdict.breaches[0].actual, HasSubstr("0x18 (bits above the 4 of e2m1)"));
  }
}

TEST(Verdict, ATruncatedNanIsRightExactlyWhereItIsDeclared) {
  for (const bool truncates : {false, true}) {
    ConvertRules rules;
    rules.rounding = Rounding::toward_zero;
    rules.nan = truncates ? NanRule::truncated : NanRule::same_payload;
    for (const char* declared : {"any", "quieted", "same", "truncated"}) {
      FakeSubject subject({std::string("convert f16->bf16 rounding=toward-zero nan=") + declared},
                          element_by_element([rules](Format from, Format to, std::uint64_t bits) {
                            return convert(from, to, bits, rules);
                          }));
      const std::string name = declared;
      const bool right = truncates ? name == "truncated" : name == "any" || name == "same";
      EXPECT_EQ(judged("format.narrowing_is_correctly_rounded", subject).ruling, right ? Ruling::holds : Ruling::broken)
          << declared << truncates;
    }
  }
}

/// What a converter makes of a NaN, and the declarations under which that is right.
struct NanBehaviour {
  const char* name;
  std::uint64_t (*nan)(Format from, Format to, std::uint64_t bits);
  std::vector<std::string> right_for;
};
void PrintTo(const NanBehaviour& b, std::ostream* out) { *out << b.name; }

std::uint64_t with_rule(Format from, Format to, std::uint64_t bits, NanRule rule) {
  ConvertRules rules;
  rules.nan = rule;
  return convert(from, to, bits, rules);
}

const std::vector<NanBehaviour>& nan_behaviours() {
  static const std::vector<NanBehaviour> all{
      {"quieted",
       [](Format from, Format to, std::uint64_t bits) { return with_rule(from, to, bits, NanRule::quieted); },
       {"any", "quieted"}},
      {"same_payload",
       [](Format from, Format to, std::uint64_t bits) { return with_rule(from, to, bits, NanRule::same_payload); },
       {"any", "same"}},
      {"always_the_default_nan",
       [](Format, Format to, std::uint64_t) { return spec(to).infinity() | spec(to).quiet_bit(); },
       {"any"}},
      {"infinity", [](Format, Format to, std::uint64_t) { return spec(to).infinity(); }, {}},
      {"zero", [](Format, Format, std::uint64_t) { return std::uint64_t{0}; }, {}}};
  return all;
}

class NanDeclared : public testing::TestWithParam<NanBehaviour> {
 protected:
  static FakeSubject subject(const std::string& declaration) {
    return {{declaration}, element_by_element([nan = GetParam().nan](Format from, Format to, std::uint64_t bits) {
              return is_nan(spec(from), bits) ? nan(from, to, bits) : convert(from, to, bits);
            })};
  }
  static Ruling right_if(const std::string& declared) {
    const std::vector<std::string>& right = GetParam().right_for;
    return std::find(right.begin(), right.end(), declared) != right.end() ? Ruling::holds : Ruling::broken;
  }
};

TEST_P(NanDeclared, IsTheRuleThatConversionsAreJudgedBy) {
  for (const char* declared : {"any", "quieted", "same"}) {
    FakeSubject widening = subject(std::string("convert f16->f32 nan=") + declared);
    EXPECT_EQ(judged("format.widening_is_exact", widening).ruling, right_if(declared)) << declared;
    FakeSubject narrowing = subject(std::string("convert f16->bf16 nan=") + declared);
    EXPECT_EQ(judged("format.narrowing_is_correctly_rounded", narrowing).ruling, right_if(declared)) << declared;
  }
}

TEST_P(NanDeclared, IsTheRuleThatRepackingIsJudgedBy) {
  for (const char* declared : {"any", "same"}) {
    FakeSubject repacking = subject(std::string("repack bf16->f32 nan=") + declared);
    EXPECT_EQ(judged("storage.repack_keeps_every_value", repacking).ruling, right_if(declared)) << declared;
  }
}

INSTANTIATE_TEST_SUITE_P(Verdict, NanDeclared, testing::ValuesIn(nan_behaviours()),
                         [](const auto& test) { return std::string(test.param.name); });

/// A reader that refuses nothing, asked about one text.
struct Leniency {
  const char* name;
  const char* text;
  const char* non_finite;  ///< what it declares
  Ruling ruling;
};
void PrintTo(const Leniency& l, std::ostream* out) { *out << l.text; }

class LenientReader : public testing::TestWithParam<Leniency> {};

TEST_P(LenientReader, IsCondemnedOnlyForWhatOtherReadersRefuse) {
  FakeSubject subject({std::string("parse json non_finite=") + GetParam().non_finite},
                      [](const Request&) { return answered(std::string(8, '\0')); });
  Case c = text_cases.from_wire(string_to_bytes(GetParam().text), "json").value();
  const Verdict verdict = judged("text.parsing_refuses_what_is_no_json_number", subject, c);
  EXPECT_EQ(verdict.ruling, GetParam().ruling);
  EXPECT_EQ(verdict.reason.empty(), verdict.ruling == Ruling::broken);
}

INSTANTIATE_TEST_SUITE_P(Verdict, LenientReader,
                         testing::Values(Leniency{"space_before", " 1", "refuse", Ruling::not_applicable},
                                         Leniency{"space_behind", "1 \r\n\t", "refuse", Ruling::not_applicable},
                                         Leniency{"vertical_tab", "1\v", "refuse", Ruling::broken},
                                         Leniency{"space_inside", "1 2", "refuse", Ruling::broken},
                                         Leniency{"only_space", "  ", "refuse", Ruling::broken},
                                         Leniency{"nothing", "", "refuse", Ruling::broken},
                                         Leniency{"a_number", "1e5", "refuse", Ruling::not_applicable},
                                         Leniency{"nan", "NaN", "refuse", Ruling::broken},
                                         Leniency{"nan_declared", "NaN", "accept", Ruling::not_applicable},
                                         Leniency{"infinity_declared", "-Infinity", "accept", Ruling::not_applicable},
                                         Leniency{"overflow", "1e999", "refuse", Ruling::broken},
                                         Leniency{"overflow_declared", "1e999", "accept", Ruling::not_applicable},
                                         Leniency{"leading_zero", "01", "accept", Ruling::broken},
                                         Leniency{"plus", "+1", "accept", Ruling::broken},
                                         Leniency{"bare_point", "5.", "refuse", Ruling::broken}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Verdict, ASubjectWithoutAnOperationIsSkippedAndOneWithAFewIsJudgedOnThose) {
  FakeSubject nothing({}, [](const Request&) { return outcome(Outcome::crashed); });
  for (const Law& law : all_laws()) {
    const LawResult result = judged(law.id.c_str(), nothing);
    EXPECT_EQ(result.ruling, Ruling::skipped) << law.id;
    EXPECT_FALSE(result.reason.empty());
  }
  FakeSubject printer({"print json"}, [](const Request& request) {
    const Result<std::string> text = print_number(string_to_u64s(request.arguments.at(0))[0]);
    return text ? answered(*text) : outcome(Outcome::refused);
  });
  EXPECT_EQ(judged("text.printing_is_exact", printer).ruling, Ruling::holds);
  EXPECT_EQ(judged("text.printing_never_yields_nan_or_infinity", printer).ruling, Ruling::holds);
  EXPECT_EQ(judged("text.packed_double_survives_text", printer).ruling, Ruling::skipped);
}

TEST(Verdict, NullInPlaceOfANumberHasAPlaceOfItsOwn) {
  FakeSubject printer({"print json"}, [](const Request&) { return answered("null"); });
  const auto number = [](const char* bits) {
    return number_cases.from_json(std::string(R"({"bits":")") + bits + "\"}").value();
  };
  const auto place = [&](const char* bits) {
    return judged("text.printing_never_yields_nan_or_infinity", printer, number(bits)).breaches.at(0).place;
  };
  EXPECT_EQ(place("0x7ff8000000000000"), "json nan became null");
  EXPECT_EQ(place("0xfff0000000000000"), "json infinity became null");
  EXPECT_EQ(place("0x0000000000030301"), "json packed subnormal");
}

/// A subject whose memory grows as the test says, window by window.
class GrowingSubject final : public Subject {
 public:
  /// `refusal`: what the probe says instead of a number; empty for a number.
  GrowingSubject(std::vector<std::uint64_t> growth, std::string refusal)
      : growth_(std::move(growth)), refusal_(std::move(refusal)) {
    info_.name = "growing";
    info_.declarations = {parse_declaration("convert f32->f16 rounding=upward").value()};
  }
  Reply call(const Request&) override { return answered({}); }
  Result<std::uint64_t> bytes_kept_per_call(const Request& request, unsigned, unsigned repeats) override {
    modes.push_back(request.arguments.at(2));
    if (!refusal_.empty()) return refuse(refusal_, "growing", "a heap that can be seen");
    EXPECT_GT(repeats, 1U);
    return growth_[std::min(window_++, growth_.size() - 1)];
  }
  std::vector<std::string> modes;

 private:
  std::vector<std::uint64_t> growth_;
  std::string refusal_;
  std::size_t window_ = 0;
};

TEST(MemoryLaw, CondemnsWhatGrowsInEveryWindowAndNotWhatGrowsOnce) {
  struct Row {
    std::vector<std::uint64_t> growth;
    Ruling ruling;
  };
  const Case c = random_case(call_cases, "convert f32->f16", 1);
  for (const Row& row :
       {Row{{0}, Ruling::holds}, Row{{7}, Ruling::holds}, Row{{8}, Ruling::broken}, Row{{4096, 0}, Ruling::holds},
        Row{{64, 64, 0}, Ruling::holds}, Row{{64, 32, 16}, Ruling::broken}}) {
    GrowingSubject subject(row.growth, "");
    EXPECT_EQ(judged("subject.keeps_no_memory_between_calls", subject, c).ruling, row.ruling) << row.growth[0];
    EXPECT_THAT(subject.modes, testing::Each("upward")) << "the mode it declares";
  }
  GrowingSubject misbehaving({0}, "hung: no answer within the call limit");
  EXPECT_EQ(judged("subject.keeps_no_memory_between_calls", misbehaving, c).ruling, Ruling::broken);
  GrowingSubject unseen({0}, std::string(kMemoryUnknown));
  const Verdict verdict = judged("subject.keeps_no_memory_between_calls", unseen, c);
  EXPECT_EQ(verdict.ruling, Ruling::not_applicable);
  EXPECT_THAT(verdict.reason, HasSubstr("a heap that can be seen"));
}

TEST(Judging, KeepsTheFirstBreachOfEachPlace) {
  Judge judge;
  judge.add_checked(2);
  judge.add_checked(3);
  judge.broken({"a", "first", "", "", ""});
  judge.broken({"b", "second", "", "", ""});
  judge.broken({"a", "third", "", "", ""});
  EXPECT_TRUE(judge.knows("a"));
  EXPECT_FALSE(judge.knows("c"));
  const Verdict verdict = std::move(judge).verdict();
  EXPECT_EQ(verdict.ruling, Ruling::broken);
  EXPECT_EQ(verdict.checked, 5U);
  ASSERT_EQ(verdict.breaches.size(), 2U);
  EXPECT_EQ(verdict.breaches[0].input, "first");
}

}  // namespace
}  // namespace packcheck::test
