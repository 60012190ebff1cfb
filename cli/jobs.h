// cli/jobs.h: work spread over processes. packcheck has no threads: workers of subjects are forked,
// and a forked child of a threaded program may do very little.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace packcheck {

/// Cores of this machine, at least 1.
[[nodiscard]] unsigned default_jobs();

/// Runs tasks 0..count-1, each giving a text, in `jobs` processes; the texts in order. A process that
/// dies without its texts is an error that names the task.
/// `on_done` is called in this process as each text arrives.
[[nodiscard]] Result<std::vector<std::string>> run_jobs(std::size_t count, unsigned jobs,
                                                        const std::function<std::string(std::size_t)>& task,
                                                        const std::function<void(std::size_t)>& on_done = {});

}  // namespace packcheck
