// core/encoding/bound_terms.h: the error bounds that several families share.
//
// Notation and the triangle inequality are in bounds.h. Proved by tests/core/bounds_test.cc.
#pragma once

#include <limits>
#include <span>

#include "core/encoding/encoding.h"

namespace packcheck {

inline constexpr double kNothingPromised = std::numeric_limits<double>::infinity();
/// Covers the roundings of a bound's own computation in double.
inline constexpr double kBoundRounding = 1.0 + 0x1p-50;

/// |d - D| for a magnitude d that is stored as a half: for nearest-even half an ulp of the half format,
/// max(2^-11·d, 2^-25); for skainet's codec the same above 2^-14 and a whole subnormal step 2^-24
/// below, where it truncates. d itself where D is 0, infinite where the half overflows.
[[nodiscard]] double scale_error(ScaleRule rule, double d);
/// Whether the stored half of a magnitude d is 0.
[[nodiscard]] bool scale_vanishes(ScaleRule rule, double d);
[[nodiscard]] bool all_finite(std::span<const float> block);

/// Families with y = q·D: d = A / divisor (with or without the sign of the extreme element),
/// q = round(x·(1/d)).
///
/// Code term. 1/d and x·(1/d) are rounded once each: p = r·(1+t) with |t| <= 2u + u^2 < 2^-22.9.
/// Rounding p directly gives |q - p| <= 1/2. Where the rule is truncate(p + offset + 1/2), that sum is
/// rounded once more, by at most `shift_rounding` (half an ulp of the largest sum). So
///   |r - q| <= 1/2 + |r|·2^-22.9 + shift_rounding,
/// unless the code is clipped (r from clipped_at on): then |r - q| = r - clipped_to <= 1.
/// |q| <= |r| + |r - q|, and never above `largest`.
/// Where D is 0 (d <= 2^-25; skainet: d < 2^-24), y is 0 whatever the code is, also where 1/d
/// overflows (d <= 2^-128): the error is |x| exactly.
struct SymmetricRule {
  double divisor;
  double largest;                        ///< largest |q|
  double clipped_at = kNothingPromised;  ///< r from which the code is clipped
  double clipped_to = 0.0;               ///< the q it is clipped to
  double shift_rounding = 0.0;
  bool negative = false;  ///< d = extreme / -divisor: the extreme itself is at r = -divisor
};
void symmetric_bounds(const SymmetricRule& rule, const BlockRules& rules, std::span<const float> block, double* bounds);

/// Families that store their scale s as a single, so that it loses nothing: q = round(fl(x·fl(1/s))), clamped to
/// `largest`, y = fl(q·s). The bound of |x - y| for one element, with r = |x|/s:
///   s = 0             y = 0: |x|.
///   s <= 2^-128       1/s is infinite, so q = ±largest, or 0 where x = 0: s·| r - largest |.
///   else              1/s is rounded by u, or by 2^-150 where it is subnormal (s > 2^126), which is 2^-150·s of it;
///                     the product by u, or by 2^-150: |r - q| <= 1/2 + r·(max(u, 2^-150·s) + u)·(1 + 2^-20) + 2^-149,
///                     and where the clamp changes q, r - largest.
/// y is exact for q = ±1, else rounded by u·|q|·s (a subnormal s is a multiple of 2^-149, and so is q·s).
/// Nothing is promised where y may overflow.
[[nodiscard]] double single_step_error(double x, double s, double largest);

/// Families with y = fl(q·D + M): m the least element, d = fl(fl(max - m) / largest),
/// q = truncate(fl(fl(x - m)·(1/d)) + 1/2), M the half of m.
///
///   |x - y| <= |x - m - q·d| + |q|·|d - D| + |m - M| + u·|q·D + M|
/// Now r = (x - m)/d; the subtraction is one more rounding, p = r·(1+t), |t| <= 3u + 4u^2 < 0.77·2^-22;
/// p + 1/2 < 32 is rounded by at most 2^-20, so |r - q| <= 1/2 + r·0.77·2^-22 + 2^-20. No code is
/// clipped: r <= largest·(1 + 2u) gives at most `largest`. q·D is exact, the sum is rounded once.
/// Where D is 0, y = M.
void affine_bounds(double largest, const BlockRules& rules, std::span<const float> block, double* bounds);

}  // namespace packcheck
