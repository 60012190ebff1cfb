// No operation that the reference declares is a stub: each variant answers some drawn call, and no message says that
// something is not there yet.
#include <gtest/gtest.h>

#include <algorithm>
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
  for (const Declaration& d : reference->info().declarations) {
    const std::string variant = std::string(operation_name(d.operation)) + " " + d.variant;
    bool answered = false;
    for (int tries = 0; tries < 100 && !answered; ++tries) {
      const Case c = call_cases.draw(source, variant);
      const Reply reply = reference->call(c.as<CallCase>().request);
      answered = reply.outcome == Outcome::answered;
      EXPECT_NE(reply.outcome, Outcome::skipped) << variant << ": " << reply.message;
      EXPECT_FALSE(confesses(reply.message)) << variant << ": " << reply.message;
    }
    EXPECT_TRUE(answered) << variant << " answers none of 100 calls";
  }
}

}  // namespace
}  // namespace packcheck::test
