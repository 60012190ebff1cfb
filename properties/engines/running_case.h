// properties/engines/running_case.h: the case that is being judged, in a file before it is judged, so that whatever
// ends this process (SIGKILL too) leaves it behind.
//
// The file is mapped: marking a case is a copy, and the pages outlive the process. It is a case file that `packcheck
// repro` reads, filled up with blanks. Proved by tests/properties/running_case_test.cc.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"

namespace packcheck {

class RunningCase {
 public:
  /// Makes the file, and its folder where there is none.
  [[nodiscard]] static Result<std::unique_ptr<RunningCase>> open(const std::filesystem::path& path);
  ~RunningCase();
  RunningCase(const RunningCase&) = delete;
  RunningCase& operator=(const RunningCase&) = delete;

  /// `head` as head_of() gives it; `case_json` the case. A case that is too long for the file leaves the head alone.
  void mark(std::string_view head, std::string_view case_json);
  /// Nothing is being judged.
  void clear();
  /// The start of a case file, up to the case.
  [[nodiscard]] static std::string head_of(std::string_view law, std::string_view subject, std::string_view type);

 private:
  RunningCase(std::filesystem::path path, char* memory) : path_(std::move(path)), memory_(memory) {}
  std::filesystem::path path_;
  char* memory_;
  std::size_t used_ = 0;
};

}  // namespace packcheck
