// subjects/process/library.h: opening a shared library that exports packcheck_subject_v1. Runs in the
// worker, since the library's constructors run here too.
#pragma once

#include <string>

#include "core/result.h"
#include "subjects/include/packcheck/subject.h"
#include "subjects/subject.h"

namespace packcheck {

struct Library {
  packcheck_subject table{};  ///< a copy; functions that an older library does not know are NULL
  SubjectInfo info;
};

/// Refuses a file that is no library, has no entry point, a table smaller than the first version's
/// (a larger one is a later version's), a name, version or declaration that is not understood, a declaration without
/// its function and a function without a declaration.
[[nodiscard]] Result<Library> load_library(const std::string& path);

/// Whether the function for `operation` is there.
[[nodiscard]] bool has_function(const packcheck_subject& table, Operation operation);

}  // namespace packcheck
