// subjects/process/worker.h: what the forked worker of a lib: subject does.
#pragma once

#include <string>

#include "subjects/call_environment.h"
#include "subjects/process/mailbox.h"
#include "subjects/subject.h"

namespace packcheck {

/// Loads the library at `path` and answers the requests that come in on `input`, until it ends, each in `environment`.
/// Besides the protocol's requests it knows "kept" (encode_kept_request) and notes of what is in the mailbox, if
/// there is one. The library's standard
/// input and output are /dev/null; its exit handlers run, the parent's do not.
void run_worker(const std::string& path, const CallLimits& limits, const CallEnvironment& environment, int input,
                int output, const Mailbox* mailbox);

/// Asks for Reply parts {u64 heap bytes kept per call}; see bytes_kept_per_call().
[[nodiscard]] std::string encode_kept_request(const Request& request, unsigned warmup, unsigned repeats);

}  // namespace packcheck
