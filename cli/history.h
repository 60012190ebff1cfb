// cli/history.h: whether a finding needs what its subject was asked before it.
//
// A line that reproduces a finding carries one case. A subject whose answers depend on earlier calls may answer that
// case rightly when it is asked nothing else; such a finding says so, and its line repeats the whole search instead.
// tests/cli/history_test.cc proves it.
#pragma once

#include <string>

#include "properties/engines/engines.h"

namespace packcheck {

/// Puts the case of every finding to a subject that was asked nothing before. Where it does not break the law at the
/// same place, the finding's `search` becomes `search` and its explanation says why. Cases on which the subject hung
/// are not repeated: each would cost the call limit again.
void mark_history(LawResult& result, const Law& law, const std::string& spec, const CallLimits& limits,
                  const std::string& search);

}  // namespace packcheck
