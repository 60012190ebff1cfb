// README.md promises a table of every law and one of every warning: what is missing there, or said otherwise, shows
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/audit/audit.h"
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

TEST(Readme, ListsEveryKindOfWarning) {
  const Result<std::string> readme = read_file(PACKCHECK_SOURCE_DIRECTORY "/README.md");
  ASSERT_TRUE(readme) << readme.error().text();
  for (const WarningKind& kind : warning_kinds()) {
    const std::string severity(severity_name(kind.severity));
    EXPECT_THAT(*readme, testing::HasSubstr("| `" + std::string(kind.name) + "` | " + severity + " | " +
                                            std::string(kind.meaning) + " |"));
  }
}

}  // namespace
}  // namespace packcheck
