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

std::size_t divided_up(std::size_t a, std::size_t b) { return a / b + (a % b == 0 ? 0 : 1); }

std::size_t scale_rows(const AffineWeights& w) { return divided_up(w.out_features, w.block_rows); }

Result<void> validate_blocks(const AffineWeights& w) {
  if (w.block_rows == 0) return refuse("blocks of 0 rows", "affine blocks", "at least 1");
  if (w.block_columns == 0) return {};
  const std::size_t right = divided_up(w.in_features, w.block_columns);
  if (w.scale_columns != right)
    return refuse(std::to_string(w.scale_columns) + " scale columns", "affine blocks",
                  std::to_string(right) + " from in_features and the blocks");
  return {};
}

Result<void> validate(const AffineWeights& w, std::size_t out_size) {
  if (auto ok = validate_blocks(w); !ok) return ok;
  if (w.scale_columns == 0 || (w.block_columns == 0 && w.in_features % w.scale_columns != 0))
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
  if (auto ok = check_size("scales", w.scales.size(), scale_rows(w), w.scale_columns, element); !ok) return ok;
  if (auto ok = check_size("biases", w.biases.size(), scale_rows(w), w.scale_columns, element); !ok) return ok;
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

/// Which scale belongs to which weight.
struct Grid {
  std::size_t rows;     ///< of a block
  std::size_t columns;  ///< of a block: the group size
  std::size_t stride;   ///< scales in a row of them
  bool minus_one = false;

  [[nodiscard]] std::size_t at(std::size_t o, std::size_t i) const {
    if (minus_one) return o * stride + i / 64 * static_cast<std::size_t>(-64);
    return o / rows * stride + i / columns;
  }
};

Grid grid_of(const AffineWeights& w, const AffineRules& rules) {
  const std::size_t columns = w.block_columns == 0 ? w.in_features / w.scale_columns : w.block_columns;
  Grid grid{w.block_rows, columns, w.scale_columns};
  switch (rules.group) {
    case GroupReading::features_per_column: break;
    // Scales per row as a kernel derives them.
    case GroupReading::scale_columns: grid = {w.block_rows, w.scale_columns, w.in_features / w.scale_columns}; break;
    case GroupReading::not_passed: grid = {w.block_rows, 64, w.in_features / 64}; break;
    case GroupReading::minus_one: grid.minus_one = w.scale_columns == 1 && w.block_columns == 0; break;
  }
  switch (rules.block) {
    case BlockReading::declared: break;
    case BlockReading::scale_shape:
      if (w.block_columns != 0) grid = {scale_rows(w), w.scale_columns, w.scale_columns};
      break;
    case BlockReading::rows_per_scale: grid.rows = divided_up(w.out_features, scale_rows(w)); break;
  }
  return grid;
}

[[gnu::noinline]] float combine(const float& scale, const float& code, const float& bias) {
  const float product = scale * code;
  return product + bias;
}

/// The number of code `index` of the row that begins at byte `row` of the codes.
Result<float> read_code(const AffineWeights& w, std::size_t row, std::size_t index, CodeWidth reading) {
  if (reading == CodeWidth::logical_dtype) {
    const std::size_t at = row + index * sizeof(float);
    if (at + sizeof(float) > w.codes.size())
      return refuse("float32 at byte " + std::to_string(at), "affine codes", std::to_string(w.codes.size()) + " bytes");
    return std::bit_cast<float>(load_little_endian<std::uint32_t>(&w.codes[at]));
  }
  const unsigned width = reading == CodeWidth::own ? w.bits : 4U;
  const std::size_t row_bytes = w.in_features * w.bits / 8;
  return static_cast<float>(code_at(w.codes.subspan(row, row_bytes), index * width, width));
}

}  // namespace

Result<void> affine_dequantize(const AffineWeights& w, std::span<float> out, const AffineRules& rules) {
  if (auto ok = validate(w, out.size()); !ok) return ok;
  const ExactEnvironment exact;
  const Grid grid = grid_of(w, rules);
  const std::size_t row_bytes = w.in_features * w.bits / 8;
  for (std::size_t o = 0; o < w.out_features; ++o) {
    const std::size_t row = rules.row == RowReading::own ? o * row_bytes : 0;
    for (std::size_t i = 0; i < w.in_features; ++i) {
      const std::size_t at = grid.at(o, i);
      const Result<float> scale = read_scale(w, w.scales, at, rules.scales);
      if (!scale) return tl::unexpected(scale.error());
      const Result<float> bias = read_scale(w, w.biases, at, rules.scales);
      if (!bias) return tl::unexpected(bias.error());
      const Result<float> code = read_code(w, row, i, rules.width);
      if (!code) return tl::unexpected(code.error());
      out[o * w.in_features + i] = rules.width == CodeWidth::logical_dtype ? *code : combine(*scale, *code, *bias);
    }
  }
  return {};
}

}  // namespace packcheck
