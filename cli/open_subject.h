// cli/open_subject.h: from what stands after --subject to a subject.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "subjects/subject.h"

namespace packcheck {

/// "reference", "twin:NAME", "lib:PATH", "exec:COMMAND", a built-in third-party name, or one of them that is
/// called in another environment: "under:flush,upward,comma:reference" (subjects/call_environment.h).
[[nodiscard]] Result<std::unique_ptr<Subject>> open_subject(const std::string& spec, const CallLimits& limits);

/// The same without a worker, for a "lib:PATH" or a built-in third-party library that is trusted; refuses the rest.
[[nodiscard]] Result<std::unique_ptr<Subject>> open_in_process(const std::string& spec);

/// Replaces the groups "twin:*" (every faulty twin), "third-party" and "all" by their members.
[[nodiscard]] std::vector<std::string> expand_subjects(const std::vector<std::string>& specs);

/// A built-in third-party subject: when it cannot be opened it is absent, not a failure.
[[nodiscard]] bool is_third_party(const std::string& spec);
[[nodiscard]] bool is_twin(const std::string& spec);

}  // namespace packcheck
