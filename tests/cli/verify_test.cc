// packcheck verify and repro: verdicts, reports, and findings that anyone can reproduce.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "core/storage/conversion_table.h"
#include "properties/law.h"
#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class Verify : public CommandTest {
 protected:
  [[nodiscard]] Json report(const std::string& name = "packcheck-report") const {
    return Json::parse(text_of(folder() / name / "report.json"));
  }
};

/// (law, subject) of every verdict.
std::multiset<std::pair<std::string, std::string>> pairs_of(const Json& report) {
  std::multiset<std::pair<std::string, std::string>> pairs;
  for (const Json& row : report["verdicts"]) pairs.emplace(row["law"], row["subject"]);
  return pairs;
}

TEST_F(Verify, TheReferenceHoldsEveryLaw) {
  const Ran ran = run({"verify", "--corpus", "none"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("All laws hold."));
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(files_below(folder()), testing::ElementsAre("packcheck-report/junit.xml", "packcheck-report/report.html",
                                                          "packcheck-report/report.json", "packcheck-report/report.md",
                                                          "packcheck-report/report.sarif"));
  const Json json = report();
  EXPECT_EQ(json["good"], true);
  EXPECT_EQ(json["seed"], 1);
  ASSERT_EQ(json["verdicts"].size(), all_laws().size());
  for (const Json& row : json["verdicts"]) {
    EXPECT_EQ(row["verdict"], "holds") << row;
    EXPECT_EQ(row["subject"], "reference");
    EXPECT_GT(row["cases"], 200) << row;
    for (const char* engine : {"sweep", "property", "fuzz"}) EXPECT_GT(row["engines"][engine]["cases"], 0) << row;
  }
}

class VerifyTwin : public Verify {
 protected:
  void SetUp() override { ran_ = verify_twin("numeric_cast", "*"); }
  Ran ran_;
};

TEST_F(VerifyTwin, ExitsWith1AndWritesReportsAndAFileForEachFinding) {
  EXPECT_EQ(ran_.status, 1);
  EXPECT_THAT(ran_.out, AllOf(HasSubstr("twin:numeric_cast breaks params.unpack_inverts_pack"),
                              HasSubstr("1 of 1 caught"), HasSubstr("packcheck repro --law")));
  const Json json = report();
  EXPECT_EQ(json["good"], false);
  std::size_t findings = 0;
  for (const Json& row : json["verdicts"]) {
    for (const char* key : {"law", "subject", "verdict", "cases", "seed"}) EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_EQ(row["subject"], "twin:numeric_cast");
    if (row["verdict"] != "broken") continue;
    ++findings;
    for (const char* key : {"engine", "place", "input", "expected", "actual", "case_file", "reproduce"})
      EXPECT_FALSE(row[key].get<std::string>().empty()) << key;
    EXPECT_TRUE(std::filesystem::is_regular_file(folder() / "packcheck-report" / row["case_file"])) << row;
  }
  EXPECT_EQ(json["findings"], findings);
  EXPECT_GT(findings, 2U);
  EXPECT_THAT(files_below(folder() / "packcheck-report" / "findings"), SizeIs(findings));
  EXPECT_THAT(text_of(folder() / "packcheck-report" / "report.md"),
              AllOf(StartsWith("# packcheck report"), HasSubstr("params.unpack_inverts_pack conv2d:gen2")));
}

TEST_F(VerifyTwin, TheJunitReportHasAFailureForEachFinding) {
  const std::string xml = text_of(folder() / "packcheck-report" / "junit.xml");
  EXPECT_THAT(xml, AllOf(StartsWith("<?xml"), HasSubstr("<testsuites>"), HasSubstr("name=\"twin:numeric_cast\"")));
  std::size_t failures = 0;
  for (std::size_t at = xml.find("<failure"); at != std::string::npos; at = xml.find("<failure", at + 1)) ++failures;
  const std::size_t findings = report()["findings"];
  EXPECT_EQ(failures, findings);
  EXPECT_THAT(xml, HasSubstr("failures=\"" + std::to_string(findings) + "\""));
}

TEST_F(VerifyTwin, EveryReproduceLineWorksInAnEmptyFolderAndTheReferenceHoldsThere) {
  const TemporaryFolder empty;
  const Json json = report();
  std::size_t lines = 0;
  for (const Json& row : json["verdicts"]) {
    if (row["verdict"] != "broken") continue;
    ++lines;
    const std::string line = row["reproduce"];
    const Ran again = shell(empty.path(), line);
    EXPECT_EQ(again.status, 1) << line << "\n" << again.err;
    EXPECT_THAT(again.out, AllOf(HasSubstr("expected " + row["expected"].get<std::string>()),
                                 HasSubstr("actual   " + row["actual"].get<std::string>())));
    std::string reference = line;
    reference.replace(reference.find("twin:numeric_cast"), std::string("twin:numeric_cast").size(), "reference");
    const Ran right = shell(empty.path(), reference);
    EXPECT_EQ(right.status, 0) << reference << "\n" << right.out << right.err;
  }
  EXPECT_EQ(json["findings"], lines);
  EXPECT_THAT(files_below(empty.path()), IsEmpty());
}

TEST_F(VerifyTwin, EveryFindingFileIsReproducedOnItsSubjectAndHoldsForTheReference) {
  const std::filesystem::path findings = folder() / "packcheck-report" / "findings";
  ASSERT_FALSE(files_below(findings).empty());
  for (const std::string& name : files_below(findings)) {
    const std::string file = (findings / name).string();
    const Ran again = run({"repro", file});
    EXPECT_EQ(again.status, 1) << again.err;
    EXPECT_THAT(again.out, AllOf(HasSubstr("subject  twin:numeric_cast"), HasSubstr("verdict  broken")));
    const Ran json = run({"repro", file, "--json"});
    EXPECT_EQ(json.status, 1);
    EXPECT_EQ(json.json()["verdict"], "broken");
    EXPECT_FALSE(json.json()["breaches"].empty());
    const Ran reference = run({"repro", file, "--subject", "reference"});
    EXPECT_EQ(reference.status, 0) << reference.out;
    EXPECT_THAT(reference.out, HasSubstr("subject  reference"));
  }
}

TEST_F(VerifyTwin, ALaterRunReplacesTheFindings) {
  EXPECT_EQ(run({"verify", "--corpus", "none", "--law", "params.*"}).status, 0);
  EXPECT_THAT(files_below(folder() / "packcheck-report" / "findings"), IsEmpty());
}

TEST_F(Verify, AnyNumberOfJobsGivesTheSameReport) {
  const std::vector<std::string> words{"verify",
                                       "--corpus",
                                       "none",
                                       "--law",
                                       "params.*",
                                       "--law",
                                       "text.*",
                                       "--subject",
                                       "reference",
                                       "--subject",
                                       "twin:swapped_layout",
                                       "--json"};
  std::vector<std::string> reports;
  for (const char* jobs : {"1", "3"}) {
    std::vector<std::string> with_jobs = words;
    with_jobs.insert(with_jobs.end(), {"--jobs", jobs});
    const Ran ran = run(with_jobs);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.json()["digest"].get<std::string>(), StartsWith("0x"));
    reports.push_back(ran.out);
  }
  EXPECT_EQ(reports[0], reports[1]);
}

TEST_F(Verify, TheSameSeedGivesTheSameDigestAndAnotherAnother) {
  const auto digest = [this](const char* seed) {
    return run({"verify", "--corpus", "none", "--law", "text.*", "--json", "--seed", seed}).json()["digest"];
  };
  const Json first = digest("7");
  EXPECT_EQ(digest("7"), first);
  EXPECT_NE(digest("8"), first);
}

TEST_F(Verify, ShardsCoverEveryTaskOnceBetweenThem) {
  const std::vector<std::string> words{"verify",  "--corpus",  "none",      "--law",     "params.*",          "--law",
                                       "text.p*", "--subject", "reference", "--subject", "twin:numeric_cast", "--json"};
  std::multiset<std::pair<std::string, std::string>> together;
  for (const char* shard : {"0/2", "1/2"}) {
    std::vector<std::string> part = words;
    part.insert(part.end(), {"--shard", shard, "--max-findings", "1"});
    for (const auto& pair : pairs_of(run(part).json())) together.insert(pair);
  }
  std::multiset<std::pair<std::string, std::string>> all;
  for (const Law& law : all_laws())
    for (const char* subject : {"reference", "twin:numeric_cast"})
      if (law.id.rfind("params.", 0) == 0 || law.id.rfind("text.p", 0) == 0) all.emplace(law.id, subject);
  EXPECT_EQ(together, all);
}

TEST_F(Verify, MostFindingsBoundsTheFindingsOfASubject) {
  for (const std::size_t most : {1U, 3U, 5U}) {
    const Ran ran = run({"verify", "--subject", "twin:numeric_cast", "--corpus", "none", "--law", "params.*", "--json",
                         "--max-findings", std::to_string(most)});
    EXPECT_EQ(ran.status, 1);
    const Json json = ran.json();
    EXPECT_LE(json["findings"], most);
    EXPECT_THAT(files_below(folder() / "packcheck-report" / "findings"), SizeIs(testing::Le(most)));
    std::set<std::string> broken;
    for (const Json& row : json["verdicts"])
      if (row["verdict"] == "broken") broken.insert(row["law"].get<std::string>());
    EXPECT_THAT(broken, SizeIs(2)) << "a law that broke is not said to hold";
  }
}

TEST_F(Verify, ALawGlobPicksItsLawsEachOnce) {
  const Json json = run({"verify", "--corpus", "none", "--json", "--law", "params.pack*", "--law", "*_in_its_place",
                         "--law", "text.printing_is_exac?"})
                        .json();
  EXPECT_EQ(pairs_of(json),
            (std::multiset<std::pair<std::string, std::string>>{
                {"params.pack_puts_each_field_in_its_place", "reference"}, {"text.printing_is_exact", "reference"}}));
}

TEST_F(Verify, TheReportSaysOfEveryPairOfEncodingsWhatBecomesOfItAndByWhichLaw) {
  ASSERT_EQ(run({"verify", "--corpus", "none", "--law", "storage.re*", "--profile", "quick"}).status, 0);
  const Json table = report().at("conversions");
  const std::vector<StorageEncoding> encodings = all_storage_encodings();
  ASSERT_EQ(table["encodings"].size(), encodings.size());
  ASSERT_EQ(table["targets_of"].size(), encodings.size());
  std::set<std::string> laws;
  for (std::size_t source = 0; source < encodings.size(); ++source) {
    EXPECT_EQ(table["encodings"][source], encodings[source].id());
    const std::string letters = table["targets_of"][source];
    ASSERT_EQ(letters.size(), encodings.size());
    for (std::size_t target = 0; target < encodings.size(); ++target) {
      const ConversionCell cell = conversion_between(encodings[source], encodings[target]);
      ASSERT_EQ(table["letters"][std::string(1, letters[target])], conversion_name(cell.conversion));
      laws.emplace(cell.law);
      if (!cell.refusal.empty()) laws.emplace(cell.refusal);
    }
  }
  ASSERT_EQ(table["laws"].size(), laws.size());
  for (const std::string& law : laws) EXPECT_EQ(table["laws"][law], "holds") << law;
  for (const char* file : {"report.html", "report.md"}) {
    const std::string text = text_of(folder() / "packcheck-report" / file);
    EXPECT_THAT(text, HasSubstr("Every encoding in every other")) << file;
    for (const std::string& law : laws) EXPECT_THAT(text, HasSubstr(law)) << file;
  }
}

TEST_F(Verify, WithoutALawOfStorageTheReportHasNoTableOfConversions) {
  ASSERT_EQ(run({"verify", "--corpus", "none", "--law", "text.printing_is_exact"}).status, 0);
  EXPECT_FALSE(report().contains("conversions"));
  EXPECT_THAT(text_of(folder() / "packcheck-report" / "report.html"),
              testing::Not(HasSubstr("Every encoding in every other")));
}

TEST_F(Verify, JsonIsOneDocumentThatEqualsTheReportFile) {
  const Ran ran = run({"verify", "--corpus", "none", "--law", "text.printing_is_exact", "--json", "--report", "r"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.json(), report("r"));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(Verify, CorpusCasesAreJudged) {
  files().write("corpus/text/seed/one", "9.7517E-319");
  files().write("corpus/text/seed/two", "-0");
  const std::vector<std::string> words{"verify", "--law", "text.parsing_is_correctly_rounded", "--json"};
  for (const auto& [corpus, cases] : {std::pair{"corpus", 2}, std::pair{"none", 0}}) {
    std::vector<std::string> with_corpus = words;
    with_corpus.insert(with_corpus.end(), {"--corpus", corpus});
    EXPECT_EQ(run(with_corpus).json()["verdicts"][0]["engines"]["corpus"]["cases"], cases);
  }
}

TEST_F(Verify, ABrokenCorpusFileIsBadInput) {
  files().write("corpus/number/regression/x.json", "{}");
  const Ran ran = run({"verify", "--corpus", "corpus"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("corpus/number/regression/x.json"));
}

TEST_F(Verify, AKilledRunLeavesTheReportOfTheLastOneWhole) {
  EXPECT_EQ(run({"verify", "--corpus", "none", "--law", "text.printing_is_exact"}).status, 0);
  const std::string before = text_of(folder() / "packcheck-report" / "report.json");
  const std::vector<std::string> files_before = files_below(folder());
  // A subject that says when it is being opened and then waits for requests without an answer.
  ASSERT_EQ(::mkfifo((folder() / "opened").c_str(), 0600), 0);
  Running verify(folder(), {command_path().string(), "verify", "--corpus", "none", "--call-timeout", "1h", "--subject",
                            "exec:sh -c 'echo opened > opened; exec cat > /dev/null'"});
  EXPECT_EQ(text_of(folder() / "opened"), "opened\n");
  EXPECT_EQ(verify.kill().status, -SIGKILL);
  EXPECT_EQ(text_of(folder() / "packcheck-report" / "report.json"), before);
  EXPECT_EQ(files_below(folder()), files_before);
}

class Repro : public CommandTest {};

TEST_F(Repro, AVectorIsNamedByItsIdInTheFile) {
  files().write("v.json",
                R"({"packcheck_vectors":1,"vectors":[)"
                R"({"id":"seed-scalar","comment":"c","source":"s","type":"number","law":"text.printing_is_exact",)"
                R"("case":{"bits":"0x0000000000030301"}},)"
                R"({"id":"nan","comment":"c","source":"s","type":"number","case":{"bits":"0x7ff8000000000000"}}]})");
  const Ran one =
      run({"repro", "v.json#seed-scalar", "--subject", "twin:six_digits", "--law", "text.packed_double_survives_text"});
  EXPECT_THAT(one.out, HasSubstr("0x0000000000030301"));
  EXPECT_EQ(run({"repro", "v.json#seed-scalar"}).status, 0);
  EXPECT_EQ(run({"repro", "v.json#nan", "--law", "text.printing_never_yields_nan_or_infinity", "--subject",
                 "twin:infinity_printed"})
                .status,
            1);
  struct Row {
    const char* file;
    const char* message;
  };
  for (const Row& row :
       {Row{"v.json", "2 cases"}, Row{"v.json#other", "no case 'other'"}, Row{"v.json#nan", "no law"}}) {
    const Ran ran = run({"repro", row.file});
    EXPECT_EQ(ran.status, 2) << row.file;
    EXPECT_THAT(ran.err, HasSubstr(row.message));
  }
}

TEST_F(Repro, ACrashFileIsReadAsTheFuzzTargetsReadIt) {
  files().write("crash-text", std::string("1e5"));
  const Ran text = run({"repro", "crash-text", "--law", "text.parsing_is_correctly_rounded"});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr(R"({"text":"1e5"})"));
  files().write("crash-choices", std::string("\x01\x02\x03\x00\xFF", 5));
  EXPECT_EQ(
      run({"repro", "crash-choices", "--law", "params.unpack_inverts_pack", "--variant", "maxpool2d:gen2"}).status, 0);
  const Ran unknown = run({"repro", "crash-choices", "--law", "params.unpack_inverts_pack", "--variant", "x"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("unknown variant 'x'"), HasSubstr("maxpool2d:gen2")));
  EXPECT_EQ(run({"repro", "crash-choices"}).status, 2) << "without a law it can only be a case file";
}

TEST_F(Repro, ACaseTheLawSaysNothingAboutHolds) {
  const Ran ran = run(
      {"repro", "--law", "params.unpack_inverts_pack", "--case", R"({"layout":"conv2d:gen2","values":[256,0,0,0,0]})"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("not_applicable: these values are to be refused"));
}

}  // namespace
}  // namespace packcheck::test
