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
  EXPECT_THAT(first.out, StartsWith("added c/parameters/regression/params.unpack_inverts_pack-conv2d-gen2"));
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
    return add({"--vectors", "numbers", "--law", "text.printing_is_exact", "--id", id, "--comment", "a packed scalar",
                "--source", "a test", "--case", "{\"bits\":\"" + bits + "\"}"});
  }
};

TEST_F(Vectors, AreAddedWithTheirStorySortedAndEachIdOnce) {
  EXPECT_EQ(add_vector("b-second", "0x0000000000030301").status, 0);
  EXPECT_EQ(add_vector("a-first", "0x0000000000000001").status, 0);
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
