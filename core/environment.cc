#include "core/environment.h"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace packcheck {

#if defined(__x86_64__)
namespace {
// MXCSR after reset: all exceptions masked, nearest even, FTZ (bit 15) and DAZ (bit 6) off.
constexpr std::uint32_t kExactControl = 0x1F80;
constexpr std::uint32_t kModeBits = 0xE040;  // FTZ, rounding mode, DAZ
}  // namespace

ExactEnvironment::ExactEnvironment() : saved_control_(_mm_getcsr()) { _mm_setcsr(kExactControl); }
ExactEnvironment::~ExactEnvironment() { _mm_setcsr(saved_control_); }
bool environment_is_exact() { return (_mm_getcsr() & kModeBits) == 0; }
#else
ExactEnvironment::ExactEnvironment() : saved_control_(static_cast<std::uint32_t>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}
ExactEnvironment::~ExactEnvironment() { std::fesetround(static_cast<int>(saved_control_)); }
bool environment_is_exact() { return std::fegetround() == FE_TONEAREST; }
#endif

}  // namespace packcheck
