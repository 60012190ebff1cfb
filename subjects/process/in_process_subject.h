// subjects/process/in_process_subject.h: a shared library called without a worker, for sweeps of 2^32 inputs.
//
// Nothing is copied, and nothing is guarded: for a library that is trusted, since its crash, hang or stray write
// is packcheck's own. Conversions are called straight on the request; every other operation goes through
// NativeCalls, whose buffers tell overruns and unwritten bytes. An element that a conversion leaves unwritten is 0,
// which a law sees as a wrong answer. Proved by tests/process/in_process_test.cc.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "subjects/subject.h"

namespace packcheck {

/// Loads the library into this process. Refuses what load_library() refuses.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_in_process_subject(const std::string& path);

}  // namespace packcheck
