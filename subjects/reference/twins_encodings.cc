// Faulty twins of block encodings.
#include <algorithm>

#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

std::string_view family_of(const Encoding& e) { return e.name.substr(0, e.name.find('(')); }

// Which encodings have the rule that a twin changes; a twin offers no other.
bool is_any(const Encoding&) { return true; }
bool is_of_ggml_or_skainet(const Encoding& e) { return e.dialect == "ggml" || e.dialect == "skainet"; }
bool is_of_ggml(const Encoding& e) { return e.dialect == "ggml"; }
bool is_of_ocp(const Encoding& e) { return e.dialect == "ocp"; }
bool has_nibbles(const Encoding& e) {
  return is_of_ggml_or_skainet(e) && (e.name == "q4_0" || e.name == "q4_1" || e.name == "q5_0" || e.name == "q5_1");
}
bool has_planes(const Encoding& e) { return e.planes[0] != 0; }
template <const char* Family>
bool is_family(const Encoding& e) {
  return family_of(e) == Family;
}
constexpr char kQ80[] = "q8_0";
constexpr char kTq10[] = "tq1_0";
constexpr char kTq20[] = "tq2_0";
constexpr char kI2s[] = "i2_s";
constexpr char kI8Absmax[] = "i8_absmax";
constexpr char kBitnetPlanes[] = "bitnet_planes";
constexpr char kMlxAffine[] = "mlx_affine";
constexpr char kAwq[] = "awq_int4";
constexpr char kGptq[] = "gptq_int4";
bool has_e4m3fn_scales(const Encoding& e) {
  return std::any_of(e.scales.begin(), e.scales.end(),
                     [](const ScaleField& field) { return field.format == ScaleFormat::e4m3fn; });
}
bool has_two_bit_codes(const Encoding& e) { return e.dialect == "skainet" && e.name.substr(0, 2) != "q4"; }

template <class Change>
void change_encodings(ReferenceRules& rules, bool (*which)(const Encoding&), Change change) {
  for (Encoding& e : rules.encodings)
    if (which(e)) change(e.rules);
}

}  // namespace

std::vector<Twin> encoding_twins() {
  return {
      {"requantize_truncates", "cuts codes off instead of rounding them",
       "encoding.dequantize_inverts_quantize_within_the_bound",
       [](ReferenceRules& r) {
         change_encodings(r, is_of_ggml_or_skainet, [](BlockRules& b) { b.code = CodeRounding::truncate; });
       }},
      {"scale_rounded_away",
       "stores the scale with ties away from zero and truncated subnormals (SKaiNET's private half)",
       "encoding.quantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_of_ggml, [](BlockRules& b) { b.scale = ScaleRule::skainet_private; });
       }},
      {"nibbles_interleaved", "codes of neighbouring elements share a byte (SKaiNET's JVM path before 0.27.0)",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, has_nibbles, [](BlockRules& b) { b.order = NibbleOrder::interleaved; });
       }},
      {"last_byte_forgotten", "leaves the last code byte of a block as it was",
       "encoding.quantize_is_deterministic_and_writes_every_byte",
       [](ReferenceRules& r) {
         change_encodings(r, is_any, [](BlockRules& b) { b.write = WriteRule::forgets_last_byte; });
       }},
      {"extreme_code_refused", "refuses the code -128, which no quantizer writes but a file may hold",
       "encoding.dequantize_is_total",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kQ80>, [](BlockRules& b) { b.extreme = ExtremeCode::refused; });
       }},
      {"planes_reversed", "keeps the planes of an array in the opposite order: biases, scales, codes",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, has_planes, [](BlockRules& b) { b.planes = PlaneOrder::reversed; });
       }},
      {"codes_packed_per_word", "puts 32/bits whole codes in each word, also where 3, 5 or 6 bits leave a rest",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kMlxAffine>, [](BlockRules& b) { b.packing = BitPacking::per_word; });
       }},
      {"affine_ties_away", "rounds half a step away from zero where the CPU rounds to even (MLX's GPU kernels)",
       "encoding.quantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kMlxAffine>, [](BlockRules& b) { b.code = CodeRounding::half_away; });
       }},
      {"affine_edge_divided",
       "divides the edge of an affine group by its number of steps when that is 0 (MLX before its guard, HQQ)",
       "encoding.quantize_keeps_finite_numbers_finite",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kMlxAffine>, [](BlockRules& b) { b.edge = AffineEdge::divided; });
       }},
      {"block_exponent_rounded",
       "rounds the logarithm of a microscaling block's scale where it is declared to be cut off (MLX's modes)",
       "encoding.quantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_of_ocp, [](BlockRules& b) { b.exponent = ScaleExponent::nearest; });
       }},
      {"block_scale_unclamped", "casts a block scale above 448 to e4m3fn without a clamp, which stores a NaN",
       "encoding.dequantize_inverts_quantize_within_the_bound",
       [](ReferenceRules& r) {
         change_encodings(r, has_e4m3fn_scales, [](BlockRules& b) { b.scale_overflow = ScaleOverflow::becomes_nan; });
       }},
      {"awq_columns_sequential", "reads the columns of an AWQ word as GPTQ's, from 0 to 7",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kAwq>, [](BlockRules& b) { b.columns = ColumnOrder::sequential; });
       }},
      {"zero_point_not_raised", "takes a GPTQ zero point as it is stored, where the first format keeps one less",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kGptq>, [](BlockRules& b) { b.zero = ZeroPoint::as_stored; });
       }},
      {"ternary_ties_away",
       "rounds the ties of ternary codes away from zero, as ggml does, where SKaiNET takes the even one",
       "encoding.quantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         for (Encoding& e : r.encodings)
           if (e.rules.code == CodeRounding::half_even) e.rules.code = CodeRounding::half_away;
       }},
      {"tq2_0_read_sequentially", "gives the codes of a tq2_0 byte to four neighbours (SKaiNET's DequantOps)",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kTq20>, [](BlockRules& b) { b.reading = CodeReading::sequential; });
       }},
      {"tq1_0_low_digit_first", "reads the digits of tq1_0 from the lowest, for neighbours (SKaiNET's DequantOps)",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kTq10>, [](BlockRules& b) { b.reading = CodeReading::sequential; });
       }},
      {"i2_s_read_sequentially", "gives the codes of an i2_s byte to four neighbours (larql)",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kI2s>, [](BlockRules& b) { b.reading = CodeReading::sequential; });
       }},
      {"fourth_code_zero", "decodes the code 3 of two bits as 0 where it means +2 (SKaiNET's DenseTensorDataFactory)",
       "encoding.dequantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, has_two_bit_codes, [](BlockRules& b) { b.fourth = FourthCode::zero; });
       }},
      {"residual_of_exact_scale", "splits a row by its exact maximum, and decodes by the half that is stored of it",
       "encoding.quantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kBitnetPlanes>, [](BlockRules& b) { b.residual = ResidualScale::exact; });
       }},
      {"i8_ties_away", "rounds the ties of i8_absmax away from zero, as C's roundf does, where Kotlin rounds up",
       "encoding.quantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         change_encodings(r, is_family<kI8Absmax>, [](BlockRules& b) { b.code = CodeRounding::half_away; });
       }},
      {"nan_encoded_as_zero",
       "gives a NaN the code 0 where the dialect refuses it (C's casts, against Kotlin's roundToInt)",
       "encoding.quantize_agrees_with_the_declared_dialect",
       [](ReferenceRules& r) {
         for (Encoding& e : r.encodings) e.accepts_block = nullptr;
       }},
  };
}

}  // namespace packcheck
