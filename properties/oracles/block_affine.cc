// The block oracle's affine groups of MLX: every width, group, device and format of scale and bias.
//
// f32 operations as block_families.h has them. A number is rounded to bf16 by value (the spacing of its
// neighbours, in double), to f16 by half_value.h. Undefined, and so not specified: on a GPU the whole block when
// it holds a NaN (the order in which lanes are compared decides); everywhere a code that is NaN or, on a GPU,
// negative when it is cast, with the codes above it in its pack (32 bits; 3 bytes for 3 and 6 bits, 5 for
// 5), since a pack is made by OR without a mask; the sign and payload of a NaN scale.
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

enum class Storage { f16, bf16, f32 };
constexpr std::size_t kBytes[] = {2, 2, 4};
constexpr unsigned kExponentBits[] = {5, 8, 8};

/// The bfloat nearest to `value`, ties to even. `value` is not NaN.
double nearest_bf16(double value) {
  if (value == 0.0 || std::isinf(value)) return value;
  const int exponent = std::ilogb(value) < -126 ? -126 : std::ilogb(value);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, 7 - exponent)), exponent - 7);
  return std::fabs(rounded) < std::ldexp(1.0, 128) ? rounded
                                                   : std::copysign(std::numeric_limits<double>::infinity(), value);
}

double rounded_to(Storage storage, double value) {
  if (std::isnan(value)) return value;
  if (storage == Storage::f16) return half_value(nearest_half(value));
  return storage == Storage::bf16 ? nearest_bf16(value) : as_f32(value);
}

/// The bits of a number that f32 has, high to low by value; bfloat's are the upper half.
std::uint32_t single_bits(double value) {
  const std::uint32_t sign = std::signbit(value) ? 1U << 31 : 0U;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign + (255U << 23);
  if (magnitude < 0x1p-126) return sign + static_cast<std::uint32_t>(std::ldexp(magnitude, 149));
  const int exponent = std::ilogb(magnitude);
  return sign + static_cast<std::uint32_t>(std::ldexp(magnitude, 23 - exponent)) +
         (static_cast<std::uint32_t>(exponent + 126) << 23);
}

double value_of_single(std::uint32_t bits) {
  const int field = static_cast<int>(bits >> 23 & 255);
  const double fraction = bits % (1U << 23);
  double magnitude = field == 0 ? std::ldexp(fraction, -149) : std::ldexp(fraction + 0x1p23, field - 150);
  if (field == 255)
    magnitude = fraction > 0.0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  return bits >> 31 != 0 ? -magnitude : magnitude;
}

/// Of a NaN only that it is a quiet one.
void write_number(BlockWriter& block, std::size_t offset, Storage storage, double value) {
  const std::size_t bytes = kBytes[static_cast<std::size_t>(storage)];
  const bool nan = std::isnan(value);
  std::uint32_t code = 0;
  std::uint32_t mask = ~0U;
  if (nan) {
    const std::uint32_t exponent_and_quiet_bit = (2U << kExponentBits[static_cast<std::size_t>(storage)]) - 1;
    mask = code = exponent_and_quiet_bit << (8 * bytes - 2 - kExponentBits[static_cast<std::size_t>(storage)]);
  } else if (storage == Storage::f16) {
    code = nearest_half(value);
  } else {
    code = single_bits(rounded_to(storage, value)) >> (storage == Storage::bf16 ? 16 : 0);
  }
  for (std::size_t i = 0; i < bytes; ++i) block.set(offset + i, code >> 8 * i & 255, mask >> 8 * i & 255);
}

double read_number(Block block, std::size_t offset, Storage storage) {
  if (storage == Storage::f16) return half_at(block, offset);
  std::uint32_t bits = 0;
  for (std::size_t i = kBytes[static_cast<std::size_t>(storage)]; i-- > 0;) bits = bits * 256 + block[offset + i];
  return value_of_single(storage == Storage::bf16 ? bits * 65536 : bits);
}

/// rint or round, of a number that f32 has.
double whole(bool gpu, double x) {
  if (!gpu) return std::nearbyint(x);
  return std::copysign(std::floor(std::fabs(x) + 0.5), x);  // exact: x has 24 bits, or is whole already
}

struct Group {
  double scale;
  double bias;
};

Group group_of(std::span<const float> x, bool gpu, double largest_code) {
  double least = std::numeric_limits<double>::infinity();
  double greatest = gpu ? 0.0 : -least;
  for (const float v : x) {
    if (std::isnan(v)) continue;
    // The first of equal numbers stays: zeros of either sign.
    greatest = static_cast<double>(v) > greatest ? static_cast<double>(v) : greatest;
    least = static_cast<double>(v) < least ? static_cast<double>(v) : least;
  }
  double scale = divided(plus(greatest, -least), largest_code);
  if (scale < as_f32(1e-7)) scale = as_f32(1e-7);
  const double edge = std::fabs(least) > std::fabs(greatest) ? least : greatest;
  if (!(std::fabs(least) > std::fabs(greatest))) scale = -scale;
  const double steps = whole(gpu, divided(edge, scale));
  return steps == 0.0 ? Group{scale, 0.0} : Group{divided(edge, steps), edge};
}

unsigned pack_bits(unsigned bits) { return bits == 3 || bits == 6 ? 24 : (bits == 5 ? 40 : 32); }

void quantize_affine(std::span<const float> x, BlockWriter block, unsigned bits, bool gpu, Storage storage) {
  if (gpu)
    for (const float v : x)
      if (std::isnan(v)) return;
  const double largest = std::ldexp(1.0, static_cast<int>(bits)) - 1.0;
  const Group group = group_of(x, gpu, largest);
  std::size_t open_before = 0;  // bits of the stream before this one are specified, or open already
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = whole(gpu, divided(plus(static_cast<double>(x[i]), -group.bias), group.scale));
    const std::size_t first = i * bits;
    if (first < open_before) continue;
    if (std::isnan(p) || (gpu && p < 0.0)) {
      open_before = (first / pack_bits(bits) + 1) * pack_bits(bits);
      continue;
    }
    auto code = static_cast<unsigned>(std::fmin(largest, std::fmax(0.0, p)));
    for (std::size_t bit = first; bit < first + bits; ++bit, code /= 2)
      block.set(bit / 8, code % 2 << bit % 8, 1U << bit % 8);
  }
  const std::size_t codes = x.size() * bits / 8;
  write_number(block, codes, storage, group.scale);
  write_number(block, codes + kBytes[static_cast<std::size_t>(storage)], storage, group.bias);
}

/// code·scale + bias, rounded once: where one term is far below the other, any number that small will do.
double fused(Storage storage, double code, double scale, double bias) {
  if (storage == Storage::f32)
    return static_cast<double>(std::fma(static_cast<float>(code), static_cast<float>(scale), static_cast<float>(bias)));
  double product = code * scale;
  double other = bias;
  const auto bring_near = [](double& small, double big) {
    if (small != 0.0 && std::isfinite(big) && std::fabs(small) < std::fabs(big) * 0x1p-30)
      small = std::copysign(big * 0x1p-30, small);
  };
  bring_near(product, other);
  bring_near(other, product);
  return rounded_to(storage, product + other);
}

void dequantize_affine(Block block, double* values, unsigned bits, bool gpu, Storage storage) {
  const std::size_t codes = block.size() - 2 * kBytes[static_cast<std::size_t>(storage)];
  const double scale = read_number(block, codes, storage);
  const double bias = read_number(block, codes + kBytes[static_cast<std::size_t>(storage)], storage);
  for (std::size_t i = 0; i < codes * 8 / bits; ++i) {
    double code = 0.0;
    for (std::size_t bit = (i + 1) * bits; bit-- > i * bits;) code = 2.0 * code + (block[bit / 8] >> bit % 8 & 1);
    values[i] = gpu ? fused(storage, code, scale, bias)
                    : rounded_to(storage, plus(rounded_to(storage, times(code, scale)), bias));
  }
}

template <unsigned Bits, bool Gpu, Storage Kind>
void quantize(std::span<const float> x, BlockWriter block) {
  quantize_affine(x, block, Bits, Gpu, Kind);
}
template <unsigned Bits, bool Gpu, Storage Kind>
void dequantize(Block block, double* values) {
  dequantize_affine(block, values, Bits, Gpu, Kind);
}

struct Families {
  std::deque<std::string> ids;
  std::vector<BlockFamily> rows;

  template <unsigned Bits, bool Gpu, Storage Kind>
  void add(std::size_t group, std::string_view dialect) {
    std::string id = "mlx_affine(";
    id.append(std::to_string(Bits)).append(",").append(std::to_string(group)).append("):").append(dialect);
    ids.push_back(std::move(id));
    const std::size_t codes = group * Bits / 8;
    const std::size_t number = kBytes[static_cast<std::size_t>(Kind)];
    rows.push_back({ids.back(),
                    group,
                    codes + 2 * number,
                    quantize<Bits, Gpu, Kind>,
                    dequantize<Bits, Gpu, Kind>,
                    {codes, number, number}});
  }
  template <unsigned Bits>
  void add_width() {
    for (const std::size_t group : {32U, 64U, 128U}) {
      add<Bits, false, Storage::f16>(group, "cpu-f16");
      add<Bits, true, Storage::f16>(group, "gpu-f16");
    }
    add<Bits, false, Storage::bf16>(64, "cpu-bf16");
    add<Bits, true, Storage::bf16>(64, "gpu-bf16");
    add<Bits, false, Storage::f32>(64, "cpu-f32");
    add<Bits, true, Storage::f32>(64, "gpu-f32");
  }
  Families() {
    add_width<2>();
    add_width<3>();
    add_width<4>();
    add_width<5>();
    add_width<6>();
    add_width<8>();
  }
};

}  // namespace

std::span<const BlockFamily> affine_families() {
  static const Families all;
  return all.rows;
}

}  // namespace packcheck::oracle
