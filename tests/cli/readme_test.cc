// README.md promises a table of every law: a law that is missing there, or said otherwise, shows here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "properties/corpus_store.h"
#include "properties/law.h"

namespace packcheck {
namespace {

TEST(Readme, ListsEveryLawWithItsSentence) {
  const Result<std::string> readme = read_file(PACKCHECK_SOURCE_DIRECTORY "/README.md");
  ASSERT_TRUE(readme) << readme.error().text();
  for (const Law& law : all_laws())
    EXPECT_THAT(*readme, testing::HasSubstr("| `" + law.id + "` | " + law.sentence + " |"));
}

}  // namespace
}  // namespace packcheck
