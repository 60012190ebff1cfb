#include "core/audit/element_statistics.h"

#include <algorithm>
#include <type_traits>

#include "core/simd.h"

namespace packcheck {
namespace {

/// What tells the kinds of code of one format apart, by magnitude alone but for the NaN at -0.
struct Limits {
  std::uint64_t magnitude_mask;
  std::uint64_t largest_finite;
  std::uint64_t largest_number;  ///< magnitudes above are NaN; infinity lies between the two
  std::uint64_t largest_subnormal;
  std::uint64_t zero;  ///< 1: magnitude 0 is a zero; 0: it is a number
};

Limits limits_of(const FormatSpec& s) {
  Limits limits{};
  limits.magnitude_mask = s.magnitude_mask();
  limits.largest_finite = s.largest_finite();
  limits.largest_number = s.infinities ? s.infinity() : s.largest_finite();
  limits.largest_subnormal = s.kind == FormatKind::floating ? s.significand_mask() : 0;
  limits.zero = s.has_zero() ? 1 : 0;
  return limits;
}

/// Of one run.
struct Counts {
  std::uint64_t nan = 0;
  std::uint64_t above_finite = 0;
  std::uint64_t subnormal = 0;
  std::uint64_t largest = 0;
  std::uint64_t smallest_less_zero = kNowhere;  ///< less 1 where 0 is a zero, which wraps to the type's top
};

/// Bytes in a run. It goes over lanes side by side, as a vector does; a lane's counts fit the element's own type, which
/// is what vectors add without widening.
inline constexpr std::size_t kRunBytes = 8192;
inline constexpr std::size_t kLaneBytes = 64;
/// Bytes that a run asks for before it needs them; files are larger than caches.
inline constexpr std::size_t kAhead = 3072;

template <class Code>
struct Lanes {
  static constexpr std::size_t kCount = kLaneBytes / sizeof(Code);
  Code nan[kCount] = {};
  Code above_finite[kCount] = {};
  Code subnormal[kCount] = {};
  Code largest[kCount] = {};
  Code smallest_less_zero[kCount];

  Lanes() { std::fill_n(smallest_less_zero, kCount, std::numeric_limits<Code>::max()); }
};

template <class Code, bool kNanAtMinusZero>
[[gnu::always_inline]] inline void count_lanes(const std::uint8_t* in, std::size_t lanes, const Limits& limits,
                                               Lanes<Code>& counts) {
  const Code mask = static_cast<Code>(limits.magnitude_mask);
  const Code minus_zero = static_cast<Code>(limits.magnitude_mask + 1);
  const Code finite = static_cast<Code>(limits.largest_finite);
  const Code number = static_cast<Code>(limits.largest_number);
  const Code subnormal = static_cast<Code>(limits.largest_subnormal);
  const Code zero = static_cast<Code>(limits.zero);
  for (std::size_t i = 0; i < lanes; ++i) {
    const Code code = load_little_endian<Code>(in + sizeof(Code) * i);
    const Code magnitude = static_cast<Code>(code & mask);
    const Code less_zero = static_cast<Code>(magnitude - zero);
    if constexpr (kNanAtMinusZero)
      counts.nan[i] = static_cast<Code>(counts.nan[i] + (code == minus_zero ? 1 : 0));
    else
      counts.nan[i] = static_cast<Code>(counts.nan[i] + (magnitude > number ? 1 : 0));
    counts.above_finite[i] = static_cast<Code>(counts.above_finite[i] + (magnitude > finite ? 1 : 0));
    counts.subnormal[i] = static_cast<Code>(counts.subnormal[i] + (less_zero < subnormal ? 1 : 0));
    // A mask, where a choice would keep compilers from vectorising.
    const Code kept = static_cast<Code>(magnitude & static_cast<Code>(-static_cast<int>(magnitude <= finite)));
    counts.largest[i] = kept > counts.largest[i] ? kept : counts.largest[i];
    counts.smallest_less_zero[i] = less_zero < counts.smallest_less_zero[i] ? less_zero : counts.smallest_less_zero[i];
  }
}

template <class Code, bool kNanAtMinusZero>
[[gnu::always_inline]] inline void count_run(const std::uint8_t* in, std::size_t count, const Limits& limits,
                                             Counts& counts) {
  constexpr std::size_t kLanes = Lanes<Code>::kCount;
  Lanes<Code> lanes;
  const std::size_t rows = count / kLanes;
  for (std::size_t row = 0; row < rows; ++row) {
    __builtin_prefetch(in + row * kLaneBytes + kAhead);
    count_lanes<Code, kNanAtMinusZero>(in + row * kLaneBytes, kLanes, limits, lanes);
  }
  count_lanes<Code, kNanAtMinusZero>(in + rows * kLaneBytes, count % kLanes, limits, lanes);
  for (std::size_t i = 0; i < kLanes; ++i) {
    counts.nan += lanes.nan[i];
    counts.above_finite += lanes.above_finite[i];
    counts.subnormal += lanes.subnormal[i];
    counts.largest = std::max<std::uint64_t>(counts.largest, lanes.largest[i]);
    counts.smallest_less_zero = std::min<std::uint64_t>(counts.smallest_less_zero, lanes.smallest_less_zero[i]);
  }
}

template <class Code, bool kNanAtMinusZero>
void count_plain(const std::uint8_t* in, std::size_t count, const Limits& limits, Counts& counts) {
  count_run<Code, kNanAtMinusZero>(in, count, limits, counts);
}
#if defined(__x86_64__)
template <class Code, bool kNanAtMinusZero>
PACKCHECK_AVX2 void count_avx2(const std::uint8_t* in, std::size_t count, const Limits& limits, Counts& counts) {
  count_run<Code, kNanAtMinusZero>(in, count, limits, counts);
}
template <class Code, bool kNanAtMinusZero>
PACKCHECK_AVX512 void count_avx512(const std::uint8_t* in, std::size_t count, const Limits& limits, Counts& counts) {
  count_run<Code, kNanAtMinusZero>(in, count, limits, counts);
}
#endif

/// The first element of a run that `is_kind` holds for, if none was found before.
template <class Kind>
void find_first(const FormatSpec& s, std::span<const std::uint8_t> run, std::uint64_t index, Kind is_kind,
                Occurrences& found) {
  if (found.first != kNowhere) return;
  for (std::size_t i = 0; i < run.size() / s.bytes(); ++i) {
    if (!is_kind(s, load_element(s, run, i))) continue;
    found.first = index + i;
    return;
  }
}

/// The statistics by the words of format.h: what the fast loops are held against.
void add_by_the_rule(const FormatSpec& s, std::span<const std::uint8_t> bytes, ElementStatistics& t) {
  const auto note = [&t](Occurrences& found) {
    if (found.count++ == 0) found.first = t.elements;
  };
  for (std::size_t i = 0; i < bytes.size() / s.bytes(); ++i, ++t.elements) {
    const std::uint64_t code = load_element(s, bytes, i) & s.all_bits();
    const std::uint64_t magnitude = code & s.magnitude_mask();
    if (is_nan(s, code)) {
      note(t.nan);
    } else if (is_infinite(s, code)) {
      note(t.infinite);
    } else {
      if (is_subnormal(s, code)) note(t.subnormal);
      t.largest = std::max(t.largest, magnitude);
      if (!is_zero(s, code)) t.smallest = std::min(t.smallest, magnitude);
    }
  }
}

using CountRun = void(const std::uint8_t*, std::size_t, const Limits&, Counts&);

template <class Code, bool kNanAtMinusZero>
CountRun* counting() {
#if defined(__x86_64__)
  return version_for_level(count_plain<Code, kNanAtMinusZero>, count_avx2<Code, kNanAtMinusZero>,
                           count_avx512<Code, kNanAtMinusZero>);
#else
  return version_for_level(count_plain<Code, kNanAtMinusZero>, count_plain<Code, kNanAtMinusZero>,
                           count_plain<Code, kNanAtMinusZero>);
#endif
}

template <class Code>
void add_fast(const FormatSpec& s, std::span<const std::uint8_t> bytes, CountRun* run, ElementStatistics& t) {
  const Limits limits = limits_of(s);
  while (bytes.size() >= sizeof(Code)) {
    const std::size_t count = std::min(kRunBytes, bytes.size()) / sizeof(Code);
    const std::span<const std::uint8_t> part = bytes.first(count * sizeof(Code));
    Counts c;
    run(part.data(), count, limits, c);
    // At -0 there is a NaN that is not above the finite magnitudes; such formats have no infinity.
    const bool nan_at_minus_zero = s.nan_codes == NanCodes::negative_zero;
    const std::uint64_t infinite = nan_at_minus_zero ? 0 : c.above_finite - c.nan;
    if (c.nan != 0) find_first(s, part, t.elements, is_nan, t.nan);
    if (infinite != 0) find_first(s, part, t.elements, is_infinite, t.infinite);
    if (c.subnormal != 0) find_first(s, part, t.elements, is_subnormal, t.subnormal);
    t.nan.count += c.nan;
    t.infinite.count += infinite;
    t.subnormal.count += c.subnormal;
    t.largest = std::max(t.largest, c.largest);
    if (c.smallest_less_zero <= limits.largest_finite - limits.zero)
      t.smallest = std::min(t.smallest, c.smallest_less_zero + limits.zero);
    t.elements += count;
    bytes = bytes.subspan(part.size());
  }
}

template <class Code>
void add(const FormatSpec& s, std::span<const std::uint8_t> bytes, ElementStatistics& statistics) {
  CountRun* run = nullptr;
  if constexpr (sizeof(Code) == 1)
    run = s.nan_codes == NanCodes::negative_zero ? counting<Code, true>() : counting<Code, false>();
  else
    run = counting<Code, false>();
  if (run == nullptr)
    add_by_the_rule(s, bytes, statistics);
  else
    add_fast<Code>(s, bytes, run, statistics);
}

}  // namespace

bool has_element_statistics(Format format) {
  const FormatSpec& s = spec(format);
  return !s.is_integer() && s.width() % 8 == 0;
}

void add_elements(Format format, std::span<const std::uint8_t> bytes, ElementStatistics& statistics) {
  const FormatSpec& s = spec(format);
  if (s.bytes() == 1) return add<std::uint8_t>(s, bytes, statistics);
  if (s.bytes() == 2) return add<std::uint16_t>(s, bytes, statistics);
  if (s.bytes() == 4) return add<std::uint32_t>(s, bytes, statistics);
  add<std::uint64_t>(s, bytes, statistics);
}

}  // namespace packcheck
