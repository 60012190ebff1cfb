// subjects/process/program_subject.h: exec:COMMAND, an implementation in any language behind an
// adapter that answers frames on its standard input and output (subjects/PROTOCOL.md).
#pragma once

#include <memory>
#include <string>

#include "subjects/process/transport.h"

namespace packcheck {

/// Runs `command` as `/bin/sh -c "exec COMMAND"`. Its standard error is packcheck's own. The error
/// says why there is no subject: not found, no answer to hello, another protocol version, an
/// unknown declaration.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_program_subject(
    const std::string& command, const CallLimits& limits, std::uint64_t start_milliseconds = kStartMilliseconds);

}  // namespace packcheck
