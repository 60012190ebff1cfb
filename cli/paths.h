// cli/paths.h: where the command finds what belongs to it: built or installed, from any folder.
#pragma once

#include <filesystem>
#include <vector>

namespace packcheck {

/// Folders with the built-in third-party subjects, nearest first.
[[nodiscard]] std::vector<std::filesystem::path> third_party_folders();
/// The programs that are third-party subjects, in the source tree or installed; empty if there are none.
[[nodiscard]] std::filesystem::path adapters_folder();
/// The corpus: ./corpus, the source tree it was built from, or the installed copy; empty if none exists.
[[nodiscard]] std::filesystem::path default_corpus();

}  // namespace packcheck
