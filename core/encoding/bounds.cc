#include "core/encoding/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/environment.h"

namespace packcheck {
namespace {

constexpr double kNothingPromised = std::numeric_limits<double>::infinity();

struct Family {
  double divisor;     // |d| = A / divisor
  double largest;     // largest |q|
  double clipped_at;  // r from which the code is clipped, infinity if never
  double clipped_to;  // the q it is clipped to
  double extra;       // rounding of the shifted code
};

Family family_of(const Encoding& e) {
  if (e.name == "q4_0") return {8.0, 8.0, 7.5, 7.0, 0x1p-20};
  return {127.0, 127.0, kNothingPromised, 127.0, 0.0};
}

/// Whether the stored half is 0.
bool scale_vanishes(ScaleRule rule, double d) {
  return rule == ScaleRule::skainet_private ? d < 0x1p-24 : d <= 0x1p-25;
}

/// |d - D| for a stored scale that is not 0, infinity where the half overflows.
double scale_error(ScaleRule rule, double d) {
  if (d >= 65520.0) return kNothingPromised;
  if (rule == ScaleRule::skainet_private && d < 0x1p-14) return 0x1p-24;
  return std::max(0x1p-11 * d, 0x1p-25);
}

/// r = x/d with the sign that decides about clipping: q4_0's scale takes the sign of the extreme
/// element, so the extreme itself is at r = -8.
double ratio(float x, float extreme, double d, const Family& f) {
  const double sign = f.divisor == 8.0 && !std::signbit(extreme) ? -1.0 : 1.0;
  return sign * static_cast<double>(x) / d;
}

[[gnu::noinline]] double bound_of(const Encoding& e, std::span<const float> block, std::size_t index) {
  float extreme = 0.0F;
  for (const float value : block) {
    if (!std::isfinite(value)) return kNothingPromised;
    if (std::fabs(value) > std::fabs(extreme)) extreme = value;
  }
  const double x = std::fabs(static_cast<double>(block[index]));
  const Family f = family_of(e);
  const double d = static_cast<double>(static_cast<float>(std::fabs(static_cast<double>(extreme)) / f.divisor));
  if (scale_vanishes(e.rules.scale, d)) return x;
  const double r = ratio(block[index], extreme, d, f);
  const double rounding = std::fabs(r) * 0x1p-22 * 0.54 + f.extra;  // 2^-22.9 < 0.54 * 2^-22
  double code_error = 0.5 + rounding;
  if (r + rounding >= f.clipped_at) code_error = std::max(code_error, r - f.clipped_to + rounding);
  const double code = std::min(std::fabs(r) + code_error, f.largest);
  const double bound = d * code_error + code * scale_error(e.rules.scale, d);
  return bound * (1.0 + 0x1p-50);  // the roundings of this function itself
}

}  // namespace

double error_bound(const Encoding& encoding, std::span<const float> block, std::size_t index) {
  const ExactEnvironment exact;
  return bound_of(encoding, block, index);
}

}  // namespace packcheck
