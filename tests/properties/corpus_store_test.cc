// The corpus: what is broken is a problem with a name, and no reader ever sees half a file.
#include "properties/corpus_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "properties/cases/cases.h"
#include "tests/properties/samples.h"
#include "tests/properties/temporary_folder.h"

namespace packcheck::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kLaw = "params.unpack_inverts_pack";
constexpr const char* kCase = R"({"layout":"conv2d:gen2","values":[0,0,0,0,1]})";

Case parameters_case() { return parameters_cases.from_json(kCase).value(); }

std::string good_case_file() {
  return case_file_text(kLaw, "twin:numeric_cast", {"conv2d:gen2 out_channels", "in", "right", "wrong", "why"},
                        parameters_case());
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::string vector_text(const std::string& id, const std::string& members = "") {
  return R"({"id":")" + id + R"(","comment":"c","source":"s","type":"number",)" + members +
         R"("case":{"bits":"0x0000000000030301"}})";
}
std::string vectors_file(const std::string& list) { return R"({"packcheck_vectors":1,"vectors":[)" + list + "]}"; }

struct BrokenFile {
  const char* name;
  std::string text;
  std::vector<std::string> message;
};
void PrintTo(const BrokenFile& f, std::ostream* out) { *out << f.name; }

std::vector<BrokenFile> broken_files() {
  const std::string good = good_case_file();
  return {
      {"empty", "", {"well-formed"}},
      {"cut_off", good.substr(0, good.size() / 2), {"well-formed"}},
      {"not_json", "0x3c00\n", {"well-formed"}},
      {"later_version",
       replaced(good, "\"packcheck_case\": 1", "\"packcheck_case\": 2"),
       {"format version 2", "packcheck_case: 1"}},
      {"version_as_text",
       replaced(good, "\"packcheck_case\": 1", "\"packcheck_case\": \"1\""),
       {"not a non-negative integer", "packcheck_case"}},
      {"no_version", replaced(good, "\"packcheck_case\": 1,", ""), {"missing", "packcheck_case"}},
      {"an_array", "[]", {"not an object"}},
      {"unknown_law", replaced(good, kLaw, "params.unpack"), {"unknown law 'params.unpack'", "/law", kLaw}},
      {"law_of_another_type",
       replaced(good, kLaw, "text.printing_is_exact"),
       {"case of type 'parameters'", "/type", "'number'"}},
      {"unknown_type", replaced(good, "\"parameters\"", "\"graph\""), {"unknown case type 'graph'", "/type", "words"}},
      {"unknown_member", replaced(good, "\"why\"", "\"because\""), {"/why"}},
      {"surplus_member", replaced(good, "\"law\"", "\"note\": 1, \"law\""), {"unknown member 'note'"}},
      {"duplicate_key", replaced(good, "\"law\"", "\"law\": \"x\", \"law\""), {"duplicate key 'law'"}},
      {"broken_case", replaced(good, "conv2d:gen2\"", "conv9d\""), {"unknown layout 'conv9d'", "/case"}},
      {"case_missing", replaced(good, "\"case\"", "\"kase\""), {"/case"}},
      {"nul", good + std::string(1, '\0'), {"NUL"}},
      {"text_behind", good + "{}", {"well-formed"}},
      {"later_vectors", R"({"packcheck_vectors":3,"vectors":[]})", {"format version 3", "packcheck_vectors: 2"}},
      {"vectors_no_array", R"({"packcheck_vectors":1,"vectors":{}})", {"not an array", "/vectors"}},
      {"vector_id_twice", vectors_file(vector_text("a") + "," + vector_text("a")), {"'a' is used twice", "/vectors/1"}},
      {"vector_unknown_member", vectors_file(vector_text("a", R"("x":1,)")), {"unknown member 'x'", "/vectors/0"}},
  };
}

class Broken : public testing::TestWithParam<BrokenFile> {};

TEST_P(Broken, IsAProblemThatNamesTheFileAndTheOthersAreRead) {
  const TemporaryFolder folder;
  const bool vectors = GetParam().text.find("packcheck_vectors") != std::string::npos;
  const fs::path broken = folder.write(vectors ? "vectors/b.json" : "parameters/regression/b.json", GetParam().text);
  folder.write("parameters/regression/a.json", good_case_file());
  folder.write("vectors/z.json", vectors_file(vector_text("z")));
  const CorpusStore store(folder.path());
  EXPECT_EQ(store.size(), 2U);
  ASSERT_EQ(store.problems().size(), 1U);
  const std::string message = store.problems()[0].text();
  EXPECT_THAT(message, HasSubstr(broken.string()));
  for (const std::string& part : GetParam().message) EXPECT_THAT(message, HasSubstr(part));
}

INSTANTIATE_TEST_SUITE_P(CorpusStore, Broken, testing::ValuesIn(broken_files()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CorpusStore, ReadsBackWhatCaseFileTextWrites) {
  const Result<std::vector<CaseFile>> files = parse_case_file(good_case_file(), "here");
  ASSERT_TRUE(files) << files.error().text();
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().law, kLaw);
  EXPECT_EQ(files->front().subject, "twin:numeric_cast");
  EXPECT_EQ(files->front().place, "conv2d:gen2 out_channels");
  EXPECT_EQ(parameters_cases.to_json(files->front().c), kCase);
}

TEST(CorpusStore, KeepsASubjectsOwnBytesOutOfTheCaseFile) {
  const std::string text =
      case_file_text(kLaw, "s", {"p", "in", "right", "crashed: \xFF\xC3(", "why"}, parameters_case());
  EXPECT_THAT(text, HasSubstr("crashed: \xEF\xBF\xBD"));
  EXPECT_TRUE(parse_case_file(text, "here"));
}

TEST(CorpusStore, SaysThatThereIsNoFolder) {
  const TemporaryFolder folder;
  const CorpusStore store(folder.path() / "absent");
  ASSERT_EQ(store.problems().size(), 1U);
  EXPECT_THAT(store.problems()[0].text(), HasSubstr("no such folder"));
  EXPECT_EQ(store.size(), 0U);
}

TEST(CorpusStore, RefusesACaseInAnotherFamilysFolder) {
  const TemporaryFolder folder;
  folder.write("words/regression/a.json", good_case_file());
  const CorpusStore store(folder.path());
  EXPECT_EQ(store.size(), 0U);
  ASSERT_EQ(store.problems().size(), 1U);
  EXPECT_THAT(store.problems()[0].text(), testing::AllOf(HasSubstr("case of type 'parameters'"), HasSubstr("'words'")));
}

TEST(CorpusStore, GivesCasesToLawsOfTheirTypeAndVariantOnly) {
  const TemporaryFolder folder;
  folder.write("parameters/regression/a.json", good_case_file());
  folder.write("text/seed/raw", "1e5");
  folder.write("vectors/v.json", vectors_file(vector_text("v") + "," + vector_text("w")));
  const CorpusStore store(folder.path());
  ASSERT_THAT(store.problems(), IsEmpty());
  const auto count = [&](const char* law, const char* variant) {
    return store.cases_for(*law_named(law).value(), variant).size();
  };
  EXPECT_EQ(count(kLaw, "conv2d:gen2"), 1U);
  EXPECT_EQ(count("params.out_of_range_fields_are_refused", "conv2d:gen2"), 1U);
  EXPECT_EQ(count(kLaw, "maxpool2d:gen2"), 0U);
  EXPECT_EQ(count("params.unpack_reads_each_field_from_its_place", "conv2d:gen2"), 0U);
  EXPECT_EQ(count("text.printing_is_exact", "json"), 2U);
  EXPECT_EQ(count("text.parsing_is_correctly_rounded", "json"), 1U);
  EXPECT_THAT(store.wire_inputs("text"), ElementsAre("1e5"));
  EXPECT_THAT(store.wire_inputs("blocks"), IsEmpty());
}

TEST(FileName, HoldsTheSignatureAndTheSha1OfTheText) {
  EXPECT_EQ(sha1_of("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_of(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(file_name_of("format.x f32->f16 tie", "abc"),
            "format.x-f32-f16-tie-a9993e364706816aba3e25717850c26c9cd0d89d.json");
}

TEST(FileName, IsOneNameThatAnyFileSystemTakes) {
  for (const std::string& signature : {std::string("../../etc/passwd"), std::string("a/b\\c:d\n"), std::string(),
                                       std::string(1000, 'x'), std::string("\xFF\0z", 3)}) {
    const std::string name = file_name_of(signature, "abc");
    EXPECT_EQ(fs::path(name).filename().string(), name);
    EXPECT_LE(name.size(), 255U);
    EXPECT_THAT(name, testing::EndsWith("-a9993e364706816aba3e25717850c26c9cd0d89d.json"));
    for (const char c : name) EXPECT_TRUE(c > ' ' && c < 127) << name;
  }
}

TEST(AtomicWrite, MakesTheFoldersAndReplacesTheFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a" / "b" / "file";
  ASSERT_TRUE(write_file_atomically(path, "first, and longer than the second"));
  ASSERT_TRUE(write_file_atomically(path, std::string("sec\0nd", 6)));
  EXPECT_EQ(read_file(path).value(), std::string("sec\0nd", 6));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("a/b/file"));
}

TEST(AtomicWrite, AReaderWithTheOldFileOpenKeepsItWhole) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("file", "old and whole");
  std::ifstream reader(path);
  ASSERT_TRUE(write_file_atomically(path, "new"));
  std::ostringstream seen;
  seen << reader.rdbuf();
  EXPECT_EQ(seen.str(), "old and whole");
  EXPECT_EQ(text_of(path), "new");
}

TEST(AtomicWrite, BelowARegularFileIsRefusedAndLeavesNothing) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("file", "text");
  const Result<void> written = write_file_atomically(file / "below" / "it", "text");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().text(), HasSubstr(file.string()));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("file"));
}

TEST(AtomicWrite, OntoAFolderIsRefusedAndLeavesNothing) {
  const TemporaryFolder folder;
  folder.write("target/inside", "kept");
  const Result<void> written = write_file_atomically(folder.path() / "target", "text");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().text(), HasSubstr("target"));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("target/inside"));
}

TEST(ReadFile, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  for (const fs::path& path : {folder.path(), folder.path() / "absent", fs::path("/dev/null"), fs::path()}) {
    const Result<std::string> text = read_file(path);
    ASSERT_FALSE(text) << path;
    EXPECT_THAT(text.error().text(), HasSubstr("no such file"));
  }
}

TEST(ReadFile, RefusesAFileThatIsTooLarge) {
  const TemporaryFolder folder;
  const fs::path path = folder.write("large", "");
  fs::resize_file(path, (std::uintmax_t{64} << 20) + 1);
  const Result<std::string> text = read_file(path);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().text(), HasSubstr("at most 64 MiB"));
}

}  // namespace
}  // namespace packcheck::test
