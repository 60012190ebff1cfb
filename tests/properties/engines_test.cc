// One row is a law for every engine: all four drive it, count alike, shrink alike, and repeat.
#include "properties/engines/engines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "properties/cases/cases.h"
#include "subjects/reference/reference.h"
#include "tests/properties/samples.h"
#include "tests/properties/temporary_folder.h"

namespace packcheck::test {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr Engine kEngines[] = {Engine::corpus, Engine::sweep, Engine::property, Engine::fuzz};

const Tally& tally(const LawResult& result, Engine engine) { return result.tallies[static_cast<std::size_t>(engine)]; }

std::function<std::vector<std::string>(const SubjectInfo&)> only_variant(std::string variant) {
  return [variant = std::move(variant)](const SubjectInfo&) { return std::vector<std::string>{variant}; };
}

std::uint64_t text_calls = 0;
Verdict count_text(Subject&, const TextCase&) {
  ++text_calls;
  Judge judge;
  judge.add_checked(1);
  return std::move(judge).verdict();
}

RunOptions small_options() {
  RunOptions options;
  options.effort = {.sweep_inputs = 196'608, .enumerated_cases = 90, .property_cases = 70, .fuzz_inputs = 50};
  return options;
}

TEST(Engines, ANewRowIsDrivenByEveryEngineWithoutAnotherLineOfCode) {
  const Law law = make_law<TextCase>("text.new_law", "A law that a test has added.", {Operation::parse}, text_cases,
                                     only_variant("json"), count_text);
  const TemporaryFolder folder;
  const std::string kept = case_file_text("text.parsing_is_correctly_rounded", "reference", {},
                                          text_cases.from_json(R"({"text":"1e5"})").value());
  ASSERT_TRUE(write_file_atomically(folder.path() / "text" / "regression" / "kept.json", kept));
  ASSERT_TRUE(write_file_atomically(folder.path() / "text" / "seed" / "wire-one", "9.7517E-319"));
  ASSERT_TRUE(write_file_atomically(folder.path() / "text" / "seed" / "wire-two", "-0"));
  const CorpusStore corpus(folder.path());
  ASSERT_THAT(corpus.problems(), SizeIs(0));
  const auto reference = make_reference();
  text_calls = 0;
  const LawResult result = run_law(law, *reference, corpus, small_options());
  EXPECT_EQ(result.ruling, Ruling::holds);
  EXPECT_EQ(tally(result, Engine::corpus).cases, 3U);
  EXPECT_EQ(tally(result, Engine::sweep).cases, 90U);
  EXPECT_EQ(tally(result, Engine::property).cases, 70U);
  EXPECT_EQ(tally(result, Engine::fuzz).cases, 50U);
  EXPECT_EQ(text_calls, 3U + 90U + 70U + 50U) << "every counted case is one call of the check";
}

class EveryTypeOfCase : public testing::TestWithParam<TypeAndVariant> {};

TEST_P(EveryTypeOfCase, IsDrivenByEveryEngine) {
  const auto& [type, variant] = GetParam();
  std::uint64_t calls = 0;
  const auto count = [&calls](Subject&, const Case&) {
    ++calls;
    Judge judge;
    judge.add_checked(1);
    return std::move(judge).verdict();
  };
  const Law law{"test.counts", "Counts.", {}, type, only_variant(variant), count};
  const TemporaryFolder folder;
  const std::string kept = case_file_text(law_of_type(*type).id, "reference", {}, random_case(*type, variant, 8));
  ASSERT_TRUE(write_file_atomically(folder.path() / std::string(type->name()) / "regression" / "kept.json", kept));
  const CorpusStore corpus(folder.path());
  const auto reference = make_reference();
  const LawResult result = run_law(law, *reference, corpus, small_options());
  std::uint64_t counted = 0;
  for (const Engine engine : kEngines) {
    EXPECT_GT(tally(result, engine).cases, 0U) << engine_name(engine);
    EXPECT_EQ(tally(result, engine).checked, tally(result, engine).cases) << engine_name(engine);
    counted += tally(result, engine).cases;
  }
  EXPECT_EQ(counted, calls);
  // Rows of one rule share the effort; what is left of it is 50 cases at most after a whole sweep.
  const std::uint64_t sharers = type->sharers(variant);
  const std::optional<Domain> domain = type->domain(variant);
  const bool swept_whole = domain && domain->total <= small_options().effort.sweep_inputs / sharers / domain->weight;
  const std::uint64_t property_cases = std::max<std::uint64_t>(70 / sharers, 1);
  EXPECT_EQ(tally(result, Engine::property).cases,
            swept_whole ? std::min<std::uint64_t>(property_cases, 50) : property_cases);
  EXPECT_EQ(tally(result, Engine::fuzz).cases, std::max<std::uint64_t>(50 / sharers, 1));
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryTypeOfCase, testing::ValuesIn(all_variants()), name_of_variant);

// Breaks on one narrow corner of the parameters; nothing simpler than {255,255,0,0,0} does.
Verdict break_on_two_full_fields(Subject&, const ParametersCase& c) {
  Judge judge;
  judge.add_checked(1);
  if (c.values[0] == 255 && c.values[1] == 255) judge.broken({"corner", "in", "right", "wrong", "why"});
  return std::move(judge).verdict();
}

Law corner_law() {
  return make_law<ParametersCase>("test.corner", "Breaks on a corner.", {}, parameters_cases,
                                  only_variant("conv2d:gen2"), break_on_two_full_fields);
}

constexpr const char* kCorner = R"({"layout":"conv2d:gen2","values":[255,255,0,0,0]})";

TEST(Shrinking, ThePropertyEngineEndsAtTheExactMinimum) {
  const Law law = corner_law();
  const auto reference = make_reference();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Hunt hunt(law, *reference, "conv2d:gen2");
    run_property(hunt, seed, 2000);
    ASSERT_THAT(hunt.findings(), SizeIs(1)) << "seed " << seed;
    const Finding& finding = hunt.findings()[0];
    EXPECT_EQ(finding.case_json, kCorner);
    EXPECT_EQ(finding.engine, Engine::property);
    EXPECT_EQ(finding.seed, seed);
    EXPECT_EQ(finding.signature(), "test.corner corner");
    EXPECT_EQ(hunt.tally(Engine::property).cases, 2000U) << "the search goes on behind a finding";
  }
}

TEST(Shrinking, TheFuzzEngineEndsAtTheExactMinimum) {
  const Law law = corner_law();
  const auto reference = make_reference();
  Hunt hunt(law, *reference, "conv2d:gen2");
  run_fuzz(hunt, 1, 20000, {});
  ASSERT_THAT(hunt.findings(), SizeIs(1));
  EXPECT_EQ(hunt.findings()[0].case_json, kCorner);
  EXPECT_GT(hunt.findings()[0].shrinks, 0U);
}

TEST(Shrinking, ASweptCaseIsHalvedToTheOneInputThatBreaks) {
  const Law law = make_law<ConversionCase>("test.one_input", "Breaks on one bit pattern.", {}, conversion_cases,
                                           only_variant("f16->f32"), [](Subject&, const ConversionCase& c) {
                                             Judge judge;
                                             judge.add_checked(c.count());
                                             for (std::size_t i = 0; i < c.count(); ++i)
                                               if (load_element(spec(c.from), c.elements, i) == 0x3C01)
                                                 judge.broken({"just above one", "in", "right", "wrong", "why"});
                                             return std::move(judge).verdict();
                                           });
  const auto reference = make_reference();
  Hunt hunt(law, *reference, "f16->f32");
  EXPECT_EQ(run_sweep(hunt, 65536), 65536U);
  ASSERT_THAT(hunt.findings(), SizeIs(1));
  EXPECT_EQ(hunt.findings()[0].case_json, R"({"from":"f16","to":"f32","elements":["0x3c01"]})");
}

TEST(Shrinking, WireTextIsCutToTheLettersThatMatter) {
  const Law law = make_law<TextCase>("test.letters", "Breaks on two letters.", {}, text_cases, only_variant("json"),
                                     [](Subject&, const TextCase& c) {
                                       Judge judge;
                                       judge.add_checked(1);
                                       const std::size_t e = c.text.find('e');
                                       if (e != std::string::npos && c.text.find('-', e) != std::string::npos)
                                         judge.broken({"letters", "in", "right", "wrong", "why"});
                                       return std::move(judge).verdict();
                                     });
  const TemporaryFolder folder;
  folder.write("text/seed/long", "8.8895642e-316");
  const auto reference = make_reference();
  Hunt hunt(law, *reference, "json");
  run_fuzz(hunt, 4, 1000, CorpusStore(folder.path()));
  ASSERT_THAT(hunt.findings(), SizeIs(1));
  EXPECT_EQ(hunt.findings()[0].case_json, R"({"text":"e-"})");
}

TEST(Hunting, ManyBadInputsOfOnePlaceAreOneFindingAndPlacesAreBounded) {
  const Law law = make_law<NumberCase>("test.bits", "Breaks everywhere.", {}, number_cases, only_variant("json"),
                                       [](Subject&, const NumberCase& c) {
                                         Judge judge;
                                         judge.add_checked(1);
                                         judge.broken({"place " + std::to_string(c.bits % 8), "i", "e", "a", "w"});
                                         return std::move(judge).verdict();
                                       });
  const auto reference = make_reference();
  const LawResult all = run_law(law, *reference, {}, small_options());
  std::set<std::string> signatures;
  for (const Finding& finding : all.findings) EXPECT_TRUE(signatures.insert(finding.signature()).second);
  EXPECT_THAT(signatures, SizeIs(8));
  EXPECT_EQ(all.ruling, Ruling::broken);
  RunOptions few = small_options();
  few.most_findings = 3;
  EXPECT_THAT(run_law(law, *reference, {}, few).findings, SizeIs(3));
}

TEST(Hunting, ALawWithoutVariantsIsSkippedAndOneThatNeverAppliesSaysSo) {
  const auto reference = make_reference();
  const auto nothing = [](Subject&, const Case&) { return not_applicable("never"); };
  const Law no_variants{
      "test.none", "", {}, &number_cases, [](const SubjectInfo&) {
                          return std::vector<std::string>{}; }, nothing};
  const LawResult skipped_law = run_law(no_variants, *reference, {}, small_options());
  EXPECT_EQ(skipped_law.ruling, Ruling::skipped);
  EXPECT_FALSE(skipped_law.reason.empty());
  const Law never{"test.never", "", {}, &number_cases, only_variant("json"), nothing};
  const LawResult result = run_law(never, *reference, {}, small_options());
  EXPECT_EQ(result.ruling, Ruling::not_applicable);
  EXPECT_FALSE(result.reason.empty());
  EXPECT_EQ(tally(result, Engine::property).not_applicable, 70U);
}

std::vector<std::uint64_t> digests(const LawResult& result) {
  std::vector<std::uint64_t> all;
  for (const Engine engine : kEngines) all.push_back(tally(result, engine).digest);
  return all;
}

class Determinism : public testing::TestWithParam<const char*> {};

TEST_P(Determinism, OneSeedGivesOneDigestAndAnotherSeedAnother) {
  const Law& law = *law_named(GetParam()).value();
  const auto reference = make_reference();
  RunOptions options = small_options();
  const std::vector<std::uint64_t> first = digests(run_law(law, *reference, {}, options));
  EXPECT_EQ(digests(run_law(law, *reference, {}, options)), first);
  options.seed = 2;
  const std::vector<std::uint64_t> other = digests(run_law(law, *reference, {}, options));
  EXPECT_EQ(other[static_cast<std::size_t>(Engine::sweep)], first[static_cast<std::size_t>(Engine::sweep)]);
  for (const Engine engine : {Engine::property, Engine::fuzz})
    EXPECT_NE(other[static_cast<std::size_t>(engine)], first[static_cast<std::size_t>(engine)]) << engine_name(engine);
}

INSTANTIATE_TEST_SUITE_P(Engines, Determinism,
                         testing::Values("text.parsing_is_correctly_rounded", "params.unpack_inverts_pack",
                                         "encoding.quantize_agrees_with_the_declared_dialect",
                                         "storage.repack_keeps_every_value"),
                         [](const auto& test) { return as_test_name(test.param); });

TEST(Sweep, ShardsVisitEveryRunOnceBetweenThem) {
  std::vector<int> visits(512);
  const Law law{"test.visits", "", {}, &blocks_cases, only_variant("q8_0:ggml"), [&visits](Subject&, const Case& c) {
                  const Bytes& blocks = c.as<BlocksCase>().blocks;
                  const std::size_t scale = blocks[0] + 256U * blocks[1];
                  ++visits[(scale * 8 + blocks[2] / 32U) / 1024];
                  Judge judge;
                  judge.add_checked(1);
                  return std::move(judge).verdict();
                }};
  const auto reference = make_reference();
  std::uint64_t inputs = 0;
  for (std::uint64_t index = 0; index < 3; ++index) {
    Hunt hunt(law, *reference, "q8_0:ggml");
    inputs += run_sweep(hunt, ~std::uint64_t{0}, {index, 3}).value();
  }
  EXPECT_EQ(inputs, 65536U * 8);
  EXPECT_THAT(visits, testing::Each(1));
}

TEST(Sweep, ASampleIsSpreadOverTheWholeDomain) {
  std::vector<std::uint64_t> firsts;
  const Law law{"test.firsts", "", {}, &conversion_cases, only_variant("f32->f16"), [&firsts](Subject&, const Case& c) {
                  firsts.push_back(load_element(spec(Format::f32), c.as<ConversionCase>().elements, 0));
                  Judge judge;
                  judge.add_checked(1);
                  return std::move(judge).verdict();
                }};
  const auto reference = make_reference();
  Hunt hunt(law, *reference, "f32->f16");
  EXPECT_EQ(run_sweep(hunt, 262'144), 262'144U);
  EXPECT_THAT(firsts, ElementsAre(0U, 0x40000000U, 0x80000000U, 0xC0000000U));
}

TEST(Profiles, AreKnownByNameAndGrow) {
  const Effort quick = effort_of_profile("quick").value();
  const Effort gate = effort_of_profile("gate").value();
  const Effort nightly = effort_of_profile("nightly").value();
  EXPECT_GT(gate.property_cases, quick.property_cases);
  EXPECT_GT(nightly.property_cases, gate.property_cases);
  EXPECT_EQ(nightly.sweep_inputs, std::uint64_t{1} << 32);
  EXPECT_THAT(effort_of_profile("fast").error().text(), testing::HasSubstr("quick, gate or nightly"));
}

}  // namespace
}  // namespace packcheck::test
