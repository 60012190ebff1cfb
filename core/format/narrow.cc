#include "core/format/narrow.h"

#include <array>
#include <bit>

#include "core/simd.h"

namespace packcheck {
namespace {

template <Format To>
[[gnu::always_inline]] inline void narrow_all(const std::uint8_t* __restrict in, std::uint8_t* __restrict out,
                                              std::size_t count, bool saturating) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t code = narrow_single<To>(load_little_endian<std::uint32_t>(in + 4 * i), saturating);
    if constexpr (spec(To).bytes() == 1)
      out[i] = static_cast<std::uint8_t>(code);
    else
      store_little_endian(out + 2 * i, static_cast<std::uint16_t>(code));
  }
}

/// Saturation decided outside of the loop.
template <Format To>
[[gnu::always_inline]] inline void narrow_either(const std::uint8_t* in, std::uint8_t* out, std::size_t count,
                                                 bool saturating) {
  if (saturating)
    narrow_all<To>(in, out, count, true);
  else
    narrow_all<To>(in, out, count, false);
}

template <Format To>
void narrow_plain(const std::uint8_t* in, std::uint8_t* out, std::size_t count, bool saturating) {
  narrow_either<To>(in, out, count, saturating);
}
#if defined(__x86_64__)
template <Format To>
PACKCHECK_AVX2 void narrow_avx2(const std::uint8_t* in, std::uint8_t* out, std::size_t count, bool saturating) {
  narrow_either<To>(in, out, count, saturating);
}
template <Format To>
PACKCHECK_AVX512 void narrow_avx512(const std::uint8_t* in, std::uint8_t* out, std::size_t count, bool saturating) {
  narrow_either<To>(in, out, count, saturating);
}
#endif

struct Row {
  Format to;
  NarrowRun* plain;
  NarrowRun* avx2;
  NarrowRun* avx512;
};

template <Format To>
consteval Row row() {
#if defined(__x86_64__)
  return {To, narrow_plain<To>, narrow_avx2<To>, narrow_avx512<To>};
#else
  return {To, narrow_plain<To>, narrow_plain<To>, narrow_plain<To>};
#endif
}

constexpr std::array<Row, 12> kRows{{row<Format::f16>(), row<Format::bf16>(), row<Format::e5m2>(), row<Format::e4m3>(),
                                     row<Format::e3m4>(), row<Format::e4m3fn>(), row<Format::e4m3fnuz>(),
                                     row<Format::e5m2fnuz>(), row<Format::e4m3b11fnuz>(), row<Format::e3m2>(),
                                     row<Format::e2m3>(), row<Format::e2m1>()}};

}  // namespace

NarrowRun* fast_narrowing(Format from, Format to, const ConvertRules& rules) {
  if (from != Format::f32 || rules.rounding != Rounding::nearest_even || rules.nan != NanRule::quieted ||
      rules.subnormal != SubnormalRule::kept || rules.path != ConvertPath::direct)
    return nullptr;
  for (const Row& row : kRows)
    if (row.to == to) return version_for_level(row.plain, row.avx2, row.avx512);
  return nullptr;
}

}  // namespace packcheck
