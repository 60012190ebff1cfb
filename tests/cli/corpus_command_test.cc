// packcheck corpus add and lint: what gets into a corpus, and what shows that a hand has been at it.
#include <gmock/gmock.h>

#include <algorithm>

#include "properties/corpus_store.h"
#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class Corpus : public CommandTest {
 protected:
  /// Files that a verify of a faulty twin wrote.
  [[nodiscard]] std::vector<std::string> findings() const {
    EXPECT_EQ(verify_twin("numeric_cast", "params.unpack_inverts_pack").status, 1);
    std::vector<std::string> files;
    for (const std::string& name : files_below(folder() / "packcheck-report" / "findings"))
      files.push_back("packcheck-report/findings/" + name);
    return files;
  }
  [[nodiscard]] Ran add(std::vector<std::string> words) const {
    words.insert(words.begin(), {"corpus", "add"});
    words.insert(words.end(), {"--corpus", "c"});
    return run(words);
  }
  [[nodiscard]] Ran lint(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"corpus", "lint", "--corpus", "c"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  [[nodiscard]] std::vector<std::string> in_corpus() const { return files_below(folder() / "c"); }
};

TEST_F(Corpus, AFindingBecomesARegressionOnce) {
  const std::string finding = findings().at(0);
  const Ran first = add({finding});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, StartsWith("added c/parameters/regression/params.unpack_inverts_pack-"));
  ASSERT_THAT(in_corpus(), SizeIs(1));
  const std::string text = text_of(folder() / "c" / in_corpus()[0]);
  EXPECT_EQ(text, text_of(folder() / finding));
  EXPECT_THAT(in_corpus()[0], HasSubstr(sha1_of(text)));
  const Ran second = add({finding});
  EXPECT_EQ(second.status, 0);
  EXPECT_THAT(second.out, StartsWith("already there: "));
  EXPECT_THAT(in_corpus(), SizeIs(1));
  EXPECT_EQ(lint().status, 0) << lint().out;
}

TEST_F(Corpus, ARegressionIsReplayedByVerify) {
  ASSERT_EQ(add(findings()).status, 0);
  const Json report = run({"verify", "--corpus", "c", "--law", "params.unpack_inverts_pack", "--subject",
                           "twin:numeric_cast", "--json"})
                          .json();
  EXPECT_EQ(report["verdicts"][0]["engine"], "corpus");
  EXPECT_EQ(report["verdicts"][0]["engines"]["corpus"]["cases"], in_corpus().size());
}

TEST_F(Corpus, KindsAreFolders) {
  const std::string finding = findings().at(0);
  for (const char* kind : {"seed", "regression", "crashing"}) {
    EXPECT_EQ(add({finding, "--kind", kind}).status, 0);
    EXPECT_TRUE(std::filesystem::is_directory(folder() / "c" / "parameters" / kind));
  }
  EXPECT_EQ(lint().status, 0);
}

TEST_F(Corpus, RawFilesOfAFamilyAreNamedByTheirSha1) {
  files().write("raw", "1e5");
  const Ran ran = add({"raw", "--family", "text", "--kind", "crashing"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(in_corpus(), ElementsAre("text/crashing/" + sha1_of("1e5")));
  EXPECT_EQ(text_of(folder() / "c" / in_corpus()[0]), "1e5");
  EXPECT_EQ(lint().status, 0) << lint().out;
}

struct BadAddition {
  const char* name;
  const char* text;
  std::vector<std::string> more;
  const char* message;
};
void PrintTo(const BadAddition& b, std::ostream* out) { *out << b.name; }

class NotAdded : public Corpus, public testing::WithParamInterface<BadAddition> {};

TEST_P(NotAdded, ABrokenFileAddsNothingNotEvenTheGoodOnesBeforeIt) {
  files().write("bad", GetParam().text);
  std::vector<std::string> words = GetParam().more.empty() ? findings() : std::vector<std::string>{};
  words.emplace_back("bad");
  words.insert(words.end(), GetParam().more.begin(), GetParam().more.end());
  const Ran ran = add(words);
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr(GetParam().message));
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder() / "c"));
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, NotAdded,
    testing::Values(BadAddition{"no_json", "no json", {}, "well-formed"}, BadAddition{"empty", "", {}, "well-formed"},
                    BadAddition{"another_version", R"({"packcheck_case":7})", {}, "format version 7"},
                    BadAddition{"vectors", R"({"packcheck_vectors":1,"vectors":[]})", {}, "0 cases"},
                    BadAddition{"a_vector",
                                R"({"packcheck_vectors":1,"vectors":[{"id":"a","comment":"c","source":"s",)"
                                R"("type":"number","law":"text.printing_is_exact","case":{"bits":"0x0"}}]})",
                                {},
                                "a file of vectors"},
                    BadAddition{"unknown_family", "1e5", {"--family", "graph"}, "unknown family 'graph'"},
                    BadAddition{"family_without_wire_format", "1e5", {"--family", "words"}, "no wire format"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Corpus, InputsOfFuzzTargetsHaveTheirSha1AsName) {
  files().write("c/fuzz/convert/" + sha1_of("any bytes"), "any bytes");
  EXPECT_EQ(lint().status, 0) << lint().out;
  files().write("c/fuzz/convert/other", "any bytes");
  files().write("c/fuzz/stray", "any bytes");
  const Ran ran = lint();
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("convert/other"), HasSubstr("fuzz/stray"), HasSubstr("fuzz/TARGET/FILE")));
}

TEST_F(Corpus, LintShowsAHandEditAStrayAndABrokenFile) {
  ASSERT_EQ(add({findings().at(0)}).status, 0);
  const std::string name = in_corpus().at(0);
  std::string text = text_of(folder() / "c" / name);
  text.replace(text.find("\"why\": \""), 8, "\"why\": \"edited: ");
  files().write("c/" + name, text);
  const Ran edited = lint();
  EXPECT_EQ(edited.status, 1);
  EXPECT_THAT(edited.out, AllOf(HasSubstr(name), HasSubstr("SHA-1"), HasSubstr("1 cases, 1 problems")));
  files().write("c/parameters/notes.txt", "a stray");
  files().write("c/parameters/good/x", "a kind that there is not");
  files().write("c/graph/seed/x", "a family that there is not");
  files().write("c/vectors/broken.json", "{");
  const Ran all = lint({"--json"});
  EXPECT_EQ(all.status, 1);
  std::vector<std::string> places;
  const Json json = all.json();
  for (const Json& problem : json["problems"]) {
    places.push_back(problem["where"]);
    EXPECT_FALSE(problem["what"].get<std::string>().empty());
    EXPECT_FALSE(problem["right"].get<std::string>().empty());
  }
  for (const std::string& file : {name, std::string("parameters/notes.txt"), std::string("parameters/good/x"),
                                  std::string("graph/seed/x"), std::string("vectors/broken.json")})
    EXPECT_THAT(places, testing::Contains("c/" + file));
}

TEST_F(Corpus, LintOfAnEmptyFolderHolds) {
  std::filesystem::create_directory(folder() / "c");
  const Ran ran = lint({"--json"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_EQ(ran.json()["cases"], 0);
  EXPECT_THAT(ran.json()["problems"], IsEmpty());
}

class Vectors : public Corpus {
 protected:
  [[nodiscard]] Ran add_vector(const std::string& id, const std::string& bits) const {
    return add({"--vectors",    "numbers",
                "--law",        "text.printing_is_exact",
                "--id",         id,
                "--comment",    "a packed scalar",
                "--source",     "a test",
                "--declares",   "print json",
                "--declares",   "parse json",
                "--flag",       "digits-lost",
                "--wrong-from", "twin:six_digits",
                "--case",       "{\"bits\":\"" + bits + "\"}"});
  }
  [[nodiscard]] Ran add_conversion(const std::vector<std::string>& more) const {
    std::vector<std::string> words{
        "--vectors", "v",    "--law",    "format.narrowing_is_correctly_rounded",
        "--id",      "tie",  "--source", "a test",
        "--comment", "even", "--case",   R"({"from":"f32","to":"bf16","elements":["0x3f808000"]})"};
    words.insert(words.end(), more.begin(), more.end());
    return add(words);
  }
};

TEST_F(Vectors, AreAddedWithTheirStorySortedAndEachIdOnce) {
  EXPECT_EQ(add_vector("b-second", "0x0000000000040101").status, 0);
  EXPECT_EQ(add_vector("a-first", "0x0000000000040105").status, 0);
  EXPECT_THAT(in_corpus(), ElementsAre("vectors/numbers.json"));
  const std::string text = text_of(folder() / "c" / "vectors" / "numbers.json");
  EXPECT_LT(text.find("a-first"), text.find("b-second"));
  const Ran twice = add_vector("a-first", "0x0000000000000002");
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("a-first"));
  EXPECT_EQ(text_of(folder() / "c" / "vectors" / "numbers.json"), text);
  EXPECT_EQ(lint().status, 0) << lint().out;
  EXPECT_EQ(run({"repro", "c/vectors/numbers.json#b-second"}).status, 0);
}

TEST_F(Vectors, CarryTheAnswerOfTheReferenceAndAWrongOne) {
  ASSERT_EQ(add_vector("seed", "0x0000000000040101").status, 0);
  const Json row = Json::parse(text_of(folder() / "c" / "vectors" / "numbers.json"))["vectors"][0];
  EXPECT_EQ(row["result"], "valid");
  EXPECT_EQ(row["right"]["print"], "1.296433e-318");
  EXPECT_NE(row["wrong"]["print"], row["right"]["print"]);
  EXPECT_THAT(row["declares"], ElementsAre("print json", "parse json"));
  EXPECT_THAT(row["flags"], ElementsAre("digits-lost"));
}

TEST_F(Vectors, AreRefusedWhereTheLawDoesNotTellRightFromWrong) {
  const std::vector<std::string> declares{"--declares", "convert f32->bf16 nan=any"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), declares.begin(), declares.end());
    return add_conversion(more);
  };
  struct Row {
    std::vector<std::string> more;
    std::string message;
  };
  const std::vector<Row> rows{
      {{"--right", R"({"convert":["0x3f81"]})"}, "the right answer is broken"},
      {{"--wrong", R"({"convert":["0x3f80"]})"}, "the wrong answer is holds"},
      {{"--wrong", R"({"convert":["0x3f80","0x3f80"]})"}, ""},  // of another size: a wrong answer, too
      {{"--wrong", R"({"convert":"0x3f81"})"}, "of the wrong type"},
      {{"--wrong", R"({"print":"1"})"}, "'print' is not declared"},
      {{"--wrong", R"({"convert":{"fault":"tired"}})"}, "unknown fault 'tired'"},
      {{"--wrong", "{"}, "well-formed"}};
  for (const Row& row : rows) {
    const Ran ran = with(row.more);
    EXPECT_EQ(ran.status, row.message.empty() ? 0 : 2) << row.message << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(row.message));
  }
  EXPECT_THAT(add_conversion({}).err, HasSubstr("no declaration"));
  EXPECT_THAT(add_conversion({"--declares", "convert f32->f16"}).err, HasSubstr("does not judge this case"));
}

TEST_F(Vectors, WithoutAnAnswerAreAProblemForLint) {
  files().write("c/vectors/old.json",
                R"({"packcheck_vectors":1,"vectors":[{"id":"old","law":"text.printing_is_exact","type":"number",)"
                R"("case":{"bits":"0x0"},"comment":"c","source":"s"}]})");
  const Ran ran = lint();
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("vector old"), HasSubstr("no answer")));
}

TEST_F(Vectors, NeedEveryPartOfTheirStoryAndACaseThatReads) {
  const std::vector<std::pair<std::string, std::string>> parts{{"--law", "text.printing_is_exact"},
                                                               {"--id", "x"},
                                                               {"--comment", "c"},
                                                               {"--source", "s"},
                                                               {"--case", R"({"bits":"0x0"})"}};
  for (const auto& [missing, value] : parts) {
    std::vector<std::string> words{"--vectors", "numbers"};
    for (const auto& [option, text] : parts)
      if (option != missing) words.insert(words.end(), {option, text});
    const Ran ran = add(words);
    EXPECT_EQ(ran.status, 2) << missing;
    EXPECT_THAT(ran.err, HasSubstr(missing));
  }
  EXPECT_EQ(add_vector("x", "0xg").status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder() / "c"));
}

}  // namespace
}  // namespace packcheck::test
