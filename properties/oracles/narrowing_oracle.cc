#include "properties/oracles/narrowing_oracle.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <cstring>

namespace packcheck::oracle {
namespace {

using u32 = std::uint32_t;

// Written with min, max and multiplication-free selects, so that the loops below vectorise.

[[gnu::always_inline]] inline u32 half_of(u32 bits) {
  const u32 magnitude = bits & 0x7FFFFFFF;
  const u32 field = magnitude >> 23;
  // From 2^-14 (field 113) on 13 bits go; each binade below loses one more. At 25 nothing is left.
  const u32 normal = field > 113 ? field : 113;
  const u32 shift = field > 113 ? 13 : (field < 101 ? 25 : 126 - field);
  const u32 significand = (magnitude & 0x7FFFFF) | 0x800000;
  const u32 bias = ((u32{1} << (shift - 1)) - 1) + ((significand >> shift) & 1);
  // The leading one counts as the first exponent step, hence 113 and not 112.
  const u32 rounded = ((significand + bias) >> shift) + ((normal - 113) << 10);
  const u32 finite = rounded < 0x7C00 ? rounded : 0x7C00;
  const u32 nan = 0x7E00 | ((magnitude >> 13) & 0x1FF);
  return ((bits >> 16) & 0x8000) | (magnitude > 0x7F800000 ? nan : finite);
}

[[gnu::always_inline]] inline u32 bfloat_of(u32 bits) {
  const u32 rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const u32 nan = (bits >> 16) | 0x40;
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded;
}

[[gnu::always_inline]] inline void all_halves(const u32* __restrict in, std::uint16_t* __restrict out,
                                              std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(half_of(in[i]));
}

[[gnu::always_inline]] inline void all_bfloats(const u32* __restrict in, std::uint16_t* __restrict out,
                                               std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::uint16_t>(bfloat_of(in[i]));
}

// Versions chosen by hand: target_clones would need an ifunc resolver, which runs before
// sanitizers and coverage instrumentation are ready.
#if defined(__x86_64__)
__attribute__((target("avx2"))) void halves_avx2(const u32* in, std::uint16_t* out, std::size_t count) {
  all_halves(in, out, count);
}
__attribute__((target("avx2"))) void bfloats_avx2(const u32* in, std::uint16_t* out, std::size_t count) {
  all_bfloats(in, out, count);
}
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void halves_avx512(const u32* in, std::uint16_t* out,
                                                                                 std::size_t count) {
  all_halves(in, out, count);
}
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) void bfloats_avx512(const u32* in, std::uint16_t* out,
                                                                                  std::size_t count) {
  all_bfloats(in, out, count);
}
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0; }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#endif

}  // namespace

void narrow_f32_to_f16(const u32* in, std::uint16_t* out, std::size_t count) {
#if defined(__x86_64__)
  if (has_avx512()) return halves_avx512(in, out, count);
  if (has_avx2()) return halves_avx2(in, out, count);
#endif
  all_halves(in, out, count);
}

void narrow_f32_to_bf16(const u32* in, std::uint16_t* out, std::size_t count) {
#if defined(__x86_64__)
  if (has_avx512()) return bfloats_avx512(in, out, count);
  if (has_avx2()) return bfloats_avx2(in, out, count);
#endif
  all_bfloats(in, out, count);
}

#if defined(__x86_64__)

namespace {
bool ask_for_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kF16c = 1U << 29;
  // "avx" also asks whether the system saves the wide registers.
  return (c & kF16c) != 0 && __builtin_cpu_supports("avx") != 0;
}
}  // namespace

bool has_f16c() {
  static const bool has = ask_for_f16c();  // in a virtual machine asking takes tens of microseconds
  return has;
}

namespace {
__attribute__((target("avx,f16c"))) void narrow_with_instruction(const u32* in, std::uint16_t* out, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
    const __m128i halves = _mm256_cvtps_ph(_mm256_castsi256_ps(bits), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), halves);
  }
  if (i == count) return;
  u32 rest_in[kLanes] = {};
  std::uint16_t rest_out[kLanes] = {};
  std::memcpy(rest_in, in + i, (count - i) * sizeof(u32));
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rest_in));
  const __m128i halves = _mm256_cvtps_ph(_mm256_castsi256_ps(bits), _MM_FROUND_TO_NEAREST_INT);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest_out), halves);
  std::memcpy(out + i, rest_out, (count - i) * sizeof(std::uint16_t));
}
}  // namespace

bool f16c_narrow(const u32* in, std::uint16_t* out, std::size_t count) {
  if (!has_f16c()) return false;
  narrow_with_instruction(in, out, count);
  return true;
}

#else

bool has_f16c() { return false; }
bool f16c_narrow(const u32*, std::uint16_t*, std::size_t) { return false; }

#endif

}  // namespace packcheck::oracle
