#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {
namespace {
thread_local int held = 0;
}  // namespace

DefaultEnvironment::DefaultEnvironment() : saved_() {
  if (held++ != 0) return;
  std::fegetenv(&saved_);
  // On x86-64 glibc's default environment also has flush-to-zero and denormals-are-zero off.
  std::fesetenv(FE_DFL_ENV);
}

DefaultEnvironment::~DefaultEnvironment() {
  if (--held == 0) std::fesetenv(&saved_);
}

}  // namespace packcheck::oracle
