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
  };
}

}  // namespace packcheck
