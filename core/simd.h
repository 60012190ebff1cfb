// core/simd.h: which instructions the fast paths may use, chosen at run time.
//
// A fast path is the same loop compiled three times: for any processor, for AVX2 and for AVX-512. Nothing
// is compiled with -march=native, and fused multiply-add is never among the instructions, so that every
// level gives the same bits. Tests and benchmarks choose the level; proved by tests/core/fast_path_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#define PACKCHECK_AVX2 [[gnu::target("avx2")]]
#define PACKCHECK_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#endif

namespace packcheck {

/// `rule`: no fast path at all, the plain functions that state the rules. `plain`: fast paths for any processor.
enum class SimdLevel : std::uint8_t { rule, plain, avx2, avx512 };
inline constexpr std::size_t kSimdLevels = 4;

[[nodiscard]] std::string_view simd_level_name(SimdLevel level);
/// The highest level that this processor and its operating system have.
[[nodiscard]] SimdLevel best_simd_level();
/// The level in use; the best one unless a test has chosen another.
[[nodiscard]] SimdLevel simd_level();
/// Refuses, by returning false, a level above the best.
bool set_simd_level(SimdLevel level);

/// The version of a loop for the level in use; null for `rule`.
template <class Function>
[[nodiscard]] Function* version_for_level(Function* plain, Function* avx2, Function* avx512) {
  switch (simd_level()) {
    case SimdLevel::rule: return nullptr;
    case SimdLevel::plain: return plain;
    case SimdLevel::avx2: return avx2;
    case SimdLevel::avx512: return avx512;
  }
  return nullptr;
}

}  // namespace packcheck
