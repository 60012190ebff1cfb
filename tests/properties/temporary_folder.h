// tests/properties/temporary_folder.h: a folder that is gone when the test is over, and files in it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace packcheck::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file below the folder, parents included, and gives its path.
  std::filesystem::path write(const std::filesystem::path& relative, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

/// Every regular file below a folder, as paths relative to it, in order; none if it does not exist.
[[nodiscard]] std::vector<std::string> files_below(const std::filesystem::path& folder);
/// The whole of a file; a test failure if it cannot be read.
[[nodiscard]] std::string text_of(const std::filesystem::path& path);

}  // namespace packcheck::test
