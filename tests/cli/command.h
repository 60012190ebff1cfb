// tests/cli/command.h: the built command run as people run it: a process of its own, in a folder of
// its own, without a terminal.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/properties/temporary_folder.h"

namespace packcheck::test {

using Json = nlohmann::ordered_json;

/// How a process ended and what it said.
struct Ran {
  int status = -1;  ///< exit code, or minus the signal
  std::string out;
  std::string err;

  /// Standard output as one JSON document; a test failure if it is none.
  [[nodiscard]] Json json() const;
};

/// A program that is running. Its standard input is empty; the command's folder is first on its PATH.
class Running {
 public:
  Running(const std::filesystem::path& folder, const std::vector<std::string>& program_and_arguments);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  /// Waits for its end.
  Ran wait();
  /// Kills it (SIGKILL) and waits.
  Ran kill();

 private:
  TemporaryFolder captured_;
  pid_t pid_ = -1;
};

/// `packcheck ARGUMENTS` in `folder`, to its end.
[[nodiscard]] Ran packcheck(const std::filesystem::path& folder, const std::vector<std::string>& arguments);
/// A line for a shell, in `folder`.
[[nodiscard]] Ran shell(const std::filesystem::path& folder, const std::string& line);

[[nodiscard]] std::filesystem::path command_path();
/// Whether this build has the third-party subject.
[[nodiscard]] bool has_subject(const std::string& name);
/// Waits until something in a folder is replaced or made by a rename; a test failure after a minute.
class RenameWatch {
 public:
  explicit RenameWatch(const std::filesystem::path& folder);
  ~RenameWatch();
  RenameWatch(const RenameWatch&) = delete;
  RenameWatch& operator=(const RenameWatch&) = delete;
  /// The name of what was renamed to.
  [[nodiscard]] std::string wait() const;

 private:
  int fd_;
};

/// A fixture with an empty folder to run in.
class CommandTest : public testing::Test {
 protected:
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] const TemporaryFolder& files() const { return folder_; }
  [[nodiscard]] Ran run(const std::vector<std::string>& arguments) const { return packcheck(folder(), arguments); }
  /// A verify of a faulty twin with the corpus empty, as small as it gets, into packcheck-report.
  [[nodiscard]] Ran verify_twin(const std::string& twin, const std::string& law) const {
    return run({"verify", "--subject", "twin:" + twin, "--law", law, "--corpus", "none"});
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace packcheck::test
