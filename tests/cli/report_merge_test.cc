// packcheck report merge: the shards of a run, put together again.
#include <gmock/gmock.h>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;

class ReportMerge : public CommandTest {
 protected:
  /// A run of some laws over the reference and a broken twin, whole or a shard of it.
  [[nodiscard]] Ran verify(const std::string& report, const std::string& shard = "0/1",
                           const std::string& seed = "7") const {
    return run({"verify", "--subject", "reference", "--subject", "twin:infinity_parsed", "--law", "text.*", "--corpus",
                "none", "--seed", seed, "--shard", shard, "--report", report});
  }
  [[nodiscard]] Ran merge(std::vector<std::string> folders) const {
    folders.insert(folders.begin(), {"report", "merge", "--report", "merged"});
    return run(folders);
  }
};

TEST_F(ReportMerge, TheMergedReportIsThatOfTheWholeRun) {
  ASSERT_EQ(verify("whole").status, 1);
  for (const char* shard : {"0/3", "1/3", "2/3"}) (void)verify(std::string("s") + shard[0], shard);
  const Ran ran = merge({"s2", "s0", "s1"});  // in any order
  EXPECT_EQ(ran.status, 1) << ran.err;
  const std::vector<std::string> files = files_below(folder() / "whole");
  EXPECT_EQ(files_below(folder() / "merged"), files);
  for (const std::string& file : files)
    EXPECT_EQ(text_of(folder() / "merged" / file), text_of(folder() / "whole" / file)) << file;
}

TEST_F(ReportMerge, AShardThatIsMissingTwiceThereOrOfAnotherRunIsRefused) {
  (void)verify("s0", "0/2");
  (void)verify("s1", "1/2");
  (void)verify("other", "1/2", "8");
  EXPECT_THAT(merge({"s0"}).err, HasSubstr("each of the 2 shards once"));
  EXPECT_THAT(merge({"s0", "s0"}).err, HasSubstr("each of the 2 shards once"));
  EXPECT_THAT(merge({"s0", "other"}).err, HasSubstr("another seed"));
  EXPECT_THAT(merge({"nowhere"}).err, HasSubstr("no such file"));
  EXPECT_THAT(merge({}).err, HasSubstr("no folders"));
  files().write("s1/results.json", "{");
  EXPECT_THAT(merge({"s0", "s1"}).err, HasSubstr("well-formed"));
  files().write("s1/results.json", R"({"packcheck_results":2})");
  EXPECT_THAT(merge({"s0", "s1"}).err, HasSubstr("format version 2"));
  EXPECT_EQ(merge({"s0", "s1"}).status, 2);
}

}  // namespace
}  // namespace packcheck::test
