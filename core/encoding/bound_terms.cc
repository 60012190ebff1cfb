#include "core/encoding/bound_terms.h"

#include <algorithm>
#include <cmath>

namespace packcheck {

bool scale_vanishes(ScaleRule rule, double d) {
  return rule == ScaleRule::skainet_private ? d < 0x1p-24 : d <= 0x1p-25;
}

double scale_error(ScaleRule rule, double d) {
  if (d >= 65520.0) return kNothingPromised;
  if (scale_vanishes(rule, d)) return d;
  if (rule == ScaleRule::skainet_private && d < 0x1p-14) return 0x1p-24;
  return std::max(0x1p-11 * d, 0x1p-25);
}

bool all_finite(std::span<const float> block) {
  return std::all_of(block.begin(), block.end(), [](float x) { return std::isfinite(x); });
}

[[gnu::noinline]] void symmetric_bounds(const SymmetricRule& f, const BlockRules& rules, std::span<const float> block,
                                        double* bounds) {
  std::fill_n(bounds, block.size(), kNothingPromised);
  if (!all_finite(block)) return;
  float extreme = 0.0F;
  for (const float value : block)
    if (std::fabs(value) > std::fabs(extreme)) extreme = value;
  const double sign = f.negative && !std::signbit(extreme) ? -1.0 : 1.0;
  const double d = static_cast<double>(static_cast<float>(std::fabs(static_cast<double>(extreme)) / f.divisor));
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double x = static_cast<double>(block[i]);
    if (scale_vanishes(rules.scale, d)) {
      bounds[i] = std::fabs(x);
      continue;
    }
    const double r = sign * x / d;
    const double rounding = std::fabs(r) * 0x1p-22 * 0.54 + f.shift_rounding;  // 2^-22.9 < 0.54 * 2^-22
    double code_error = 0.5 + rounding;
    if (r + rounding >= f.clipped_at) code_error = std::max(code_error, r - f.clipped_to + rounding);
    const double code = std::min(std::fabs(r) + code_error, f.largest);
    bounds[i] = (d * code_error + code * scale_error(rules.scale, d)) * kBoundRounding;
  }
}

[[gnu::noinline]] double single_step_error(double x, double s, double largest) {
  if (s == 0.0) return std::fabs(x);
  const double r = std::fabs(x) / s;
  const double beyond = std::fabs(x) - largest * s;  // exact but for one rounding
  double error = r == 0.0 ? 0.0 : std::fabs(beyond);
  if (s > 0x1p-128) {
    const double rounding = r * (std::max(0x1p-24, 0x1p-150 * s) + 0x1p-24) * (1.0 + 0x1p-20) + 0x1p-149;
    error = std::max(s * (0.5 + rounding), beyond);
  }
  const double decoded = std::min(largest * s, std::fabs(x) + error);
  if (decoded >= 0x1p128 - 0x1p103) return kNothingPromised;
  return (error + (largest > 1.0 ? 0x1p-24 * decoded : 0.0)) * kBoundRounding;
}

[[gnu::noinline]] void affine_bounds(double largest, const BlockRules& rules, std::span<const float> block,
                                     double* bounds) {
  std::fill_n(bounds, block.size(), kNothingPromised);
  if (!all_finite(block)) return;
  const auto [least, greatest] = std::minmax_element(block.begin(), block.end());
  const double m = static_cast<double>(*least);
  const auto range = static_cast<float>(static_cast<double>(*greatest) - m);
  const double d = static_cast<double>(range / static_cast<float>(largest));
  const double minimum_error = scale_error(rules.scale, std::fabs(m));
  for (std::size_t i = 0; i < block.size(); ++i) {
    const double x = static_cast<double>(block[i]);
    if (scale_vanishes(rules.scale, d)) {
      bounds[i] = (x - m + minimum_error) * kBoundRounding;
      continue;
    }
    const double r = (x - m) / d;
    const double code_error = 0.5 + r * 0x1p-22 * 0.77 + 0x1p-20;
    const double code = std::min(r + code_error, largest);
    const double before = d * code_error + code * scale_error(rules.scale, d) + minimum_error;
    bounds[i] = (before + 0x1p-24 * (std::fabs(x) + before)) * kBoundRounding;
  }
}

}  // namespace packcheck
