// Faulty twins of conversions between number formats.
#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

constexpr std::string_view kNarrowing = "format.narrowing_is_correctly_rounded";

}  // namespace

std::vector<Twin> format_twins() {
  return {
      {"narrowing_truncates", "drops the low bits instead of rounding (SKaiNET's Bf16Codec, declared as nearest even)",
       kNarrowing, [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.rounding = Rounding::toward_zero; }; }},
      {"ties_away", "rounds halves away from zero where nearest even is declared", kNarrowing,
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.rounding = Rounding::nearest_away; }; }},
      {"ties_up", "rounds halves toward infinity, as Math.round does, where nearest even is declared", kNarrowing,
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.rounding = Rounding::nearest_up; }; }},
      {"overflow_saturates",
       "gives the largest number where an overflow is declared to be NaN or infinity (MLX's mxfp8 elements)",
       kNarrowing, [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.saturating = true; }; }},
      {"nan_becomes_infinity", "shifts the bits of a NaN into place until it is an infinity (e8m0 of MLX and ggml)",
       "format.widening_then_narrowing_gives_the_same_bits",
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.nan = NanRule::infinity; }; }},
      {"rounded_twice", "narrows to 8 bits and fewer by way of f16, so that some numbers are rounded twice", kNarrowing,
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.path = ConvertPath::through_f16; }; }},
      {"subnormals_flushed", "counts subnormal operands and results as zero (FTZ/DAZ left on)",
       "format.widening_is_exact",
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.subnormal = SubnormalRule::flushed; }; }},
      {"subnormals_cut_off", "cuts subnormal results off instead of rounding them (SKaiNET's private half)", kNarrowing,
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.subnormal = SubnormalRule::truncated; }; }},
      {"integer_wraps", "keeps the low byte of the integer where saturation is declared (Kotlin's toInt().toByte())",
       kNarrowing, [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.integer = IntegerRule::wrap; }; }},
      {"nan_to_int_minimum", "gives 0x80000000 for NaN and numbers too large, as cvttss2si does", kNarrowing,
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.integer = IntegerRule::indefinite; }; }},
      {"i32_to_f32_truncates", "cuts integers of more than 24 bits off instead of rounding them", kNarrowing,
       [](ReferenceRules& r) { r.convert = [](ConvertRules& c) { c.from_integer = FromInteger::truncated; }; }},
  };
}

}  // namespace packcheck
