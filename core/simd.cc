#include "core/simd.h"

#include <array>
#include <atomic>

namespace packcheck {
namespace {

std::atomic<SimdLevel>& chosen() {
  static std::atomic<SimdLevel> level{best_simd_level()};
  return level;
}

}  // namespace

std::string_view simd_level_name(SimdLevel level) {
  static constexpr std::array<std::string_view, kSimdLevels> kNames{"rule", "plain", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(level)];
}

SimdLevel best_simd_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    return SimdLevel::avx512;
  if (__builtin_cpu_supports("avx2") != 0) return SimdLevel::avx2;
#endif
  return SimdLevel::plain;
}

SimdLevel simd_level() { return chosen().load(std::memory_order_relaxed); }

bool set_simd_level(SimdLevel level) {
  if (level > best_simd_level()) return false;
  chosen().store(level, std::memory_order_relaxed);
  return true;
}

}  // namespace packcheck
