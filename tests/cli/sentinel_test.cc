// packcheck sentinel: flags that break numbers are told from flags that do not.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include "tests/cli/command.h"

namespace packcheck::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The state of each check.
std::map<std::string, std::string> states(const Json& report) {
  std::map<std::string, std::string> all;
  for (const Json& check : report["checks"]) all[check["check"]] = check["state"];
  return all;
}

bool has(const std::string& shell_test) { return std::system(shell_test.c_str()) == 0; }

struct Flags {
  const char* name;
  const char* compiler;
  const char* broken;  ///< the check that must be; empty: none
};
void PrintTo(const Flags& f, std::ostream* out) { *out << f.compiler; }

class SentinelFlags : public CommandTest, public testing::WithParamInterface<Flags> {};

TEST_P(SentinelFlags, AreToldByTheCheckTheyBreak) {
  const Ran ran = run({"sentinel", GetParam().compiler, "--json"});
  const Json report = ran.json();
  std::map<std::string, std::string> all = states(report);
  ASSERT_EQ(all.size(), 7U) << ran.out << ran.err;
  const std::string broken = GetParam().broken;
  EXPECT_EQ(ran.status, broken.empty() ? 0 : 1);
  EXPECT_EQ(report["good"], broken.empty());
  for (const auto& [check, state] : all) {
    const bool wanted = check == broken;
    EXPECT_TRUE(wanted ? state == "broken" : !broken.empty() || state != "broken") << check << " is " << state;
  }
}

INSTANTIATE_TEST_SUITE_P(Sentinel, SentinelFlags,
                         testing::Values(Flags{"plain_c", "gcc -O2 -std=c99", ""},
                                         Flags{"plain_cxx", "g++ -O3 -std=c++17", ""},
                                         Flags{"flush_to_zero", "gcc -O2 -ffast-math", "subnormals_kept"},
                                         Flags{"finite_math", "gcc -O2 -ffinite-math-only", "nan_is_seen"},
                                         Flags{"unsigned_zeros", "gcc -O2 -fno-signed-zeros", "zero_keeps_its_sign"},
                                         Flags{"reassociation",
                                               "gcc -O2 -fassociative-math -fno-signed-zeros -fno-trapping-math",
                                               "sums_keep_their_order"}),
                         [](const auto& test) { return std::string(test.param.name); });

class Sentinel : public CommandTest {};

TEST_F(Sentinel, TellsTheVectorDotProductThatGcc12Miscompiles) {
  const bool gcc_12 = has("gcc -dumpversion | grep -qx 12");
  const bool vnni = has("grep -qw avx512_vnni /proc/cpuinfo && grep -qw avx512vl /proc/cpuinfo");
  if (!gcc_12 || !vnni) GTEST_SKIP() << "needs gcc 12 and a processor with AVX512-VNNI";
  const std::string flags = "gcc -O3 -mavx512f -mavx512vl -mavx512bw -mavx512vnni";
  const Ran wrong = run({"sentinel", flags, "--json"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_EQ(states(wrong.json())["nibble_sums"], "broken");
  const Ran right = run({"sentinel", "gcc -O3 -mavx512f -mavx512vl -mavx512bw", "--json"});
  EXPECT_EQ(right.status, 0);
  EXPECT_EQ(states(right.json())["nibble_sums"], "ok");
}

TEST_F(Sentinel, SaysInTextWhatIsBrokenAndWhatToTry) {
  const Ran ran = run({"sentinel", "gcc -O2 -ffast-math"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("subnormals_kept        broken"));
  EXPECT_THAT(ran.out, HasSubstr("gcc -O2 -ffast-math: breaks numbers"));
  EXPECT_THAT(run({"sentinel", "gcc -O0"}).out, HasSubstr("keeps numbers in every check"));
}

TEST_F(Sentinel, RefusesWhatIsNoCompiler) {
  for (const char* compiler : {"", "  ", "false", "no-such-compiler-anywhere", "gcc -no-such-flag", "true"}) {
    const Ran ran = run({"sentinel", compiler});
    EXPECT_EQ(ran.status, 2) << compiler;
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr("expected"));
  }
}

}  // namespace
}  // namespace packcheck::test
