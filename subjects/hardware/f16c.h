// subjects/hardware: converters that a processor has in silicon, as subjects in this process.
//
// They are ours to call and cannot crash, so no worker stands between: a sweep over all 2^32 singles costs
// little more than the instructions. Add one: a source here and a line in cli/open_subject.cc.
// Proved by tests/third_party/f16c_test.cc.
#pragma once

#include <memory>

#include "subjects/subject.h"

namespace packcheck {

inline constexpr std::string_view kF16cName = "f16c";

/// VCVTPS2PH to nearest even and VCVTPH2PS of x86-64 processors with F16C; null on others.
[[nodiscard]] std::unique_ptr<Subject> make_f16c();

}  // namespace packcheck
