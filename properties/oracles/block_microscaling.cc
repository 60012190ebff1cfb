// The block oracle's microscaling formats: those of OCP, MLX's modes, and NVFP4 with a tensor scale.
//
// Elements are rounded by comparing with the list of all numbers of their format, which is made from the
// rule of the format, so no digit of a float is looked at. Sharing a scale is exact (powers of two) or an f32
// operation as block_families.h has them; a/6 and a/2688 that are subnormal in f32 are midpoints or at least 2^-12
// of a step away from one. Undefined, and so not specified, in MLX: the whole block when it holds a NaN or an infinity
// (the order in which the largest is searched), or its exponent is below -127 or so near a half that the last
// digit of a logarithm decides; the codes under a scale of 0 (0/0).
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

enum class Element { e4m3, e5m2, e3m2, e2m3, e2m1, int8 };

struct Shape {
  unsigned width;
  unsigned exponent_bits;
  unsigned fraction_bits;
  int bias;
  unsigned finite;  ///< magnitudes 0 … finite - 1 are numbers
  int emax;
};
constexpr std::array<Shape, 6> kShapes{{{8, 4, 3, 7, 0x7F, 8},
                                        {8, 5, 2, 15, 0x7C, 15},
                                        {6, 3, 2, 3, 32, 4},
                                        {6, 2, 3, 1, 32, 2},
                                        {4, 2, 1, 1, 8, 2},
                                        {8, 0, 0, 0, 128, 0}}};
const Shape& shape_of(Element element) { return kShapes[static_cast<std::size_t>(element)]; }

/// The magnitudes of an element in increasing order; the index is the code without its sign.
const std::vector<double>& magnitudes(Element element) {
  static const std::array<std::vector<double>, 6> all = [] {
    std::array<std::vector<double>, 6> lists;
    for (std::size_t e = 0; e < lists.size(); ++e) {
      const Shape& s = kShapes[e];
      const unsigned steps = 1U << s.fraction_bits;
      for (unsigned code = 0; code < s.finite; ++code) {
        const int field = static_cast<int>(code / steps);
        const double fraction = static_cast<double>(code % steps) / steps;
        const double number =
            field == 0 ? std::ldexp(fraction, 1 - s.bias) : std::ldexp(1.0 + fraction, field - s.bias);
        lists[e].push_back(s.exponent_bits == 0 ? code / 64.0 : number);
      }
    }
    return lists;
  }();
  return all[static_cast<std::size_t>(element)];
}

double value_of(Element element, unsigned code) {
  const Shape& s = shape_of(element);
  if (element == Element::int8) return signed_byte(code) / 64.0;
  const unsigned half = 1U << (s.width - 1);
  double magnitude = kNan;
  if (code % half < s.finite)
    magnitude = magnitudes(element)[code % half];
  else if (element == Element::e5m2 && code % half == s.finite)
    magnitude = kInfinity;
  return code >= half ? -magnitude : magnitude;
}

/// The code of the nearest number, the even code of two; the largest where none is near.
unsigned nearest(Element element, double x) {
  const std::vector<double>& list = magnitudes(element);
  const double magnitude = std::fabs(x);
  const auto above = std::lower_bound(list.begin(), list.end(), magnitude);
  auto index = static_cast<unsigned>(above - list.begin());
  if (above == list.end()) {
    index = shape_of(element).finite - 1;
  } else if (index > 0) {
    const double up = *above - magnitude;
    const double down = magnitude - list[index - 1];
    if (down < up || (down == up && index % 2 == 1)) --index;
  }
  if (element == Element::int8) return std::signbit(x) ? (256 - index) % 256 : index;
  return std::signbit(x) ? index + (1U << (shape_of(element).width - 1)) : index;
}

void set_code(BlockWriter& block, std::size_t first_byte, unsigned width, std::size_t i, unsigned code) {
  for (std::size_t bit = i * width; bit < (i + 1) * width; ++bit, code /= 2)
    block.set(first_byte + bit / 8, code % 2 << bit % 8, 1U << bit % 8);
}

unsigned get_code(Block block, std::size_t first_byte, unsigned width, std::size_t i) {
  unsigned code = 0;
  for (std::size_t bit = (i + 1) * width; bit-- > i * width;)
    code = 2 * code + (block[first_byte + bit / 8] >> bit % 8 & 1U);
  return code;
}

double largest_of(std::span<const float> x) {
  double largest = 0.0;
  for (const float v : x) largest = std::fmax(largest, std::fabs(static_cast<double>(v)));
  return largest;
}
bool all_finite(std::span<const float> x) {
  return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}

template <Element Kind>
void quantize_ocp(std::span<const float> x, BlockWriter block) {
  int exponent = -127;
  if (largest_of(x) > 0.0 && all_finite(x)) {
    int above = 0;
    (void)std::frexp(largest_of(x), &above);  // A < 2^above
    exponent = std::max(-127, above - 1 - shape_of(Kind).emax);
  }
  block.set(0, all_finite(x) ? static_cast<unsigned>(exponent + 127) : 255);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double scaled = static_cast<double>(x[i]) / std::ldexp(1.0, exponent);
    set_code(block, 1, shape_of(Kind).width, i, all_finite(x) ? nearest(Kind, scaled) : 0);
  }
}

template <Element Kind>
void dequantize_ocp(Block block, double* values) {
  const double scale = block[0] == 255 ? kNan : std::ldexp(1.0, block[0] - 127);
  for (std::size_t i = 0; i < 32; ++i) values[i] = value_of(Kind, get_code(block, 1, shape_of(Kind).width, i)) * scale;
}

/// The first of the nearest 4-bit floats, in f32 and in the order of the codes.
unsigned first_nearest(double x) {
  unsigned best = 0;
  for (unsigned code = 1; code < 16; ++code) {
    const auto error = [x](unsigned c) { return std::fabs(plus(x, -value_of(Element::e2m1, c))); };
    if (error(code) < error(best)) best = code;
  }
  return best;
}

/// The exponent of an MLX block; nothing where it is undefined.
std::optional<int> mlx_exponent(std::span<const float> x, double limit) {
  if (!all_finite(x)) return std::nullopt;
  const double quotient = divided(largest_of(x), limit);
  if (quotient == 0.0) return 0;
  const auto logarithm = static_cast<double>(std::log2(static_cast<long double>(quotient)));
  if (std::fabs(logarithm - std::floor(logarithm) - 0.5) < 0x1p-14) return std::nullopt;
  const int exponent = static_cast<int>(std::floor(logarithm + 0.5));
  if (exponent < -127) return std::nullopt;
  return exponent;
}

template <Element Kind>
void quantize_mlx(std::span<const float> x, BlockWriter block) {
  constexpr bool kFour = Kind == Element::e2m1;
  const std::optional<int> exponent = mlx_exponent(x, kFour ? 6.0 : 448.0);
  if (!exponent) return;
  block.set(kFour ? 16 : 32, static_cast<unsigned>(*exponent + 127));
  for (std::size_t i = 0; i < 32; ++i) {
    const double scaled = as_f32(static_cast<double>(x[i]) / std::ldexp(1.0, *exponent));
    set_code(block, 0, shape_of(Kind).width, i, kFour ? first_nearest(scaled) : nearest(Kind, scaled));
  }
}

template <Element Kind>
void dequantize_mlx(Block block, double* values) {
  const unsigned byte = block[block.size() - 1];
  const double scale = byte == 255 ? kInfinity : std::ldexp(1.0, static_cast<int>(byte) - 127);
  for (std::size_t i = 0; i < 32; ++i) values[i] = value_of(Kind, get_code(block, 0, shape_of(Kind).width, i)) * scale;
}

void quantize_mlx_nvfp4(std::span<const float> x, BlockWriter block) {
  if (!all_finite(x)) return;
  const unsigned scale = nearest(Element::e4m3, divided(largest_of(x), 6.0));
  block.set(8, scale);
  if (scale == 0) return;
  for (std::size_t i = 0; i < 16; ++i)
    set_code(block, 0, 4, i, first_nearest(divided(static_cast<double>(x[i]), value_of(Element::e4m3, scale))));
}

void dequantize_mlx_nvfp4(Block block, double* values) {
  for (std::size_t i = 0; i < 16; ++i)
    values[i] = value_of(Element::e2m1, get_code(block, 0, 4, i)) * value_of(Element::e4m3, block[8]);
}

/// The bytes of a single that is 0 or more and finite.
void set_single(BlockWriter& block, double value) {
  int field = 0;
  double fraction = std::ldexp(value, 149);
  if (value >= 0x1p-126) {
    field = std::ilogb(value) + 127;
    fraction = std::ldexp(value, 150 - field) - 0x1p23;
  }
  unsigned code = static_cast<unsigned>(fraction) + static_cast<unsigned>(field) * (1U << 23);
  for (std::size_t i = 0; i < 4; ++i, code /= 256) block.set(i, code % 256);
}

double single_of(Block block) {
  const int field = block[3] % 128 * 2 + block[2] / 128;
  const double fraction = block[2] % 128 * 65536 + block[1] * 256 + block[0];
  double magnitude = field == 0 ? std::ldexp(fraction, -149) : std::ldexp(fraction + 0x1p23, field - 150);
  if (field == 255) magnitude = fraction > 0.0 ? kNan : kInfinity;
  return block[3] > 127 ? -magnitude : magnitude;
}

void quantize_tensor(std::span<const float> x, BlockWriter block) {
  if (!all_finite(x)) {
    for (std::size_t i = 0; i < 148; ++i) block.set(i, i == 2 ? 0xC0 : i == 3 ? 0x7F : 0);
    return;
  }
  const double tensor = divided(largest_of(x), 2688.0);
  set_single(block, tensor);
  for (std::size_t b = 0; b < 16; ++b) {
    const std::span<const float> numbers = x.subspan(16 * b, 16);
    const unsigned scale =
        tensor == 0.0 ? 0 : nearest(Element::e4m3, divided(divided(largest_of(numbers), 6.0), tensor));
    block.set(4 + b, scale);
    const double product = times(value_of(Element::e4m3, scale), tensor);
    for (std::size_t i = 0; i < 16; ++i)
      set_code(block, 20 + 8 * b, 4, i,
               product == 0.0 ? 0 : nearest(Element::e2m1, divided(static_cast<double>(numbers[i]), product)));
  }
}

void dequantize_tensor(Block block, double* values) {
  for (std::size_t i = 0; i < 256; ++i)
    values[i] = times(value_of(Element::e2m1, get_code(block, 20, 4, i)),
                      times(value_of(Element::e4m3, block[4 + i / 16]), single_of(block)));
}

template <Element Kind>
constexpr BlockFamily ocp(std::string_view id) {
  return {id, 32, 1 + 4 * kShapes[static_cast<std::size_t>(Kind)].width, quantize_ocp<Kind>, dequantize_ocp<Kind>};
}

constexpr std::array<BlockFamily, 10> kFamilies{
    {ocp<Element::e4m3>("mxfp8_e4m3:ocp"),
     ocp<Element::e5m2>("mxfp8_e5m2:ocp"),
     ocp<Element::e3m2>("mxfp6_e3m2:ocp"),
     ocp<Element::e2m3>("mxfp6_e2m3:ocp"),
     ocp<Element::e2m1>("mxfp4:ocp"),
     ocp<Element::int8>("mxint8:ocp"),
     {"mxfp4:mlx", 32, 17, quantize_mlx<Element::e2m1>, dequantize_mlx<Element::e2m1>, {16, 1}},
     {"mxfp8:mlx", 32, 33, quantize_mlx<Element::e4m3>, dequantize_mlx<Element::e4m3>, {32, 1}},
     {"nvfp4:mlx", 16, 9, quantize_mlx_nvfp4, dequantize_mlx_nvfp4, {8, 1}},
     {"nvfp4_tensor(256):nvidia", 256, 148, quantize_tensor, dequantize_tensor}}};

}  // namespace

std::span<const BlockFamily> microscaling_families() { return kFamilies; }

}  // namespace packcheck::oracle
