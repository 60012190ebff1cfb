// Faulty twins of graphs as JSON text and YSGP bytes.
#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

constexpr std::string_view kExport = "graph.export_says_exactly_the_graph";
constexpr std::string_view kImport = "graph.import_keeps_every_value";
constexpr std::string_view kUnsoundText = "graph.unsound_texts_are_refused";
constexpr std::string_view kUnsoundBytes = "graph.unsound_bytes_are_refused";
constexpr std::string_view kRoundTrip = "graph.import_inverts_export";
constexpr std::string_view kFixedPoint = "graph.canonical_text_is_a_fixed_point";

}  // namespace

std::vector<Twin> graph_twins() {
  constexpr std::string_view kRareFault =
      "one fault of many in a text of several nodes: the short inputs of the fuzz and sweep engines seldom get there";
  return {
      {"graph_data_bare", "prints NaN and Infinity bare in leaf data (yishape-math guards only its scalars)", kExport,
       [](ReferenceRules& r) { r.graph.data = NonFinitePrinting::bare; }},
      {"graph_scalar_bare", "prints a scalar that is NaN or Infinity bare (the seed's exporter without its guard)",
       kExport, [](ReferenceRules& r) { r.graph.numbers.non_finite = NonFinitePrinting::bare; }},
      {"graph_infinity_dropped", "leaves a scalar out of the text when it is NaN or Infinity (the seed's guard)",
       kExport, [](ReferenceRules& r) { r.graph.infinity = InfinityRule::dropped; }},
      {"graph_six_digits", "prints numbers with six digits, which changes packed scalars and weights", kExport,
       [](ReferenceRules& r) { r.graph.numbers.digits = Digits::six; }},
      {"graph_missing_input_dropped",
       "drops an input that it does not find, which shifts those after it (GraphExporter)", kUnsoundBytes,
       [](ReferenceRules& r) { r.graph.missing_input = MissingInputRule::drop; }},
      {"graph_missing_input_null", "writes null for an input that it does not find (an older GraphExporter)",
       kUnsoundBytes, [](ReferenceRules& r) { r.graph.missing_input = MissingInputRule::write_null; }},
      {"graph_negative_zero_lost", "reads -0 as the integer 0, as nlohmann_json's DOM does", kImport,
       [](ReferenceRules& r) { r.graph.negative_zero = NegativeZeroRule::becomes_integer_zero; }},
      {"graph_last_key_wins", "takes the last of two members of one name, as DOM readers do", kUnsoundText,
       [](ReferenceRules& r) { r.graph.duplicate_key = DuplicateKeyRule::last_wins; }},
      {"graph_integers_cast", "reads ids, dimensions and indices as doubles and casts them: 3.7 is 3, 2^32+3 is 3",
       kUnsoundText, [](ReferenceRules& r) { r.graph.integers = IntegerReading::cast_from_double; }},
      {"graph_labels_dropped", "exports softmaxCrossEntropy without its labels (yishape-math's dense variant)", kExport,
       [](ReferenceRules& r) { r.graph.labels = LabelsRule::dropped; }},
      {"graph_input_shape_exported", "exports the shape of a convolution's or pool's input as its own", kExport,
       [](ReferenceRules& r) { r.graph.shape = ShapeExport::of_first_input; }},
      {"graph_empty_indices_lost", "takes an empty list of indices for none", kExport,
       [](ReferenceRules& r) { r.graph.empty_indices = EmptyIndices::dropped; }},
      {"graph_flags_swapped", "has the flags of scalar and param2 in each other's place when it reads YSGP",
       kFixedPoint, [](ReferenceRules& r) { r.graph.flags = FlagReading::scalar_and_param2_swapped; }},
      {"graph_forward_reference", "accepts an input that comes later than the node, also one that closes a cycle",
       kUnsoundText, [](ReferenceRules& r) { r.graph.forward_reference = ForwardReference::accept; }, kRareFault},
      {"graph_operator_with_data", "accepts data on a node with inputs", kUnsoundText,
       [](ReferenceRules& r) { r.graph.data_of_operator = DataOfOperator::accept; }},
      {"graph_absent_scalar_is_zero",
       "reads a scalar that is not there as 0, a default that divides by zero later (readers of yishape-math's JSON)",
       kImport, [](ReferenceRules& r) { r.graph.absent = AbsentScalar::zero; }},
      {"graph_comma_is_a_point",
       "takes the comma between two numbers for a decimal point, as strtod does under many locales (parson PR 227; "
       "cJSON PR 145)",
       kImport, [](ReferenceRules& r) { r.graph.comma = CommaReading::is_a_point; }},
      {"graph_param2_as_scalar", "writes param2 in the place of a scalar that is absent", kRoundTrip,
       [](ReferenceRules& r) { r.graph.param2 = Param2Place::scalars_when_free; }},
  };
}

}  // namespace packcheck
