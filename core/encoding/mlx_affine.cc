#include "core/encoding/mlx_affine.h"

#include <bit>
#include <cmath>
#include <limits>

#include "core/encoding/bit_stream.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

/// The least step between codes.
constexpr float kLeastStep = 1e-7F;

float whole(CodeRounding rounding, float x) {
  if (rounding == CodeRounding::half_even) return std::nearbyint(x);
  return rounding == CodeRounding::truncate ? std::trunc(x) : std::round(x);
}

std::size_t code_bytes(const AffineShape& shape) { return static_cast<std::size_t>(shape.group) * shape.bits / 8; }

/// `number` in the storage format. All NaNs become one, whatever the processor made.
std::uint64_t stored_bits(Format storage, float number) {
  const std::uint32_t bits = std::isnan(number) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(number);
  return convert(Format::f32, storage, bits);
}

void store_number(Format storage, float number, std::uint8_t* at) {
  store_element(spec(storage), {at, spec(storage).bytes()}, 0, stored_bits(storage, number));
}

float load_number(Format storage, const std::uint8_t* at) {
  const std::uint64_t bits = load_element(spec(storage), {at, spec(storage).bytes()}, 0);
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(storage, Format::f32, bits)));
}

unsigned code_of(const BlockRules& rules, const AffineGroup& group, float x) {
  const float code = whole(rules.code, (x - group.bias) / group.scale);
  const auto largest = static_cast<float>((1U << rules.affine.bits) - 1);
  if (!(code > 0.0F)) return 0;  // NaN too
  return static_cast<unsigned>(code < largest ? code : largest);
}

/// `sum` of which `lost` was rounded away, cut off towards zero and made odd: so it rounds once more to what
/// the exact sum rounds to, in a format of at most 51 bits (Boldo and Melquiond 2008).
double sum_to_odd(double sum, double lost) {
  if (lost == 0.0) return sum;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  return std::bit_cast<double>((std::signbit(sum) == std::signbit(lost) ? bits : bits - 1) | 1);
}

/// code·scale + bias, rounded once to the storage format.
float fused(Format storage, double product, double bias) {
  double sum = product + bias;
  if (std::isfinite(sum)) {
    const double part = sum - product;
    sum = sum_to_odd(sum, (product - (sum - part)) + (bias - part));
  }
  if (storage == Format::f32) return static_cast<float>(sum);
  const std::uint64_t stored = convert(Format::f64, storage, std::bit_cast<std::uint64_t>(sum));
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(storage, Format::f32, stored)));
}

}  // namespace

float stored_number(Format storage, float number) {
  const std::uint64_t bits = stored_bits(storage, number);
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(storage, Format::f32, bits)));
}

[[gnu::noinline]] AffineGroup affine_group_of(const BlockRules& rules, std::span<const float> values) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float least = kInfinity;
  float greatest = rules.affine_rule == AffineRule::gpu ? 0.0F : -kInfinity;
  for (const float x : values) {  // NaN never wins a comparison
    if (greatest < x) greatest = x;
    if (x < least) least = x;
  }
  const float step = (greatest - least) / static_cast<float>((1U << rules.affine.bits) - 1);
  const float magnitude = step < kLeastStep ? kLeastStep : step;
  const bool below = std::fabs(least) > std::fabs(greatest);
  const float scale = below ? magnitude : -magnitude;
  const float edge = below ? least : greatest;
  const float steps = whole(rules.code == CodeRounding::truncate ? CodeRounding::half_even : rules.code, edge / scale);
  if (steps == 0.0F && rules.edge == AffineEdge::guarded) return {scale, 0.0F};
  return {edge / steps, edge};
}

[[gnu::noinline]] void mlx_affine_quantize_block(const BlockRules& rules, const float* values, std::uint8_t* block) {
  const AffineShape& shape = rules.affine;
  const AffineGroup group = affine_group_of(rules, {values, shape.group});
  const std::span<std::uint8_t> codes(block, code_bytes(shape));
  const std::uint8_t last = codes.back();
  for (std::uint8_t& byte : codes) byte = 0;
  for (std::size_t i = 0; i < shape.group; ++i)
    put_code(codes, bit_of_element(rules.packing, shape.bits, i), code_of(rules, group, values[i]));
  if (rules.write == WriteRule::forgets_last_byte) codes.back() = last;
  store_number(shape.storage, group.scale, block + codes.size());
  store_number(shape.storage, group.bias, block + codes.size() + spec(shape.storage).bytes());
}

[[gnu::noinline]] bool mlx_affine_dequantize_block(const BlockRules& rules, const std::uint8_t* block, float* values) {
  const AffineShape& shape = rules.affine;
  const std::span<const std::uint8_t> codes(block, code_bytes(shape));
  const float scale = load_number(shape.storage, block + codes.size());
  const float bias = load_number(shape.storage, block + codes.size() + spec(shape.storage).bytes());
  for (std::size_t i = 0; i < shape.group; ++i) {
    const unsigned code = code_at(codes, bit_of_element(rules.packing, shape.bits, i), shape.bits);
    const auto whole_code = static_cast<float>(code);
    if (rules.affine_rule == AffineRule::gpu)
      values[i] =
          fused(shape.storage, static_cast<double>(scale) * static_cast<double>(whole_code), static_cast<double>(bias));
    else  // f32 has the digits to round a product and a sum of two halves or bfloats once more
      values[i] = stored_number(shape.storage, stored_number(shape.storage, scale * whole_code) + bias);
  }
  return true;
}

}  // namespace packcheck
