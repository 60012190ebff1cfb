#include "core/affine/matmul_bound.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/encoding/bit_stream.h"
#include "core/environment.h"

namespace packcheck {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kSubnormal = 0x1p-150;  ///< half the least f32
constexpr double kOverflow = 0x1.fffffep127;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Sums of doubles below are this close to their exact value, for fewer than 2^20 terms.
constexpr double kSlack = 1.0 + 0x1p-30;

struct Magnitudes {
  double terms = 0.0;   ///< M
  double codes = 0.0;   ///< Σ |x|·q
  double inputs = 0.0;  ///< Σ |x|
  double weight = 0.0;  ///< the largest |s|·q + |b|
};

[[gnu::noinline]] Magnitudes magnitudes(const AffineProduct& p, const PackedMatrix& w, std::size_t row,
                                        std::size_t output) {
  Magnitudes m;
  const std::size_t groups = p.in_features / p.group_size;
  const std::size_t row_bytes = p.in_features / 8 * p.bits;
  const std::span<const std::uint8_t> codes = w.codes.subspan(output * row_bytes, row_bytes);
  for (std::size_t i = 0; i < p.in_features; ++i) {
    const std::size_t at = output * groups + i / p.group_size;
    const double scale = std::fabs(static_cast<double>(scale_at(p.scale_format, w.scales, at)));
    const double bias = std::fabs(static_cast<double>(scale_at(p.scale_format, w.biases, at)));
    const double x = std::fabs(static_cast<double>(p.x[row * p.in_features + i]));
    const auto code = static_cast<double>(code_at(codes, i * p.bits, p.bits));
    const double weight = scale * code + bias;
    m.terms += x * weight;
    m.codes += x * code;
    m.inputs += x;
    // Not std::max: a NaN must stay.
    if (!(weight <= m.weight)) m.weight = weight;
  }
  return m;
}

}  // namespace

std::size_t product_roundings(SumOrder order, std::size_t in_features, std::size_t group_size) {
  const std::size_t n = in_features;
  if (n == 0) return 0;
  switch (order) {
    case SumOrder::sequential: break;
    case SumOrder::lanes: return (n + kLanes - 1) / kLanes + 5;
    case SumOrder::pairwise: return static_cast<std::size_t>(std::bit_width(n - 1)) + 3;
    case SumOrder::per_group: return group_size + n / group_size + 1;
  }
  return n + 2;
}

double product_bound(const AffineProduct& p, const PackedMatrix& w, std::size_t row, std::size_t output) {
  const ExactEnvironment exact;
  const Magnitudes m = magnitudes(p, w, row, output);
  const auto k = static_cast<double>(product_roundings(p.order, p.in_features, p.group_size));
  const double relative = k * kUnit / (1.0 - k * kUnit);
  const double room = kOverflow / (1.0 + relative) / kSlack;
  if (!(k * kUnit < 0.5 && m.terms < room && m.codes < room && m.inputs < room && m.weight < room)) return kInfinity;
  const std::size_t subnormal = p.order == SumOrder::per_group ? 2 * (p.in_features / p.group_size) : p.in_features;
  return (relative * m.terms + static_cast<double>(subnormal) * kSubnormal * (1.0 + relative)) * kSlack;
}

}  // namespace packcheck
