// packcheck corpus import, promote, minimise and export: a fuzzer's input from crash to regression, and that a run that
// is killed loses none.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "cli/isolated_law.h"
#include "properties/corpus_store.h"
#include "subjects/reference/reference.h"
#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::SizeIs;
using testing::StartsWith;

class CorpusLife : public CommandTest {
 protected:
  [[nodiscard]] Ran corpus(const std::string& action, std::vector<std::string> words = {}) const {
    words.insert(words.begin(), {"corpus", action, "--corpus", "c"});
    return run(words);
  }
  /// Inputs of number_text_fuzzer as this twin breaks them.
  [[nodiscard]] Ran import(const std::string& twin, const std::vector<std::string>& inputs) const {
    std::vector<std::string> words{"--family", "text", "--subject", "twin:" + twin};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      words.push_back("crash-" + std::to_string(i));
      files().write(words.back(), inputs[i]);
    }
    return corpus("import", words);
  }
  [[nodiscard]] std::vector<std::string> in_corpus() const { return files_below(folder() / "c"); }
  [[nodiscard]] CaseFile only_case() const {
    const Result<std::vector<CaseFile>> files = read_case_file(folder() / "c" / in_corpus().at(0));
    return files.value().at(0);
  }
  /// A case of the text family under crashing/, said to have been found on `subject`.
  void write_crashing(const std::string& subject, const std::string& place, const std::string& text) const {
    const CaseType* type = case_type_named("text");
    const Case c = type->from_json("{\"text\":\"" + text + "\"}").value();
    const std::string law = "text.parsing_is_correctly_rounded";
    const std::string file = case_file_text(law, subject, {place, "i", "e", "a", "w"}, c);
    files().write("c/text/crashing/" + file_name_of(law + " " + place, file), file);
  }
};

TEST_F(CorpusLife, AFuzzersInputBecomesOneShrunkCase) {
  const Ran ran = import("subnormals_parsed_as_zero", {"123.4567890123E-320", "9.9999999E-317"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  ASSERT_THAT(in_corpus(), SizeIs(1)) << ran.out;
  EXPECT_THAT(ran.out, AllOf(StartsWith("imported c/text/crashing/text.parsing_is_correctly_rounded-"),
                             HasSubstr("already there: c/text/crashing/")));
  const CaseFile file = only_case();
  EXPECT_EQ(file.subject, "twin:subnormals_parsed_as_zero");
  EXPECT_LT(file.c.type->to_json(file.c).size(), std::string(R"({"text":"9.9999999E-317"})").size());
  EXPECT_EQ(run({"repro", "c/" + in_corpus()[0]}).status, 1);
  EXPECT_EQ(corpus("lint").status, 0);
}

TEST_F(CorpusLife, AnInputThatBreaksNothingIsNotImported) {
  files().write("crash", "1e5");
  const Ran ran = corpus("import", {"crash"});
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("not imported: crash breaks none of"));
  EXPECT_THAT(in_corpus(), IsEmpty());
}

TEST_F(CorpusLife, AnInputOfTheTargetForAnyLawIsReadAsThatTargetReadsIt) {
  const auto& laws = all_laws();
  const auto law = std::find_if(laws.begin(), laws.end(),
                                [](const Law& l) { return l.id == "text.parsing_refuses_what_is_no_json_number"; });
  std::string input(1, static_cast<char>(law - laws.begin()));
  files().write("crash", input + std::string(2, '\0') + "Infinity");
  const Ran ran = corpus("import", {"crash", "--subject", "twin:infinity_parsed", "--law", law->id});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(in_corpus(), SizeIs(1));
}

TEST_F(CorpusLife, ACaseFromATargetsOwnLineIsImported) {
  const Ran ran = corpus("import", {"--law", "text.parsing_is_correctly_rounded", "--case", R"({"text":"4e-320"})",
                                    "--subject", "twin:subnormals_parsed_as_zero"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(in_corpus(), SizeIs(1));
}

TEST_F(CorpusLife, BadArgumentsAreNamed) {
  EXPECT_THAT(corpus("import").err, HasSubstr("no files"));
  EXPECT_THAT(corpus("import", {"nowhere"}).err, HasSubstr("no such file"));
  EXPECT_THAT(corpus("import", {"x", "--family", "poems"}).err, HasSubstr("unknown family 'poems'"));
  EXPECT_THAT(corpus("import", {"--case", "{}"}).err, HasSubstr("no law is named"));
  EXPECT_THAT(corpus("export", {"--family", "words", "--to", "x"}).err, HasSubstr("no wire format"));
  EXPECT_THAT(corpus("export", {"--family", "text"}).err, HasSubstr("--to"));
}

TEST_F(CorpusLife, ACaseThatHoldsAgainIsPromotedAndABrokenOneStays) {
  write_crashing("reference", "json subnormal", "4e-320");
  write_crashing("twin:subnormals_parsed_as_zero", "json subnormal", "5e-320");
  write_crashing("lib:./gone.so", "json subnormal", "6e-320");
  ASSERT_EQ(import("subnormals_parsed_as_zero", {"7.5e-317"}).status, 0);
  const Ran ran = corpus("promote");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("promoted: c/text/regression/"), HasSubstr("not judged:"), HasSubstr("1 promoted")));
  std::size_t regressions = 0;
  for (const std::string& file : in_corpus()) regressions += file.find("text/regression/") == 0 ? 1 : 0;
  EXPECT_EQ(regressions, 1U);
  EXPECT_EQ(corpus("lint").status, 0) << corpus("lint").out;
}

TEST_F(CorpusLife, ACaseThatBreaksInAnotherWayIsFiledUnderIt) {
  write_crashing("twin:subnormals_parsed_as_zero", "json somewhere else", "4e-320");
  const Ran ran = corpus("promote");
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("broken elsewhere:"));
  ASSERT_THAT(in_corpus(), SizeIs(1));
  EXPECT_NE(only_case().place, "json somewhere else");
  EXPECT_EQ(only_case().c.type->to_json(only_case().c), R"({"text":"4e-320"})");
}

TEST_F(CorpusLife, MinimisingKeepsTheSimplestOfEachSignature) {
  ASSERT_EQ(import("subnormals_parsed_as_zero", {"7.5e-317"}).status, 0);
  const CaseFile known = only_case();
  std::filesystem::remove_all(folder() / "c");
  write_crashing(known.subject, known.place, "7.123456789e-317");
  write_crashing(known.subject, known.place, "-00000.1234e-300");
  write_crashing(known.subject, known.place, "123456.7123456789e-323");
  const Ran ran = corpus("minimise");
  EXPECT_EQ(ran.status, 0) << ran.err;
  ASSERT_THAT(in_corpus(), Contains(HasSubstr("text.parsing"))) << ran.out;
  std::size_t same = 0;
  for (const std::string& name : in_corpus())
    same += read_case_file(folder() / "c" / name).value().at(0).c.type->to_json(known.c).empty() ? 0 : 1;
  EXPECT_LE(same, 2U) << ran.out;  // the one that breaks nothing is left as it was
  EXPECT_EQ(corpus("lint").status, 0) << corpus("lint").out;
}

TEST_F(CorpusLife, ExportGivesTheBytesOfCasesAndOfRawFiles) {
  write_crashing("reference", "json subnormal", "4e-320");
  files().write("raw", "1e5");
  ASSERT_EQ(run({"corpus", "add", "raw", "--family", "text", "--kind", "seed", "--corpus", "c"}).status, 0);
  const Ran ran = corpus("export", {"--family", "text", "--to", "seeds"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  std::vector<std::string> texts;
  for (const std::string& name : files_below(folder() / "seeds")) texts.push_back(text_of(folder() / "seeds" / name));
  EXPECT_THAT(texts, testing::UnorderedElementsAre("4e-320", "1e5"));
}

TEST_F(CorpusLife, ARunThatIsKilledLosesNothingAndGoesOn) {
  // One input a signature: signs and classes of numbers that this twin reads wrongly.
  const std::vector<std::string> inputs{"4e-320", "0.3", "1e23", "-17.1", "1.7976931348623157e308", "33554433"};
  ASSERT_EQ(import("parsed_as_f32", inputs).status, 0);
  const std::vector<std::string> whole = in_corpus();
  ASSERT_GE(whole.size(), 2U);
  std::filesystem::remove_all(folder() / "c");
  std::filesystem::create_directories(folder() / "c/text/crashing");
  std::vector<std::string> words{
      command_path().string(), "corpus", "import", "--corpus", "c", "--family", "text", "--subject",
      "twin:parsed_as_f32"};
  for (std::size_t i = 0; i < inputs.size(); ++i) words.push_back("crash-" + std::to_string(i));
  std::size_t before = 0;
  for (int kills = 0; kills < 3; ++kills) {
    const RenameWatch watch(folder() / "c/text/crashing");
    Running running(folder(), words);
    if (before + 1 < whole.size()) (void)watch.wait();  // something new is there: killed in the midst of the rest
    (void)running.kill();
    EXPECT_EQ(corpus("lint").status, 0) << corpus("lint").out;
    EXPECT_GE(in_corpus().size(), before);
    before = in_corpus().size();
  }
  // As left by a kill between writing and renaming.
  files().write("c/text/crashing/half.json.part-999999999", "{");
  EXPECT_EQ(corpus("lint").status, 0) << corpus("lint").out;
  ASSERT_EQ(import("parsed_as_f32", inputs).status, 0);
  EXPECT_EQ(in_corpus(), whole);
}

TEST_F(CorpusLife, APromotionThatIsKilledLosesNothing) {
  for (const char* text : {"1e-320", "2e-320", "3e-320", "4e-320"}) write_crashing("reference", "json subnormal", text);
  std::filesystem::create_directories(folder() / "c/text/regression");
  const auto names = [&] {
    std::set<std::string> list;
    for (const std::string& file : in_corpus()) list.insert(std::filesystem::path(file).filename());
    return list;
  };
  const std::set<std::string> all = names();
  for (int kills = 0; kills < 2; ++kills) {
    const RenameWatch watch(folder() / "c/text/regression");
    Running running(folder(), {command_path().string(), "corpus", "promote", "--corpus", "c"});
    (void)watch.wait();
    (void)running.kill();
    EXPECT_THAT(names(), IsSupersetOf(all));
  }
  EXPECT_EQ(corpus("promote").status, 0);
  EXPECT_EQ(names(), all);
  EXPECT_THAT(in_corpus(), Each(StartsWith("text/regression/")));
}

/// A law of the text family with this check.
Verdict check_isolated(const std::function<Verdict(Subject&, const Case&)>& check, unsigned seconds) {
  Law law = *law_named("text.parsing_is_correctly_rounded").value();
  law.check = check;
  const std::unique_ptr<Subject> reference = make_reference();
  return isolated(law, seconds).check(*reference, law.case_type->from_json(R"({"text":"1"})").value());
}

TEST(IsolatedLaw, SaysWhatTheLawSays) {
  const Verdict verdict = check_isolated(
      [](Subject&, const Case&) {
        return Verdict{Ruling::broken, {{"json p", "i", "e", "\xff", "w"}}, "r", 7};
      },
      20);
  ASSERT_THAT(verdict.breaches, SizeIs(1));
  EXPECT_EQ(verdict.breaches[0].place, "json p");
  EXPECT_EQ(verdict.checked, 7U);
  EXPECT_EQ(verdict.reason, "r");
}

TEST(IsolatedLaw, ADeadProcessIsABreach) {
  const Verdict verdict = check_isolated(
      [](Subject&, const Case&) -> Verdict {
        ::signal(SIGABRT, SIG_DFL);
        ::raise(SIGKILL);
        return {};
      },
      20);
  ASSERT_THAT(verdict.breaches, SizeIs(1));
  EXPECT_EQ(verdict.breaches[0].place, "json crashed");
  EXPECT_EQ(verdict.breaches[0].actual, "signal 9");
}

TEST(IsolatedLaw, AHungOneIsABreach) {
  const Verdict verdict = check_isolated(
      [](Subject&, const Case&) -> Verdict {
        for (;;) ::pause();
      },
      1);
  ASSERT_THAT(verdict.breaches, SizeIs(1));
  EXPECT_THAT(verdict.breaches[0].place, HasSubstr("json hung"));
}

}  // namespace
}  // namespace packcheck::test
