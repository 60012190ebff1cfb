#include "properties/oracles/affine_oracle.h"

#include <cmath>
#include <limits>

#include "properties/oracles/default_environment.h"
#include "properties/oracles/half_value.h"

namespace packcheck::oracle {
namespace {

std::size_t bytes_of(Format format) { return format == Format::f32 ? 4 : 2; }

/// The number of an f32, from its fields.
double single_value(std::uint32_t code) {
  const auto field = static_cast<int>(code / 0x800000 % 256);
  const auto fraction = static_cast<int>(code % 0x800000);
  double magnitude = 0.0;
  if (field == 255)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (field == 0)
    magnitude = std::ldexp(fraction, -149);
  else
    magnitude = std::ldexp(0x800000 + fraction, field - 150);
  return code >= 0x80000000 ? -magnitude : magnitude;
}

/// Number `index` of a little-endian array.
double number_at(Format format, std::span<const std::uint8_t> bytes, std::size_t index) {
  const std::size_t size = bytes_of(format);
  std::uint32_t code = 0;
  std::uint32_t place = 1;
  for (const std::uint8_t byte : bytes.subspan(index * size, size)) {
    code += byte * place;
    place *= 256;
  }
  if (format == Format::f16) return half_value(static_cast<std::uint16_t>(code));
  return single_value(format == Format::bf16 ? code * 65536 : code);
}

double as_f32(double number) { return static_cast<double>(static_cast<float>(number)); }

/// The product is exact in double (24 + 4 bits). The sum of two f32 numbers has more than 2·24 + 2 bits in
/// double, so the second rounding changes nothing; a sum that is subnormal in f32 is exact.
float weight(double scale, int code, double bias) { return static_cast<float>(as_f32(scale * code) + bias); }

[[gnu::noinline]] void decode(const GroupedWeights& w, std::vector<float>& out) {
  const std::size_t group = w.in_features / w.scale_columns;
  for (std::size_t g = 0; g < w.out_features * w.scale_columns; ++g) {
    const double scale = number_at(w.scale_format, w.scales, g);
    const double bias = number_at(w.scale_format, w.biases, g);
    // Rows are whole numbers of groups, so group g starts at element g · group of the matrix.
    for (std::size_t at = g * group; at < (g + 1) * group; ++at) {
      const int byte = w.codes[at / 2];
      out[at] = weight(scale, at % 2 == 0 ? byte % 16 : byte / 16, bias);
    }
  }
}

}  // namespace

std::optional<std::vector<float>> affine_weights(const GroupedWeights& w) {
  if (w.scale_format != Format::bf16 && w.scale_format != Format::f16 && w.scale_format != Format::f32)
    return std::nullopt;
  if (w.in_features == 0 || w.in_features % 2 != 0 || w.scale_columns == 0 || w.in_features % w.scale_columns != 0)
    return std::nullopt;
  // Division instead of multiplication: no size can overflow.
  const std::size_t row_bytes = w.in_features / 2;
  if (w.codes.size() % row_bytes != 0 || w.codes.size() / row_bytes != w.out_features) return std::nullopt;
  const std::size_t scale_row = w.scale_columns * bytes_of(w.scale_format);
  if (w.scales.size() % scale_row != 0 || w.scales.size() / scale_row != w.out_features) return std::nullopt;
  if (w.biases.size() != w.scales.size()) return std::nullopt;
  std::vector<float> out(w.codes.size() * 2);
  const DefaultEnvironment environment;
  decode(w, out);
  return out;
}

}  // namespace packcheck::oracle
