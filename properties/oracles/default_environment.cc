#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {

DefaultEnvironment::DefaultEnvironment() : saved_() {
  std::fegetenv(&saved_);
  // On x86-64 glibc's default environment also has flush-to-zero and denormals-are-zero off.
  std::fesetenv(FE_DFL_ENV);
}

DefaultEnvironment::~DefaultEnvironment() { std::fesetenv(&saved_); }

}  // namespace packcheck::oracle
