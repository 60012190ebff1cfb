#include "properties/oracles/half_value.h"

#include <cmath>
#include <limits>

namespace packcheck::oracle {
namespace {

constexpr double kOverflow = 65520.0;  // half way between the largest half and 2^16
constexpr double kSmallestNormal = 0x1p-14;
constexpr int kSubnormalSpacing = -24;  // 2^-24
constexpr std::uint16_t kInfinity = 0x7C00;
constexpr std::uint16_t kNegative = 0x8000;

/// What a magnitude below the overflow threshold becomes, with `round` to make an integer of the
/// number of spacings.
template <class Round>
std::uint16_t half_of_magnitude(double magnitude, Round round) {
  const int binade = magnitude < kSmallestNormal ? -14 : std::ilogb(magnitude);
  const int spacing = magnitude < kSmallestNormal ? kSubnormalSpacing : binade - 10;
  const auto steps = static_cast<int>(round(std::ldexp(magnitude, -spacing)));
  // In the lowest binade the code is the number of steps; each further binade adds 1024 codes.
  return static_cast<std::uint16_t>(steps + 1024 * (binade + 14));
}

}  // namespace

double half_value(std::uint16_t code) {
  const int field = code / 1024 % 32;
  const int fraction = code % 1024;
  double magnitude = 0.0;
  if (field == 31)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (field == 0)
    magnitude = std::ldexp(fraction, kSubnormalSpacing);
  else
    magnitude = std::ldexp(1024 + fraction, field - 25);
  return code >= kNegative ? -magnitude : magnitude;
}

std::uint16_t nearest_half(double value) {
  const double magnitude = std::fabs(value);
  const std::uint16_t sign = std::signbit(value) ? kNegative : std::uint16_t{0};
  const std::uint16_t half =
      magnitude >= kOverflow ? kInfinity : half_of_magnitude(magnitude, [](double x) { return std::nearbyint(x); });
  return static_cast<std::uint16_t>(sign + half);
}

std::uint16_t skainet_half(double value) {
  const double magnitude = std::fabs(value);
  const std::uint16_t sign = std::signbit(value) ? kNegative : std::uint16_t{0};
  std::uint16_t half = kInfinity;
  if (magnitude < kSmallestNormal)
    half = half_of_magnitude(magnitude, [](double x) { return std::floor(x); });
  else if (magnitude < kOverflow)
    half = half_of_magnitude(magnitude, [](double x) { return std::floor(x + 0.5); });
  return static_cast<std::uint16_t>(sign + half);
}

}  // namespace packcheck::oracle
