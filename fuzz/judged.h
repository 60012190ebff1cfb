// fuzz/judged.h: whom the fuzz targets put cases to, and what happens when one breaks a law.
//
// The reference; or, named by PACKCHECK_SUBJECT, a twin in its place (twin:NAME), or an implementation of another
// beside it: lib:PATH in a worker and exec:COMMAND, whose crash or hang is a finding, and in-process:PATH, a library
// that is built with the fuzzer's coverage, which then guides the fuzzer, and whose crash is the target's own. With a
// subject of another the reference is still asked, since its coverage tells the fuzzer what is new. A broken law stops
// the process with what looks like a failed assertion whose message is the signature, so that crash deduplication
// upstream tells findings apart by law and place, never by value, and with the line that reproduces it. Proved by
// tests/fuzz/targets_test.py.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/law.h"

namespace packcheck {

/// A law with the variants that whoever is judged declares; never without variants.
struct JudgedLaw {
  const Law* law;
  std::vector<std::string> variants;
  std::vector<std::string> of_reference;  ///< sorted; empty unless the reference stands beside a subject of another
};

/// All that can be judged, in the order of the registry. Ends the process with status 2 where PACKCHECK_SUBJECT names
/// nothing that can be opened.
[[nodiscard]] const std::vector<JudgedLaw>& judged_laws();

/// Stops the process if the case breaks the law.
void judge_case(const JudgedLaw& judged, std::string_view variant, const Case& c);

/// Stops the process; `signature` is what tells the finding from others.
[[noreturn]] void stop(std::string_view signature);

/// The subject cannot be judged at all: ends the process with status 2, at once, so that no engine takes it for a
/// crash.
[[noreturn]] void refuse_to_run(std::string_view why);

/// The subject offers nothing that this target judges, which is no fault of either: ends the process with status 4, as
/// refuse_to_run() does. A night lists such a target as skipped.
[[noreturn]] void nothing_to_judge();

}  // namespace packcheck
