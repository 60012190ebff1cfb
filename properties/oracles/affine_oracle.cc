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

/// The product is exact in double (24 + 8 bits). The sum of two f32 numbers has more than 2·24 + 2 bits in
/// double, so the second rounding changes nothing; a sum that is subnormal in f32 is exact.
float weight(double scale, int code, double bias) { return static_cast<float>(as_f32(scale * code) + bias); }

/// Bit by bit.
int code_from(std::span<const std::uint8_t> bytes, std::size_t bit, int bits) {
  static constexpr int kPowers[] = {1, 2, 4, 8, 16, 32, 64, 128};
  int code = 0;
  for (int place = 0; place < bits; ++place, ++bit) code += bytes[bit / 8] / kPowers[bit % 8] % 2 * kPowers[place];
  return code;
}

/// How many parts of `part` numbers begin in `whole`.
std::size_t parts(std::size_t whole, std::size_t part) { return (whole - 1) / part + 1; }

/// Block after block: its scale once, then every weight that it covers.
[[gnu::noinline]] void decode(const GroupedWeights& w, std::vector<float>& out) {
  const std::size_t high = w.block_rows;
  const std::size_t wide = w.block_columns == 0 ? w.in_features / w.scale_columns : w.block_columns;
  const std::size_t row_bits = w.in_features * static_cast<std::size_t>(w.bits);
  for (std::size_t g = 0; g < parts(w.out_features, high) * w.scale_columns; ++g) {
    const double scale = number_at(w.scale_format, w.scales, g);
    const double bias = number_at(w.scale_format, w.biases, g);
    const std::size_t top = g / w.scale_columns * high;
    const std::size_t left = g % w.scale_columns * wide;
    for (std::size_t o = top; o < top + high && o < w.out_features; ++o)
      for (std::size_t i = left; i < left + wide && i < w.in_features; ++i)
        out[o * w.in_features + i] =
            weight(scale, code_from(w.codes, o * row_bits + i * static_cast<std::size_t>(w.bits), w.bits), bias);
  }
}

}  // namespace

std::optional<std::vector<float>> affine_weights(const GroupedWeights& w) {
  if (w.scale_format != Format::bf16 && w.scale_format != Format::f16 && w.scale_format != Format::f32)
    return std::nullopt;
  if (w.in_features == 0 || w.out_features == 0 || w.scale_columns == 0 || w.block_rows == 0) return std::nullopt;
  if (w.block_columns == 0 ? w.in_features % w.scale_columns != 0
                           : parts(w.in_features, w.block_columns) != w.scale_columns)
    return std::nullopt;
  if (w.bits < 2 || w.bits > 8 || w.bits == 7) return std::nullopt;
  // Eight codes are whole bytes; a row of fewer left over must be, too. Nothing overflows: the codes are there.
  if (w.in_features / 8 > w.codes.size() || w.in_features * static_cast<std::size_t>(w.bits) % 8 != 0)
    return std::nullopt;
  const std::size_t row_bytes = w.in_features * static_cast<std::size_t>(w.bits) / 8;
  if (w.codes.size() % row_bytes != 0 || w.codes.size() / row_bytes != w.out_features) return std::nullopt;
  const std::size_t scale_row = w.scale_columns * bytes_of(w.scale_format);
  if (w.scales.size() % scale_row != 0 || w.scales.size() / scale_row != parts(w.out_features, w.block_rows))
    return std::nullopt;
  if (w.biases.size() != w.scales.size()) return std::nullopt;
  std::vector<float> out(w.out_features * w.in_features);
  const DefaultEnvironment environment;
  decode(w, out);
  return out;
}

}  // namespace packcheck::oracle
