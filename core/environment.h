// core/environment.h: the floating-point environment that exact arithmetic needs.
//
// Callers may run with flush-to-zero, denormals-are-zero or another rounding mode (one dlopen of a
// -ffast-math library is enough). Every entry of the core that does floating-point arithmetic, or
// calls a library that does, holds an ExactEnvironment while it works. The constructor is out of
// line and the arithmetic sits in a function that is not inlined and takes its numbers from memory,
// so that no compiler moves it across the switch. tests/core/environment_test.cc proves it.
#pragma once

#include <cstdint>

namespace packcheck {

/// While alive: round to nearest even, subnormals kept, no traps. Restores what it found.
class ExactEnvironment {
 public:
  ExactEnvironment();
  ~ExactEnvironment();
  ExactEnvironment(const ExactEnvironment&) = delete;
  ExactEnvironment& operator=(const ExactEnvironment&) = delete;

 private:
  std::uint32_t saved_control_ = 0;  // MXCSR on x86-64, the rounding mode elsewhere
};

/// True when this thread keeps subnormals and rounds to nearest even: what a library left behind.
[[nodiscard]] bool environment_is_exact();

}  // namespace packcheck
