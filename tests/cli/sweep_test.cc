// packcheck sweep: every input once, in shards, resumable.
#include <gmock/gmock.h>

#include <csignal>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kRepack = "storage.repack_keeps_every_value";

class Sweep : public CommandTest {
 protected:
  /// A sweep of a whole 16-bit domain.
  [[nodiscard]] Ran sweep(const std::string& subject, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"sweep", kRepack, "--from", "f16", "--to", "f32", "--subject", subject};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// Sweeps every q8_0 block of the domain, one shard of it.
  [[nodiscard]] Ran blocks(const std::string& shard, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{
        "sweep", "encoding.dequantize_is_total", "--variant", "q8_0:ggml", "--json", "--shard", shard};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(Sweep, VisitsEveryInputOfTheReference) {
  const Ran text = sweep("reference");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("visited 65536 of 65536 inputs"), HasSubstr("holds")));
  const Ran ran = sweep("reference", {"--json"});
  EXPECT_EQ(ran.status, 0);
  const Json json = ran.json();
  EXPECT_EQ(json["law"], kRepack);
  EXPECT_EQ(json["variant"], "f16->f32");
  EXPECT_EQ(json["verdict"], "holds");
  EXPECT_EQ(json["inputs"], 65536);
  EXPECT_EQ(json["visited"], 65536);
  EXPECT_THAT(json["findings"], IsEmpty());
}

TEST_F(Sweep, OfAFaultyTwinExitsWith1AndGivesALineThatReproducesEachFinding) {
  const Ran text = sweep("twin:repack_rounds");
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, HasSubstr("breaks storage.repack_keeps_every_value f16->f32"));
  const Ran ran = sweep("twin:repack_rounds", {"--json"});
  EXPECT_EQ(ran.status, 1);
  const Json json = ran.json();
  EXPECT_EQ(json["verdict"], "broken");
  ASSERT_FALSE(json["findings"].empty());
  const TemporaryFolder empty;
  for (const Json& finding : json["findings"]) {
    EXPECT_NE(finding["expected"], finding["actual"]);
    EXPECT_EQ(shell(empty.path(), finding["reproduce"].get<std::string>()).status, 1) << finding;
  }
}

TEST_F(Sweep, ShardsAddUpToTheWholeWithAnyNumberOfJobs) {
  for (const char* jobs : {"1", "3"}) {
    std::uint64_t inputs = 0;
    std::uint64_t visited = 0;
    for (const char* shard : {"0/2", "1/2"}) {
      const Ran ran = blocks(shard, {"--jobs", jobs});
      EXPECT_EQ(ran.status, 0) << ran.err;
      inputs += ran.json()["inputs"].get<std::uint64_t>();
      visited += ran.json()["visited"].get<std::uint64_t>();
    }
    EXPECT_EQ(inputs, 65536U * 8) << jobs;
    EXPECT_EQ(visited, 65536U * 8) << jobs;
  }
}

TEST_F(Sweep, ShardsOfADomainOfOneRunAreThatRunAndNothing) {
  const Json first = sweep("reference", {"--json", "--shard", "0/2"}).json();
  const Ran second = sweep("reference", {"--json", "--shard", "1/2"});
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(first["visited"].get<int>() + second.json()["visited"].get<int>(), 65536);
}

TEST_F(Sweep, LeavesNoStateWhenItIsDoneAndResumingThenVisitsAllAgain) {
  EXPECT_EQ(blocks("0/2").status, 0);
  EXPECT_THAT(files_below(folder()), IsEmpty());
  const Ran again = blocks("0/2", {"--resume"});
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.json()["visited"], 65536 * 4);
}

TEST_F(Sweep, ResumedWithoutAStateSaysThatItStartsAtTheBeginning) {
  const Ran ran = sweep("reference", {"--resume", "--jobs", "2"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("visited 65536 of 65536"));
  EXPECT_THAT(ran.err, HasSubstr("no state of this sweep by"));
}

TEST_F(Sweep, AFindingIsFoundAgainWhenResumed) {
  for (int i = 0; i < 2; ++i) {
    const Ran ran = sweep("twin:repack_rounds", {"--json", "--resume"});
    EXPECT_EQ(ran.status, 1);
    EXPECT_FALSE(ran.json()["findings"].empty());
  }
}

TEST_F(Sweep, OfASubjectWithoutTheOperationSaysSo) {
  if (!has_subject("nlohmann_json")) GTEST_SKIP() << "this build has no subject nlohmann_json";
  const Ran ran = sweep("nlohmann_json");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("nlohmann_json offers no variant of this law"));
}

TEST_F(Sweep, CountsWhatTheProcessorWitnessed) {
  const std::vector<std::string> words{"sweep",    "format.narrowing_is_correctly_rounded",
                                       "--json",   "--from",
                                       "f32",      "--to",
                                       "f16",      "--shard",
                                       "77/16384", "--jobs",
                                       "2"};
  const Ran ran = run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const Json json = ran.json();
  EXPECT_EQ(json["inputs"], 4 * 65536);
  EXPECT_EQ(json["visited"], 4 * 65536);
  EXPECT_EQ(json["f16c_disagreed"], 0);
  EXPECT_TRUE(json["f16c_witnessed"] == 0 || json["f16c_witnessed"] == 4 * 65536) << "no F16C here, or all of them";
}

/// A sweep of 2^32 inputs, which is killed once it has said how far it got.
class KilledSweep : public CommandTest {
 protected:
  static constexpr std::uint64_t kRuns = 65536;
  std::vector<std::string> words(bool resume) const {
    std::vector<std::string> all{
        "sweep", "format.narrowing_is_correctly_rounded", "--from", "f32", "--to", "bf16", "--jobs", "1", "--json"};
    if (resume) all.emplace_back("--resume");
    return all;
  }
  /// The state file of the killed sweep.
  std::filesystem::path kill_one() const {
    const std::filesystem::path states = folder() / "packcheck-report" / "sweep";
    std::filesystem::create_directories(states);
    const RenameWatch watch(states);
    std::vector<std::string> command = words(false);
    command.insert(command.begin(), command_path().string());
    Running sweep(folder(), command);
    const std::string name = watch.wait();
    EXPECT_EQ(sweep.kill().status, -SIGKILL);
    return states / name;
  }
};

TEST_F(KilledSweep, LeavesAStateThatResumeGoesOnFrom) {
  const std::filesystem::path state = kill_one();
  const std::uint64_t runs = std::stoull(text_of(state));
  EXPECT_GT(runs, 0U);
  EXPECT_LT(runs, kRuns);
  // As if it had been killed shortly before its end.
  ASSERT_EQ(files_below(folder() / "packcheck-report").size(), 1U);
  files().write(std::filesystem::relative(state, folder()), std::to_string(kRuns - 3));
  const Ran resumed = run(words(true));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(resumed.json()["visited"], std::uint64_t{1} << 32);
  EXPECT_EQ(resumed.json()["verdict"], "holds");
  EXPECT_THAT(files_below(folder() / "packcheck-report"), IsEmpty());
}

TEST_F(KilledSweep, AStateThatIsDamagedIsNotBelieved) {
  const std::filesystem::path state = kill_one();
  for (const std::string& text : {std::to_string(kRuns + 1), std::string("18446744073709551615")}) {
    files().write(std::filesystem::relative(state, folder()), text);
    std::vector<std::string> command = words(true);
    command.insert(command.begin(), command_path().string());
    const RenameWatch watch(state.parent_path());
    Running sweep(folder(), command);
    EXPECT_EQ(watch.wait(), state.filename().string());
    const Ran ran = sweep.kill();
    EXPECT_EQ(ran.status, -SIGKILL) << "it did not start over: " << ran.out;
    EXPECT_LT(std::stoull(text_of(state)), kRuns);
  }
}

}  // namespace
}  // namespace packcheck::test
