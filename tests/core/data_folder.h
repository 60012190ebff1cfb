// tests/core/data_folder.h: real files that are not part of the project. Tests over them are skipped where they are
// absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace packcheck {

/// The folder `name` of the data beside the checkout, or of the environment's PACKCHECK_DATA. May not exist.
inline std::filesystem::path data_folder(const std::string& name) {
  const char* chosen = std::getenv("PACKCHECK_DATA");
  return std::filesystem::path(chosen != nullptr ? chosen : PACKCHECK_DATA) / name;
}

}  // namespace packcheck
