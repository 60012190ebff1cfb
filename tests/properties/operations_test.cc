// No operation that the reference declares is a stub: each answers drawn calls, no variant is skipped, and no message
// says that something is not there yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "properties/cases/cases.h"
#include "subjects/reference/reference.h"

namespace packcheck::test {
namespace {

bool confesses(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  for (const char* word : {"not implemented", "not yet", "unimplemented", "unsupported operation", "todo", "stub"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

TEST(Operations, ThatTheReferenceDeclaresAreNoStubs) {
  const auto reference = make_reference();
  RandomSource source(80);
  for (std::size_t i = 0; i < kOperationCount; ++i)
    EXPECT_TRUE(reference->info().offers(static_cast<Operation>(i))) << operation_name(static_cast<Operation>(i));
  std::set<Operation> answered;
  for (const Declaration& d : reference->info().declarations) {
    const std::string variant = std::string(operation_name(d.operation)) + " " + d.variant;
    for (int tries = 0; tries < 10; ++tries) {
      const Case c = call_cases.draw(source, variant);
      const Reply reply = reference->call(c.as<CallCase>().request);
      if (reply.outcome == Outcome::answered) answered.insert(d.operation);
      EXPECT_TRUE(reply.outcome == Outcome::answered || reply.outcome == Outcome::refused)
          << variant << ": " << reply.message;
      EXPECT_FALSE(confesses(reply.message)) << variant << ": " << reply.message;
    }
  }
  EXPECT_EQ(answered.size(), kOperationCount);
}

}  // namespace
}  // namespace packcheck::test
