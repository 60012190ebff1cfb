// The rows of MLX's encodings. Affine groups are made from a table: every width and group with f16 scales,
// group 64 with f32 and bf16 too, each with the CPU's and the GPU's rules.
#include <array>
#include <deque>
#include <string>
#include <vector>

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

/// What the rows point to.
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
