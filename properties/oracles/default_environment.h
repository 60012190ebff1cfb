// properties/oracles/default_environment.h: the floating-point environment the oracles work in.
//
// An oracle may be asked by a program in which a library switched on flush-to-zero or another
// rounding mode. Oracles that use floating-point arithmetic hold a DefaultEnvironment, and do the
// arithmetic in a function that is not inlined and takes its numbers from memory, so that no
// compiler moves it across the switch. It uses <cfenv>, where the core writes the control register. A switch costs as
// much as reading a short number, so an oracle of many numbers holds one for all of them: within it another does
// nothing. No subject may be called while one is held. Proved by tests/core/environment_test.cc.
#pragma once

#include <cfenv>

namespace packcheck::oracle {

/// While alive: the environment a program starts with (nearest even, subnormals kept, no traps).
class DefaultEnvironment {
 public:
  DefaultEnvironment();
  ~DefaultEnvironment();
  DefaultEnvironment(const DefaultEnvironment&) = delete;
  DefaultEnvironment& operator=(const DefaultEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace packcheck::oracle
