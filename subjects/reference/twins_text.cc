// Faulty twins of number text.
#include "subjects/reference/twin_families.h"

namespace packcheck {

std::vector<Twin> text_twins() {
  return {
      {"infinity_printed", "prints NaN and Infinity bare (Java exporter without its guard)",
       "text.printing_never_yields_nan_or_infinity",
       [](ReferenceRules& r) { r.print.non_finite = NonFinitePrinting::bare; }},
      {"six_digits", "prints six significant digits, as %g and a default ostream do",
       "text.packed_double_survives_text", [](ReferenceRules& r) { r.print.digits = Digits::six; }},
      {"parsed_as_f32", "reads numbers into a float field, so that every packed parameter becomes 0",
       "text.parsing_is_correctly_rounded", [](ReferenceRules& r) { r.parse.precision = ParsePrecision::f32; }},
      {"infinity_parsed", "accepts NaN, Infinity and 1e999 as numbers", "text.parsing_refuses_what_is_no_json_number",
       [](ReferenceRules& r) { r.parse.non_finite = NonFiniteParsing::accept; }},
      {"non_finite_as_null", "prints null for NaN and infinities, which drops the value (nlohmann_json, JavaScript)",
       "text.printing_never_yields_nan_or_infinity",
       [](ReferenceRules& r) { r.print.non_finite = NonFinitePrinting::null; }},
      {"fifteen_digits", "prints fifteen significant digits where seventeen may be needed (nlohmann/json issue 360)",
       "text.printing_is_exact", [](ReferenceRules& r) { r.print.digits = Digits::fifteen; }},
      {"negative_zero_printed_as_zero", "prints -0.0 as 0.0 (rapidjson issue 289, JavaScript)",
       "text.printing_is_exact", [](ReferenceRules& r) { r.print.zero = ZeroPrinting::without_sign; }},
      {"subnormals_printed_as_zero", "prints under flush-to-zero, where std::to_chars gives 0 for every subnormal",
       "text.printing_is_exact", [](ReferenceRules& r) { r.print.subnormal = SubnormalPrinting::flushed; }},
      {"subnormals_parsed_as_zero", "parses under flush-to-zero, which loses every packed parameter",
       "text.parsing_is_correctly_rounded", [](ReferenceRules& r) { r.parse.subnormal = SubnormalParsing::flushed; }},
      {"subnormals_refused", "takes strtod's ERANGE for an error (std::stod, parson issue 161, ember issue 24)",
       "text.packed_double_survives_text", [](ReferenceRules& r) { r.parse.subnormal = SubnormalParsing::refused; }},
      {"parsed_in_two_roundings", "multiplies the digits by a power of ten in doubles (serde_json's default)",
       "text.parsing_is_correctly_rounded", [](ReferenceRules& r) { r.parse.precision = ParsePrecision::best_effort; }},
      {"negative_zero_parsed_as_integer", "reads -0 as the integer 0 (nlohmann_json's DOM, Python)",
       "text.parsing_is_correctly_rounded",
       [](ReferenceRules& r) { r.parse.negative_zero = NegativeZeroParsing::integer; }},
      {"point_ends_the_number",
       "reads with strtod under a locale with a decimal comma, so that 9.7517E-319 is 9 (pdjson issue 27)",
       "text.parsing_is_correctly_rounded", [](ReferenceRules& r) { r.parse.point = PointParsing::ends_the_number; }},
      {"null_parsed_as_zero", "reads null in a number's place as 0 (Jackson, protobuf)",
       "text.parsing_refuses_what_is_no_json_number", [](ReferenceRules& r) { r.parse.null = NullParsing::zero; }},
  };
}

}  // namespace packcheck
