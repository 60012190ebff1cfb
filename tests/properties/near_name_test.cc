// A slip in a name is answered with the name that was meant.
#include "properties/near_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace packcheck::test {
namespace {

const std::vector<std::string> kNames{"seed", "max_success", "max_size", "noshrink"};

TEST(NearNames, OneLetterMissingAddedChangedOrSwappedIsASlip) {
  for (const char* wrong : {"sed", "sead", "seeed", "esed"}) EXPECT_EQ(near_name(wrong, kNames), "seed") << wrong;
  EXPECT_EQ(near_name("maxsuccess", kNames), "max_success");
  EXPECT_EQ(near_name("no_shrink", kNames), "noshrink");
}

TEST(NearNames, APartOfANameStandsForIt) {
  EXPECT_EQ(near_name("unpack_inverts_pack", {"text.printing_is_exact", "params.unpack_inverts_pack"}),
            "params.unpack_inverts_pack");
  EXPECT_EQ(near_name("succ", kNames), "max_success");
}

TEST(NearNames, TheNearestIsTakenAndNothingThatIsFar) {
  EXPECT_EQ(near_name("max_sizes", {"max_success", "max_size"}), "max_size");
  for (const char* wrong : {"", "x", "fast", "completely_different"}) EXPECT_EQ(near_name(wrong, kNames), "") << wrong;
}

TEST(NearNames, TheMessageListsWhatIsKnownBehindTheGuess) {
  EXPECT_EQ(one_of("gat", {"quick", "gate", "nightly"}), "'gate'? One of quick, gate, nightly");
  EXPECT_EQ(one_of("slow-motion", {"quick", "gate"}), "one of quick, gate");
}

}  // namespace
}  // namespace packcheck::test
