// The same answers whatever the caller's rounding mode, flush-to-zero or locale, and the caller's
// environment as it was.
#include "core/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <clocale>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "tests/core/answers.h"

namespace packcheck::test {
namespace {

/// The answers in the environment the program started with; asked for before any switch.
const std::vector<std::string>& right_answers() {
  static const std::vector<std::string> all = [] {
    make_inputs();
    std::vector<std::string> answers;
    for (const Operation& operation : answering_operations()) answers.push_back(operation.answers());
    return answers;
  }();
  return all;
}

TEST(Environment, TheTestReallySwitchesRoundingAndFlushing) {
  // Volatile: computed where it is written, not when the test is compiled.
  const volatile double three = 3.0;
  const volatile double tiny = std::numeric_limits<double>::denorm_min();
  volatile double nearest = 0.0;
  volatile double upward = 0.0;
  volatile double flushed = 1.0;
  bool exact = true;
  in_environment(kModes[0], false, [&] { nearest = 1.0 / three; });
  in_environment(kModes[1], kFlushing.back(), [&] {
    upward = 1.0 / three;
    flushed = tiny * three;
    exact = environment_is_exact();
  });
  EXPECT_TRUE(nearest < upward);
  EXPECT_EQ(flushed == 0.0, kFlushing.back());
  EXPECT_FALSE(exact);
  EXPECT_TRUE(environment_is_exact());
}

TEST(Environment, AnExactEnvironmentIsExactAndRestoresWhatItFound) {
  for (const Mode& mode : kModes) {
    for (const bool flush : kFlushing) {
      unsigned before = 0;
      unsigned after = 1;
      bool exact = false;
      in_environment(mode, flush, [&] {
        before = control();
        {
          const ExactEnvironment environment;
          exact = environment_is_exact();
        }
        after = control();
      });
      EXPECT_TRUE(exact) << mode.name << flush;
      EXPECT_EQ(before, after) << mode.name << flush;
    }
  }
}

TEST(Environment, NoAnswerDependsOnItAndTheCallersIsRestored) {
  const auto& right = right_answers();
  for (std::size_t i = 0; i < answering_operations().size(); ++i) {
    ASSERT_GT(right[i].size(), 100U);
    for (const Mode& mode : kModes) {
      for (const bool flush : kFlushing) {
        std::string answer;
        unsigned before = 0;
        unsigned after = 1;
        int rounding_after = -1;
        in_environment(mode, flush, [&] {
          before = control();
          answer = answering_operations()[i].answers();
          after = control();
          rounding_after = std::fegetround();
        });
        EXPECT_TRUE(answer == right[i]) << answering_operations()[i].name << ", rounding " << mode.name
                                        << (flush ? ", flushing subnormals" : "");
        EXPECT_EQ(before, after) << answering_operations()[i].name;
        EXPECT_EQ(rounding_after, mode.rounding) << answering_operations()[i].name;
      }
    }
  }
}

/// The German locale while alive: installed, or built by localedef in a folder of its own.
class CommaLocale {
 public:
  CommaLocale() {
    if (activate()) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "packcheck-locale-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return;
    folder_ = pattern;
    const std::string command = "localedef -i de_DE -f UTF-8 '" + pattern + "/de_DE.UTF-8' >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) return;
    setenv("LOCPATH", pattern.c_str(), 1);
    activate();
  }
  ~CommaLocale() {
    std::setlocale(LC_ALL, "C");
    if (folder_.empty()) return;
    unsetenv("LOCPATH");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

  [[nodiscard]] static bool active() { return std::string(std::localeconv()->decimal_point) == ","; }

 private:
  static bool activate() { return std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr && active(); }
  std::filesystem::path folder_;
};

TEST(Environment, ADecimalCommaInTheCallersLocaleChangesNothing) {
  const auto& right = right_answers();
  const CommaLocale locale;
  if (!CommaLocale::active()) GTEST_SKIP() << "no locale de_DE.UTF-8, and localedef cannot build one";
  ASSERT_EQ(strtod("1.5", nullptr), 1.0) << "the locale is in force: strtod stops at the point";
  for (std::size_t i = 0; i < answering_operations().size(); ++i)
    EXPECT_TRUE(answering_operations()[i].answers() == right[i]) << answering_operations()[i].name;
}

}  // namespace
}  // namespace packcheck::test
