// subjects/process/native_subject.h: lib:PATH, a shared library with the entry point of
// packcheck/subject.h, loaded in a worker process so that its faults are findings.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "subjects/call_environment.h"
#include "subjects/process/transport.h"

namespace packcheck {

/// A `path` without a slash is a file in the working directory. The error says why there is no
/// subject: no such file, not a library, no entry point, a table that disagrees with itself, a crash
/// while it was loaded. Each call of the library is made in `environment`.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_native_subject(const std::string& path, const CallLimits& limits,
                                                                   const CallEnvironment& environment = {});

}  // namespace packcheck
