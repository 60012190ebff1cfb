#include "core/format/dialect.h"

#include <array>
#include <string>

namespace packcheck {
namespace {

constexpr ConvertRules kSameBits{.nan = NanRule::same_payload};
constexpr ConvertRules kKotlinToInt{.rounding = Rounding::toward_zero};

// TensorOps.convert of the CPU backend: Fp16Codec rounds, Bf16Codec drops the low 16 bits, Kotlin's toInt
// truncates and saturates. A tensor that has the dtype already is returned as it is. Of FP32 to Int8 only
// "truncates" is known; IntegerRule::wrap is the other reading.
constexpr std::array<DialectRow, 13> kSkainet{{
    {Format::f32, Format::f32, kSameBits},
    {Format::f16, Format::f16, kSameBits},
    {Format::bf16, Format::bf16, kSameBits},
    {Format::i32, Format::i32, {}},
    {Format::i8, Format::i8, {}},
    {Format::f32, Format::f16, {}},
    {Format::f32, Format::bf16, {.rounding = Rounding::toward_zero, .nan = NanRule::truncated}},
    {Format::f32, Format::i32, kKotlinToInt},
    {Format::f32, Format::i8, kKotlinToInt},
    {Format::f16, Format::f32, {}},
    {Format::bf16, Format::f32, kSameBits},
    {Format::i32, Format::f32, {}},
    {Format::i8, Format::f32, {}},
}};

constexpr std::array<DialectRow, 1> kSkainetQ4{{{Format::f32, Format::f16, kSkainetPrivateHalf}}};

// The readers of a block's scale: the exponent byte is shifted into place, so that 0xFF becomes infinity;
// ue4m3's NaN code counts as 0.
constexpr std::array<DialectRow, 2> kGgml{
    {{Format::e8m0, Format::f32, {.nan = NanRule::infinity}}, {Format::ue4m3, Format::f32, {.nan = NanRule::zero}}}};

constexpr std::array<DialectRow, 1> kMlx{{{Format::e8m0, Format::f32, {.nan = NanRule::infinity}}}};

// What (int) and (signed char) of a float or double compile to on x86: cvttss2si or cvttsd2si, then the low bits.
constexpr ConvertRules kCast{.rounding = Rounding::toward_zero, .integer = IntegerRule::indefinite};
constexpr std::array<DialectRow, 4> kX86{{{Format::f32, Format::i32, kCast},
                                          {Format::f64, Format::i32, kCast},
                                          {Format::f32, Format::i8, kCast},
                                          {Format::f64, Format::i8, kCast}}};

constexpr std::array<ConvertDialect, 5> kDialects{{
    {"skainet", "SKaiNET's TensorOps.convert", kSkainet},
    {"skainet-q4_0", "the half that SKaiNET's Q4_0 quantizer writes", kSkainetQ4},
    {"ggml", "ggml's readers of block scales", kGgml},
    {"mlx", "MLX's reader of exponent scales", kMlx},
    {"x86-cast", "C casts to integers on x86-64", kX86},
}};

std::string pair_name(Format from, Format to) {
  return std::string(spec(from).name).append("->").append(spec(to).name);
}

}  // namespace

std::span<const ConvertDialect> all_convert_dialects() { return kDialects; }

Result<ConvertRules> dialect_rules(std::string_view name, Format from, Format to) {
  std::string known;
  for (const ConvertDialect& dialect : kDialects) {
    known.append(known.empty() ? "one of " : ", ").append(dialect.name);
    if (dialect.name != name) continue;
    std::string pairs;
    for (const DialectRow& row : dialect.rows) {
      if (row.from == from && row.to == to) return row.rules;
      pairs.append(pairs.empty() ? "one of " : ", ").append(pair_name(row.from, row.to));
    }
    return refuse("no conversion " + pair_name(from, to), "dialect " + std::string(name), pairs);
  }
  return refuse("unknown dialect '" + std::string(name) + "'", "convert", known);
}

}  // namespace packcheck
