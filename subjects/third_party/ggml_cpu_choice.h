// subjects/third_party/ggml_cpu_choice.h: which of ggml's CPU libraries a processor can run.
//
// The package holds one library per processor family, and results depend on the library. A library
// is considered only if the processor has everything it was compiled for, so that not even its
// initialisers run where they cannot. The table follows the build rules of the package; proved by
// tests/third_party/ggml_choice_test.cc, which also asks each library for its own opinion.
#pragma once

#include <cpuid.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace packcheck::third_party {

/// Groups of instructions, as bits of a set.
enum CpuFeature : std::uint32_t {
  kSse42 = 1U << 0,
  kAvx = 1U << 1,
  kF16c = 1U << 2,
  kFma = 1U << 3,
  kAvx2 = 1U << 4,
  kBmi2 = 1U << 5,
  kAvxVnni = 1U << 6,
  kAvx512 = 1U << 7,  ///< F, CD, VL, DQ and BW
  kAvx512Vbmi = 1U << 8,
  kAvx512Vnni = 1U << 9,
  kAvx512Bf16 = 1U << 10,
  kAmx = 1U << 11  ///< tile and int8
};

struct GgmlCpuLibrary {
  std::string_view file;
  std::uint32_t needs;  ///< CpuFeature bits
};

inline constexpr std::uint32_t kHaswell = kSse42 | kAvx | kF16c | kFma | kAvx2 | kBmi2;
inline constexpr std::uint32_t kSkylakeX = kHaswell | kAvx512;

/// Best first.
inline constexpr std::array<GgmlCpuLibrary, 14> kGgmlCpuLibraries{{
    {"libggml-cpu-sapphirerapids.so", kSkylakeX | kAvx512Vbmi | kAvx512Vnni | kAvx512Bf16 | kAmx},
    {"libggml-cpu-zen4.so", kSkylakeX | kAvx512Vbmi | kAvx512Vnni | kAvx512Bf16},
    {"libggml-cpu-cooperlake.so", kSkylakeX | kAvx512Vnni | kAvx512Bf16},
    {"libggml-cpu-icelake.so", kSkylakeX | kAvx512Vbmi | kAvx512Vnni},
    {"libggml-cpu-cascadelake.so", kSkylakeX | kAvx512Vnni},
    {"libggml-cpu-cannonlake.so", kSkylakeX | kAvx512Vbmi},
    {"libggml-cpu-skylakex.so", kSkylakeX},
    {"libggml-cpu-alderlake.so", kHaswell | kAvxVnni},
    {"libggml-cpu-haswell.so", kHaswell},
    {"libggml-cpu-piledriver.so", kSse42 | kAvx | kF16c | kFma},
    {"libggml-cpu-ivybridge.so", kSse42 | kAvx | kF16c},
    {"libggml-cpu-sandybridge.so", kSse42 | kAvx},
    {"libggml-cpu-sse42.so", kSse42},
    {"libggml-cpu-x64.so", 0},
}};

[[nodiscard]] constexpr bool can_run(const GgmlCpuLibrary& library, std::uint32_t features) {
  return (library.needs & ~features) == 0;
}

/// What this processor and its operating system support, as CpuFeature bits.
[[nodiscard]] inline std::uint32_t cpu_features() {
  __builtin_cpu_init();
  std::uint32_t features = 0;
  const auto add = [&features](CpuFeature feature, bool there) { features |= there ? feature : 0U; };
  add(kSse42, __builtin_cpu_supports("sse4.2") != 0);
  add(kAvx, __builtin_cpu_supports("avx") != 0);
  add(kFma, __builtin_cpu_supports("fma") != 0);
  add(kAvx2, __builtin_cpu_supports("avx2") != 0);
  add(kBmi2, __builtin_cpu_supports("bmi2") != 0);
  add(kAvx512, __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
                   __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                   __builtin_cpu_supports("avx512bw") != 0);
  add(kAvx512Vbmi, __builtin_cpu_supports("avx512vbmi") != 0);
  add(kAvx512Vnni, __builtin_cpu_supports("avx512vnni") != 0);
  add(kAvx512Bf16, __builtin_cpu_supports("avx512bf16") != 0);
  // clang 14 has no names for the rest. Whether the operating system keeps their registers follows
  // from AVX; of AMX, the row functions execute nothing.
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool avx = (features & kAvx) != 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) add(kF16c, avx && (c & (1U << 29)) != 0);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) add(kAmx, (d & (3U << 24)) == (3U << 24));
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) add(kAvxVnni, avx && (a & (1U << 4)) != 0);
  return features;
}

}  // namespace packcheck::third_party
