#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {

namespace {
thread_local bool is_held = false;
}  // namespace

DefaultEnvironment::DefaultEnvironment() : outermost_(!is_held) {
  if (!outermost_) return;
  is_held = true;
  std::fegetenv(&saved_);
  // On x86-64 glibc's default environment also has flush-to-zero and denormals-are-zero off.
  std::fesetenv(FE_DFL_ENV);
}

DefaultEnvironment::~DefaultEnvironment() {
  if (!outermost_) return;
  is_held = false;
  std::fesetenv(&saved_);
}

}  // namespace packcheck::oracle
