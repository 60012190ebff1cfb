// fuzz/counters.h: libFuzzer looks only at coverage counters whose code has run.
//
// libFuzzer clears and reads every counter of the program around every input: a hundred thousand, of which an input
// touches hundreds. Here whole pages of counters are kept from it and write-protected; the first write shows that the
// page is in use, and from then on libFuzzer has it. No coverage is lost: what an input is the first to reach is seen
// after that input. Linked with --wrap where CMake's PACKCHECK_LAZY_COUNTERS is on (the presets of libFuzzer targets).
// bench/fuzz_throughput measures what it saves, and bench/time_to_find that bugs are found with it. A debugger stops at
// the writes: `handle SIGSEGV nostop noprint`.
#pragma once

namespace packcheck {

/// After the first input, whose one-time work then counts for nothing: protects the pages.
void hide_idle_counters();
/// After every input: gives libFuzzer the pages that were first written since.
void show_used_counters();

}  // namespace packcheck
