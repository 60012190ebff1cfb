#include "core/affine/affine.h"

#include <bit>
#include <string>

#include "core/affine/groups.h"
#include "core/encoding/bit_stream.h"
#include "core/environment.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

/// a · b, or nothing when it does not fit.
bool multiply(std::size_t a, std::size_t b, std::size_t& product) { return !__builtin_mul_overflow(a, b, &product); }

Result<void> check_size(std::string_view what, std::size_t is, std::size_t rows, std::size_t columns,
                        std::size_t element_bytes) {
  std::size_t right = 0;
  if (!multiply(rows, columns, right) || !multiply(right, element_bytes, right))
    return refuse("shape overflows", "affine " + std::string(what), "a size that fits in memory");
  if (is != right)
    return refuse(std::to_string(is) + " bytes", "affine " + std::string(what),
                  std::to_string(right) + " from the shapes");
  return {};
}

Result<void> validate(const AffineWeights& w, std::size_t out_size) {
  if (w.scale_columns == 0 || w.in_features % w.scale_columns != 0)
    return refuse(std::to_string(w.scale_columns) + " scale columns", "affine scales",
                  "a divisor of in_features = " + std::to_string(w.in_features));
  if (!is_affine_width(w.bits))
    return refuse("codes of " + std::to_string(w.bits) + " bits", "affine codes", "2, 3, 4, 5, 6 or 8");
  std::size_t row_bits = 0;
  if (!multiply(w.in_features, w.bits, row_bits) || row_bits == 0 || row_bits % 8 != 0)
    return refuse("in_features is " + std::to_string(w.in_features), "affine codes",
                  "rows of whole bytes, with codes of " + std::to_string(w.bits) + " bits");
  if (w.scale_format != Format::bf16 && w.scale_format != Format::f16 && w.scale_format != Format::f32)
    return refuse("scale format is " + std::string(spec(w.scale_format).name), "affine scales", "bf16, f16 or f32");
  const std::size_t element = spec(w.scale_format).bytes();
  if (auto ok = check_size("codes", w.codes.size(), w.out_features, row_bits / 8, 1); !ok) return ok;
  if (auto ok = check_size("scales", w.scales.size(), w.out_features, w.scale_columns, element); !ok) return ok;
  if (auto ok = check_size("biases", w.biases.size(), w.out_features, w.scale_columns, element); !ok) return ok;
  return check_size("output", out_size * sizeof(float), w.out_features, w.in_features, sizeof(float));
}

Result<float> read_scale(const AffineWeights& w, std::span<const std::uint8_t> bytes, std::size_t index,
                         ScaleReading reading) {
  const Format format = reading == ScaleReading::bytes_as_f32 ? Format::f32 : w.scale_format;
  const FormatSpec& s = spec(format);
  if (index >= bytes.size() / s.bytes())
    return refuse("scale index " + std::to_string(index), "affine scales",
                  "an index below " + std::to_string(bytes.size() / s.bytes()));
  const std::uint64_t bits = convert(format, Format::f32, load_element(s, bytes, index));
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

std::size_t group_size(const AffineWeights& w, GroupReading reading) {
  switch (reading) {
    case GroupReading::features_per_column: break;
    case GroupReading::scale_columns: return w.scale_columns;
    case GroupReading::not_passed: return 64;
  }
  return w.in_features / w.scale_columns;
}

[[gnu::noinline]] float combine(const float& scale, unsigned code, const float& bias) {
  const float product = scale * static_cast<float>(code);
  return product + bias;
}

}  // namespace

Result<void> affine_dequantize(const AffineWeights& w, std::span<float> out, const AffineRules& rules) {
  if (auto ok = validate(w, out.size()); !ok) return ok;
  const ExactEnvironment exact;
  const std::size_t group = group_size(w, rules.group);
  const std::size_t stride = w.in_features / group;  // scales per row, as a kernel derives it
  const std::size_t row_bytes = w.in_features * w.bits / 8;
  const unsigned width = rules.width == CodeWidth::own ? w.bits : 4U;
  for (std::size_t o = 0; o < w.out_features; ++o) {
    for (std::size_t i = 0; i < w.in_features; ++i) {
      const std::size_t at = o * stride + i / group;
      const Result<float> scale = read_scale(w, w.scales, at, rules.scales);
      if (!scale) return tl::unexpected(scale.error());
      const Result<float> bias = read_scale(w, w.biases, at, rules.scales);
      if (!bias) return tl::unexpected(bias.error());
      const unsigned code = code_at(w.codes.subspan(o * row_bytes, row_bytes), i * width, width);
      out[o * w.in_features + i] = combine(*scale, code, *bias);
    }
  }
  return {};
}

}  // namespace packcheck
