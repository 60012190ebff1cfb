#include "subjects/hardware/f16c.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <array>
#include <cstring>

namespace packcheck {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLanes = 8;

/// VCVTPS2PH takes its rounding from the instruction and neither FTZ nor DAZ from the environment.
[[gnu::target("avx,f16c")]] void narrow(const char* in, char* out, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256 singles = _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * i)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), _mm256_cvtps_ph(singles, _MM_FROUND_TO_NEAREST_INT));
  }
  if (i == count) return;
  alignas(32) std::array<char, 4 * kLanes> rest{};
  std::memcpy(rest.data(), in + 4 * i, 4 * (count - i));
  const __m256 singles = _mm256_castsi256_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(rest.data())));
  _mm_store_si128(reinterpret_cast<__m128i*>(rest.data()), _mm256_cvtps_ph(singles, _MM_FROUND_TO_NEAREST_INT));
  std::memcpy(out + 2 * i, rest.data(), 2 * (count - i));
}

[[gnu::target("avx,f16c")]] void widen(const char* in, char* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const std::size_t some = count - i < kLanes ? count - i : kLanes;
    alignas(32) std::array<char, 4 * kLanes> part{};
    std::memcpy(part.data(), in + 2 * i, 2 * some);
    const __m256 singles = _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(part.data())));
    _mm256_store_si256(reinterpret_cast<__m256i*>(part.data()), _mm256_castps_si256(singles));
    std::memcpy(out + 4 * i, part.data(), 4 * some);
  }
}

class F16c final : public Subject {
 public:
  F16c() {
    info_.name = kF16cName;
    info_.version = "x86-64";
    for (const char* line : {"convert f32->f16 nan=quieted", "convert f16->f32 nan=quieted"})
      info_.declarations.push_back(*parse_declaration(line));
  }

  Reply call(const Request& request) override {
    const std::vector<std::string_view> arguments(request.arguments.begin(), request.arguments.end());
    return call_in_place({request.operation, arguments});
  }

  Reply call_in_place(const RequestView& request) override {
    const std::span<const std::string_view> a = request.arguments;
    if (request.operation != Operation::convert || a.size() != 4 || a[2] != "nearest-even")
      return {Outcome::skipped, {}, "only convert f32->f16 and f16->f32, to nearest even"};
    if (a[0] == "f32" && a[1] == "f16") return converted<4, 2>(narrow, a[3]);
    if (a[0] == "f16" && a[1] == "f32") return converted<2, 4>(widen, a[3]);
    return {Outcome::skipped, {}, "only f32->f16 and f16->f32"};
  }

 private:
  template <std::size_t From, std::size_t To>
  static Reply converted(void (*run)(const char*, char*, std::size_t), std::string_view in) {
    if (in.size() % From != 0) return {Outcome::refused, {}, "not a whole number of elements"};
    Reply reply;
    std::string& out = reply.parts.emplace_back(in.size() / From * To, '\0');
    run(in.data(), out.data(), in.size() / From);
    return reply;
  }
};

bool has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kF16c = 1U << 29;
  // "avx" also asks whether the system saves the wide registers.
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kF16c) != 0 && __builtin_cpu_supports("avx") != 0;
}

}  // namespace

std::unique_ptr<Subject> make_f16c() {
  if (!has_f16c()) return nullptr;
  return std::make_unique<F16c>();
}

#else

std::unique_ptr<Subject> make_f16c() { return nullptr; }

#endif

}  // namespace packcheck
