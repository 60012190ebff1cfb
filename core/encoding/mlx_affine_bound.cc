// The error bound of MLX's affine groups.
//
// Notation: s and b the scale and bias in f32, S and B as they are stored (T, their format), q the code,
// n the largest code, r = (x - b)/s exactly, y what is decoded. s and b, and so S and B, are what
// affine_group_of() gives; the codes are where a quantizer may differ within the rounding of f32.
//
// Which codes x may get. The difference and the quotient are rounded once each: p = r·(1+t),
// |t| <= 2u + u^2, and |r| < 2^9, so p is off by at most w = |r|·2^-22.9 (a quotient that is subnormal is
// nearer to 0 than to any half). Rounding p, whichever way halves go, gives an integer q with
// |r - q| <= 1/2 + w, or n where r > n + 1/2 - w. The range of a group is at most n + 1 steps: its s0 is
// range/n, k = round(e) with e = edge/s0, |e| >= n/2, and range/|s| = n·k/e <= n + 1. So a clipped code
// costs up to one step, all others half of one. These are one code or two.
//
// What each costs. |x - y| <= |x - (q·S + B)| + the roundings of decoding. The first term holds what the
// stored scale and bias are off by, q·|s - S| + |b - B|: with 8 bits and bfloat16 up to
// 255·2^-9 steps and 1/2 ulp of the bias, and nothing recomputes the codes for it. It is computed in double:
// q·S is exact (8 + 24 bits); the sum is rounded by at most 2^-53·(|q·S| + |B|), twice that with the difference's own.
// Rounding to T costs half an ulp of T at the result, and nothing below twice T's smallest normal number,
// where every multiple of T's smallest number is in T. The CPU rounds q·S and the sum, a GPU the sum alone.
// q = 0 is decoded as B exactly. S = 0 decodes as B whatever the code, also where it is the cast of 0/0.
// Nothing is promised for a NaN or an infinity in the group or in S or B, nor where a rounding overflows.
#include <algorithm>
#include <cmath>

#include "core/encoding/bound_terms.h"
#include "core/encoding/mlx_affine.h"

namespace packcheck {
namespace {

/// Half an ulp of the format at `magnitude`, infinite where a number of that magnitude may overflow.
double half_ulp(const FormatSpec& s, double magnitude) {
  const int least_exponent = 1 - s.bias();
  const int bits = s.significand_bits + 1;
  const double overflow = std::ldexp(2.0 - std::ldexp(1.0, -bits), s.bias());
  if (magnitude >= overflow) return kNothingPromised;
  if (magnitude < std::ldexp(2.0, least_exponent)) return 0.0;
  return std::ldexp(1.0, std::ilogb(magnitude) - bits);
}

struct Stored {
  double scale;
  double bias;
};

double error_of_code(const BlockRules& rules, const Stored& stored, double code, double x) {
  if (code == 0.0) return std::fabs(x - stored.bias);
  const FormatSpec& storage = spec(rules.affine.storage);
  const double product = code * stored.scale;
  const double sum = product + stored.bias;
  const double first = rules.affine_rule == AffineRule::cpu ? half_ulp(storage, std::fabs(product)) : 0.0;
  const double own = 0x1p-52 * (std::fabs(product) + std::fabs(stored.bias));
  return std::fabs(x - sum) + first + half_ulp(storage, std::fabs(sum) + first + own) + own;
}

}  // namespace

[[gnu::noinline]] void mlx_affine_bound_block(const BlockRules& rules, const float* values, double* bounds) {
  const std::span<const float> block(values, rules.affine.group);
  std::fill_n(bounds, block.size(), kNothingPromised);
  if (!all_finite(block)) return;
  const AffineGroup group = affine_group_of(rules, block);
  const Stored stored{static_cast<double>(stored_number(rules.affine.storage, group.scale)),
                      static_cast<double>(stored_number(rules.affine.storage, group.bias))};
  if (!std::isfinite(stored.scale) || !std::isfinite(stored.bias)) return;
  const auto largest = static_cast<double>((1U << rules.affine.bits) - 1);
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double x = static_cast<double>(block[i]);
    double least_code = 0.0;
    double most_code = 0.0;
    if (stored.scale != 0.0) {
      const double r = (x - static_cast<double>(group.bias)) / static_cast<double>(group.scale);
      // 2^-22.9 < 0.54 * 2^-22; the difference is more than what r, where it is near a middle, is wrong by as a double.
      const double reach = 0.5 + std::fabs(r) * 0x1p-22 * 0.54;
      least_code = std::clamp(std::ceil(r - reach), 0.0, largest);
      most_code = std::clamp(std::floor(r + reach), 0.0, largest);
    }
    bounds[i] = std::max(error_of_code(rules, stored, least_code, x), error_of_code(rules, stored, most_code, x)) *
                kBoundRounding;
  }
}

}  // namespace packcheck
