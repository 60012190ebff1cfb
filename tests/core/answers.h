// tests/core/answers.h: what the core and the oracles answer to a fixed set of inputs, as text or bytes, and the
// floating-point environments to ask in. For tests that compare answers: between environments
// (environment_test.cc), and between compilers and optimisation levels (answers_main.cc).
#pragma once

#include <array>
#include <cfenv>
#include <span>
#include <string>

namespace packcheck::test {

struct Operation {
  const char* name;
  /// Any NaN is as good as another, and bits that a dialect leaves undefined are left out.
  std::string (*answers)();
};
[[nodiscard]] std::span<const Operation> answering_operations();
/// Makes the inputs in the environment the program started with; call it before any switch.
void make_inputs();

struct Mode {
  const char* name;
  int rounding;
};
inline constexpr std::array<Mode, 4> kModes{
    {{"nearest", FE_TONEAREST}, {"upward", FE_UPWARD}, {"downward", FE_DOWNWARD}, {"toward zero", FE_TOWARDZERO}}};

/// Flush-to-zero and denormals-are-zero; only off where the processor has none.
#if defined(__x86_64__)
inline constexpr std::array<bool, 2> kFlushing{false, true};
#else
inline constexpr std::array<bool, 1> kFlushing{false};
#endif
void set_flush(bool on);
/// The control bits that a mode changes.
[[nodiscard]] unsigned control();

/// Runs `work` in an environment and goes back, so that no assertion of a test runs in it.
template <class Work>
void in_environment(const Mode& mode, bool flush, Work work) {
  std::fesetround(mode.rounding);
  set_flush(flush);
  work();
  set_flush(false);
  std::fesetround(FE_TONEAREST);
}

}  // namespace packcheck::test
