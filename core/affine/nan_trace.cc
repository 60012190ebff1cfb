#include "core/affine/nan_trace.h"

#include <array>
#include <cmath>

#include "core/encoding/bit_stream.h"
#include "core/environment.h"

namespace packcheck {
namespace {

constexpr double kLargest = 0x1.fffffep127;
constexpr std::array<std::string_view, 7> kCauses{"a scale is NaN",     "a scale is infinite", "a bias is NaN",
                                                  "a bias is infinite", "an input is NaN",     "an input is infinite",
                                                  "a product overflows"};

/// What is not finite in a group, if anything.
std::optional<NanCause> cause_in(float scale, float bias, std::span<const float> x) {
  if (std::isnan(scale)) return NanCause::scale_nan;
  if (std::isinf(scale)) return NanCause::scale_infinite;
  if (std::isnan(bias)) return NanCause::bias_nan;
  if (std::isinf(bias)) return NanCause::bias_infinite;
  for (const float number : x)
    if (std::isnan(number)) return NanCause::input_nan;
  for (const float number : x)
    if (std::isinf(number)) return NanCause::input_infinite;
  return std::nullopt;
}

/// Sums of magnitudes so far: no partial sum of any order is larger.
struct Reach {
  double terms = 0.0;
  double codes = 0.0;   ///< Σ |x|·q of the group: what the order per_group adds up before it scales
  double weight = 0.0;  ///< the largest

  [[nodiscard]] bool overflows() const { return !(terms <= kLargest && codes <= kLargest && weight <= kLargest); }
};

struct Place {
  std::size_t group;
  NanCause cause;
};

[[gnu::noinline]] Place place_of(const TracedLayer& layer, const AffineProduct& p, std::size_t row,
                                 std::size_t output) {
  const std::size_t groups = p.in_features / p.group_size;
  const std::size_t row_bytes = p.in_features / 8 * p.bits;
  const std::span<const std::uint8_t> codes = layer.weights.codes.subspan(output * row_bytes, row_bytes);
  Reach reach;
  std::optional<std::size_t> overflowing;
  for (std::size_t g = 0; g < groups; ++g) {
    const float scale = scale_at(p.scale_format, layer.weights.scales, output * groups + g);
    const float bias = scale_at(p.scale_format, layer.weights.biases, output * groups + g);
    const std::span<const float> x = p.x.subspan(row * p.in_features + g * p.group_size, p.group_size);
    if (const std::optional<NanCause> cause = cause_in(scale, bias, x)) return {g, *cause};
    reach.codes = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double number = std::fabs(static_cast<double>(x[i]));
      const auto code = static_cast<double>(code_at(codes, (g * p.group_size + i) * p.bits, p.bits));
      reach.weight = std::fabs(static_cast<double>(scale)) * code + std::fabs(static_cast<double>(bias));
      reach.terms += number * reach.weight;
      reach.codes += number * code;
      if (reach.overflows() && !overflowing) overflowing = g;
    }
  }
  // Rounding upwards may have overflowed a sum whose exact magnitudes did not: then the last group did it.
  return {overflowing.value_or(groups == 0 ? 0 : groups - 1), NanCause::product_overflow};
}

/// The first output of a layer that is not finite.
std::optional<NanTrace> first_in(const TracedLayer& layer, const AffineProduct& p, std::span<const float> y) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (std::isfinite(y[i])) continue;
    const std::size_t row = i / p.out_features;
    const std::size_t output = i % p.out_features;
    const Place place = place_of(layer, p, row, output);
    return NanTrace{0, layer.name, row, output, place.group, place.cause};
  }
  return std::nullopt;
}

}  // namespace

std::string_view nan_cause_text(NanCause cause) { return kCauses[static_cast<std::size_t>(cause)]; }

std::string NanTrace::text() const {
  std::string line = name;
  line.append(", row ").append(std::to_string(row)).append(", output ").append(std::to_string(output));
  line.append(", group ").append(std::to_string(group)).append(": ").append(nan_cause_text(cause));
  return line;
}

Result<std::optional<NanTrace>> trace_nan(std::span<const TracedLayer> layers, std::span<const float> x,
                                          std::size_t rows) {
  const ExactEnvironment exact;
  std::vector<float> input(x.begin(), x.end());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    AffineProduct product = layers[i].product;
    product.rows = rows;
    product.x = input;
    std::size_t size = 0;
    if (__builtin_mul_overflow(rows, product.out_features, &size))
      return refuse("the shape overflows", layers[i].name, "a size that fits in memory");
    // Arguments first: an output is made only for sizes that the buffers confirm.
    if (auto ok = check_product(product, layers[i].weights, size); !ok)
      return refuse(ok.error().what, layers[i].name + ": " + ok.error().where, ok.error().right);
    std::vector<float> y(size);
    if (auto ok = affine_matmul(product, layers[i].weights, y); !ok) return tl::unexpected(ok.error());
    if (std::optional<NanTrace> trace = first_in(layers[i], product, y)) {
      trace->layer = i;
      return trace;
    }
    input = std::move(y);
  }
  return std::optional<NanTrace>{};
}

}  // namespace packcheck
