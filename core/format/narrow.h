// core/format/narrow.h: narrowing of singles as straight-line integer code, the fast path of convert.h.
//
// Nearest even, NaN quieted, subnormals kept: what convert() gives under its default rules, with or without
// saturation, for the signed formats of 16 bits and fewer. One expression without branches, so that
// compilers turn the loops of narrow.cc into vector code. The rule is convert(); that both agree is
// proved by tests/core/fast_path_test.cc at every level of core/simd.h. Change neither without the other.
#pragma once

#include <cstdint>

#include "core/format/convert.h"

namespace packcheck {

/// The code of `To` for the single with these bits.
template <Format To>
[[gnu::always_inline]] constexpr std::uint32_t narrow_single(std::uint32_t bits, bool saturating) {
  using u32 = std::uint32_t;
  constexpr FormatSpec kTo = spec(To);
  static_assert(kTo.is_signed && kTo.width() <= 16);
  constexpr u32 kSign = static_cast<u32>(kTo.sign_bit());
  constexpr u32 kBits = static_cast<u32>(kTo.significand_bits);
  constexpr u32 kDrop = 23 - kBits;  // low bits that go from a normal result
  constexpr u32 kLargest = static_cast<u32>(kTo.largest_finite());
  constexpr u32 kSmallest = static_cast<u32>(128 - kTo.bias());  // exponent field of the smallest normal, in f32
  constexpr u32 kOneSign = kTo.has_negative_zero() ? kSign : 0;  // of a zero
  constexpr bool kMadeNan = kTo.overflow == Overflow::nan;

  const u32 sign = bits >> 31 != 0 ? kSign : 0;
  const u32 magnitude = bits & 0x7FFFFFFF;
  const u32 field = magnitude >> 23;
  const u32 scale = field > 1 ? field : 1;
  const u32 normal = scale > kSmallest ? scale : kSmallest;
  const u32 significand = (magnitude & 0x7FFFFF) | (field != 0 ? u32{0x800000} : u32{0});
  const u32 lost = kDrop + (normal - scale);
  const u32 drop = lost < 25 ? lost : 25;  // from 25 on, all is below the half
  const u32 kept = significand >> drop;
  const u32 rest = significand - (kept << drop);
  const u32 up = rest + (kept & 1) > (u32{1} << (drop - 1)) ? 1 : 0;
  const u32 finite = ((normal - kSmallest) << kBits) + kept + up;

  constexpr u32 kNan = kTo.nan_codes == NanCodes::all_ones ? static_cast<u32>(kTo.magnitude_mask()) : u32{0};
  constexpr bool kSignedNan = kTo.nan_codes == NanCodes::ieee || kTo.nan_codes == NanCodes::all_ones;
  const u32 nan_sign = kSignedNan ? sign : kSign;
  const u32 past = kMadeNan ? nan_sign | kNan : sign | static_cast<u32>(kTo.infinity());
  const u32 over = saturating || kTo.overflow == Overflow::largest ? sign | kLargest : past;
  const u32 zero_or_number = (finite == 0 ? sign & kOneSign : sign) | finite;
  const u32 number = finite > kLargest ? over : zero_or_number;
  const u32 quieted = kTo.nan_codes == NanCodes::ieee
                          ? static_cast<u32>(kTo.infinity() | kTo.quiet_bit()) | (magnitude & 0x7FFFFF) >> kDrop
                          : kNan;
  return magnitude > 0x7F800000 ? nan_sign | quieted : number;
}

/// Converts `count` singles at `in` to codes of one format at `out`, both little-endian and of any alignment.
using NarrowRun = void(const std::uint8_t* in, std::uint8_t* out, std::size_t count, bool saturating);

/// The fast form of a conversion under these rules, at the level in use; null where there is none.
[[nodiscard]] NarrowRun* fast_narrowing(Format from, Format to, const ConvertRules& rules);

}  // namespace packcheck
