// The rows of MLX's encodings. Affine groups are made from a table: every width and group with f16 scales,
// group 64 with f32 and bf16 too, each with the CPU's and the GPU's rules. The microscaling modes
// (mxfp4, mxfp8, nvfp4) are those of the CPU; a GPU rounds ties to even and keeps the sign of what becomes 0.
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "core/encoding/microscaling.h"
#include "core/encoding/mlx_affine.h"
#include "core/encoding/rows.h"

namespace packcheck {
namespace {

constexpr std::array<unsigned, 6> kWidths{2, 3, 4, 5, 6, 8};
constexpr std::array<unsigned, 3> kGroups{32, 64, 128};

struct Dialect {
  std::string_view name;
  AffineRule rule;
  Format storage;
  ScaleFormat field;
  bool every_group;  ///< else 64 only
};
constexpr std::array<Dialect, 6> kDialects{{
    {"cpu-f16", AffineRule::cpu, Format::f16, ScaleFormat::f16, true},
    {"gpu-f16", AffineRule::gpu, Format::f16, ScaleFormat::f16, true},
    {"cpu-bf16", AffineRule::cpu, Format::bf16, ScaleFormat::bf16, false},
    {"gpu-bf16", AffineRule::gpu, Format::bf16, ScaleFormat::bf16, false},
    {"cpu-f32", AffineRule::cpu, Format::f32, ScaleFormat::f32, false},
    {"gpu-f32", AffineRule::gpu, Format::f32, ScaleFormat::f32, false},
}};

constexpr BlockRules kMx4{.code = CodeRounding::half_even, .exponent = ScaleExponent::nearest};
constexpr BlockRules kMx8{
    .code = CodeRounding::half_even, .exponent = ScaleExponent::nearest, .element = {Format::e4m3fn}};
constexpr std::array<ScaleField, 1> kMx4Scale{{{ScaleFormat::e8m0, 16, 1}}};
constexpr std::array<ScaleField, 1> kMx8Scale{{{ScaleFormat::e8m0, 32, 1}}};
constexpr std::array<ScaleField, 1> kNvScale{{{ScaleFormat::e4m3fn, 8, 1}}};

// clang-format off
constexpr std::array<Encoding, 3> kMicroscaling{{
    {"mxfp4", "mlx", 32, 17, true, kMx4, mlx_mx_quantize_block, mlx_mx_dequantize_block, kMx4Scale,
     mlx_mx_bound_block, Blocking::row, Planes{16, 1}},
    {"mxfp8", "mlx", 32, 33, true, kMx8, mlx_mx_quantize_block, mlx_mx_dequantize_block, kMx8Scale,
     mlx_mx_bound_block, Blocking::row, Planes{32, 1}},
    {"nvfp4", "mlx", 16, 9, true, kMx4, mlx_nvfp4_quantize_block, mlx_nvfp4_dequantize_block, kNvScale,
     mlx_nvfp4_bound_block, Blocking::row, Planes{8, 1}},
}};
// clang-format on

/// What the affine rows point to.
struct Kept {
  std::string name;
  std::array<ScaleField, 2> scales;
};

struct Rows {
  std::deque<Kept> kept;
  std::vector<Encoding> rows;

  Rows() {
    for (const unsigned bits : kWidths)
      for (const unsigned group : kGroups)
        for (const Dialect& dialect : kDialects)
          if (dialect.every_group || group == 64) add_affine(bits, group, dialect);
    rows.insert(rows.end(), kMicroscaling.begin(), kMicroscaling.end());
  }

  void add_affine(unsigned bits, unsigned group, const Dialect& dialect) {
    const std::size_t codes = static_cast<std::size_t>(bits) * group / 8;
    const std::size_t number = spec(dialect.storage).bytes();
    std::string name = "mlx_affine(";
    name.append(std::to_string(bits)).append(",").append(std::to_string(group)).append(")");
    kept.push_back({std::move(name), {{{dialect.field, codes, number}, {dialect.field, codes + number, number}}}});
    const BlockRules rules{.code = dialect.rule == AffineRule::cpu ? CodeRounding::half_even : CodeRounding::half_away,
                           .affine_rule = dialect.rule,
                           .affine = {bits, group, dialect.storage}};
    rows.push_back({kept.back().name, dialect.name, group, codes + 2 * number, true, rules, mlx_affine_quantize_block,
                    mlx_affine_dequantize_block, kept.back().scales, mlx_affine_bound_block, Blocking::row,
                    Planes{codes, number, number}});
  }
};

}  // namespace

std::span<const Encoding> mlx_rows() {
  static const Rows all;
  return all.rows;
}

}  // namespace packcheck
