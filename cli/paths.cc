#include "cli/paths.h"

#include <system_error>

namespace packcheck {
namespace {

namespace fs = std::filesystem;

/// The folder of this executable.
fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

bool is_corpus(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path / "vectors", error);
}

}  // namespace

std::vector<fs::path> third_party_folders() {
  return {own_folder() / "subjects", own_folder().parent_path() / PACKCHECK_INSTALLED_LIBRARIES / "packcheck/subjects"};
}

fs::path adapters_folder() {
  std::error_code error;
  for (const fs::path& path : {own_folder().parent_path().parent_path() / "subjects/adapters",
                               own_folder().parent_path() / "share/packcheck/adapters"})
    if (fs::is_directory(path, error)) return path;
  return {};
}

fs::path default_corpus() {
  for (const fs::path& path : {fs::path("corpus"), own_folder().parent_path().parent_path() / "corpus",
                               own_folder().parent_path() / "share/packcheck/corpus"})
    if (is_corpus(path)) return path;
  return {};
}

}  // namespace packcheck
