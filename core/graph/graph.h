// core/graph: the computation graph that an exporter hands to another engine.
//
// A graph is nodes in topological order. It has two forms: JSON text (json_import.h, json_export.h)
// and the binary "YSGP" (ysgp.h). Both keep every node, value and position, or refuse and say where;
// nothing is defaulted, dropped or shifted. Numbers are bit patterns of doubles, never arithmetic.
// Sources: the graph and binary exporters of yishape-math (facts seed-systems 5.1, 5.2). Add an
// operator's number of inputs in graph.cc's table. Proved by the graph.* laws, whose oracle
// (properties/oracles/graph_oracle.h) reads both forms a second time, and by tests/core/graph_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/short_list.h"
#include "core/result.h"
#include "core/text/number_text.h"

namespace packcheck {

/// What a node's input is where an exporter did not find it: 0xFFFFFFFF in YSGP, null in JSON.
inline constexpr std::uint32_t kMissingInput = 0xFFFFFFFF;

/// One node. A leaf is a node with data; every other node has inputs. What is absent is absent:
/// a NaN scalar is a value, and an empty list of indices is a list.
struct GraphNode {
  std::uint32_t id = 0;                              ///< its position in the graph
  ShortList shape;                                   ///< each dimension in 1..2^31-1; none for a single number
  std::string op;                                    ///< UTF-8, 1 to 65,535 bytes; "leaf" for a leaf without a tag
  std::optional<std::vector<std::uint64_t>> data;    ///< of a leaf: bits of doubles, row-major, one per element
  std::optional<std::uint64_t> scalar;               ///< bits of a double, often packed (core/params)
  std::optional<std::uint64_t> param2;               ///< the same; yishape-math's scalarParam2
  std::optional<std::vector<std::int32_t>> indices;  ///< for the backward pass
  ShortList inputs;                                  ///< ids of earlier nodes

  [[nodiscard]] bool is_leaf() const { return data.has_value(); }
  friend bool operator==(const GraphNode&, const GraphNode&) = default;
};

struct Graph {
  std::vector<GraphNode> nodes;
  friend bool operator==(const Graph&, const Graph&) = default;
};

/// What a family of exporters and readers means by the same members.
struct GraphDialect {
  std::string_view name;          ///< "lossless"
  bool has_bits_members;          ///< scalar_bits, param2_bits, data_bits say what JSON numbers cannot
  bool nan_is_absent;             ///< a NaN scalar or param2 means that there is none, so it is no value
  bool empty_indices_are_absent;  ///< an empty list is not written, so it is no value
  bool labels_are_inputs;         ///< softmaxCrossEntropy has its labels as second input, always

  [[nodiscard]] std::string id() const { return std::string("ysgp:").append(name); }
};

/// "ysgp:lossless" (packcheck's own) and "ysgp:yishape" (yishape-math's exporters).
[[nodiscard]] std::span<const GraphDialect> all_graph_dialects();
[[nodiscard]] Result<const GraphDialect*> graph_dialect_named(std::string_view id);

// Where faulty exporters and readers differ; the first value of each is the reference.
enum class MissingInputRule : std::uint8_t { refuse, drop, write_null };
enum class InfinityRule : std::uint8_t { kept, dropped };
enum class NegativeZeroRule : std::uint8_t { kept, becomes_integer_zero };
enum class DuplicateKeyRule : std::uint8_t { refuse, last_wins };
enum class IntegerReading : std::uint8_t { exact, cast_from_double };
enum class LabelsRule : std::uint8_t { exported, dropped };
enum class ShapeExport : std::uint8_t { own, of_first_input };
enum class EmptyIndices : std::uint8_t { kept, dropped };
enum class FlagReading : std::uint8_t { declared, scalar_and_param2_swapped };
enum class ForwardReference : std::uint8_t { refuse, accept };
enum class DataOfOperator : std::uint8_t { refuse, accept };
enum class Param2Place : std::uint8_t { own, scalars_when_free };
enum class CommaReading : std::uint8_t {
  separates,
  is_a_point  ///< strtod under a locale with a decimal comma: [1,2] is [1.2]
};
enum class AbsentScalar : std::uint8_t {
  absent,
  zero  ///< a reader's default: all packed fields are 0, and something divides by them
};

/// The choices of one exporter and reader; the defaults are the reference.
struct GraphRules {
  PrintRules numbers;                                  ///< of scalar and param2
  NonFinitePrinting data = NonFinitePrinting::refuse;  ///< of leaf data
  MissingInputRule missing_input = MissingInputRule::refuse;
  InfinityRule infinity = InfinityRule::kept;
  NegativeZeroRule negative_zero = NegativeZeroRule::kept;
  DuplicateKeyRule duplicate_key = DuplicateKeyRule::refuse;
  IntegerReading integers = IntegerReading::exact;
  LabelsRule labels = LabelsRule::exported;
  ShapeExport shape = ShapeExport::own;
  EmptyIndices empty_indices = EmptyIndices::kept;
  FlagReading flags = FlagReading::declared;
  ForwardReference forward_reference = ForwardReference::refuse;
  DataOfOperator data_of_operator = DataOfOperator::refuse;
  Param2Place param2 = Param2Place::own;
  CommaReading comma = CommaReading::separates;
  AbsentScalar absent = AbsentScalar::absent;
  friend bool operator==(const GraphRules&, const GraphRules&) = default;
};

/// Everything wrong with a graph. The first kMostKept problems are kept; the others are counted.
class GraphErrors {
 public:
  static constexpr std::size_t kMostKept = 1000;

  void add(std::string what, std::string where, std::string right);
  [[nodiscard]] bool empty() const { return total_ == 0; }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// `where` is a JSON pointer ("/nodes/3/inputs/1"), or "byte 12" in the binary form.
  [[nodiscard]] const std::vector<Error>& kept() const { return kept_; }
  /// All of it as one refusal: the problem itself where there is only one, else the first ten.
  [[nodiscard]] Error as_one() const;

 private:
  std::vector<Error> kept_;
  std::uint64_t total_ = 0;
};

template <class T>
using GraphResult = tl::expected<T, GraphErrors>;

/// How many inputs an operator has.
struct OperatorInputs {
  std::string_view op;
  std::uint32_t least;
  std::uint32_t most;
};
/// The operators whose number of inputs is known; others may have any number from 1 on.
[[nodiscard]] std::span<const OperatorInputs> known_operators();

/// The members of a node, as bits: which of them a reader has already reported.
enum GraphMember : std::uint16_t {
  kIdMember = 1,
  kShapeMember = 2,
  kOpMember = 4,
  kDataMember = 8,
  kScalarMember = 16,
  kParam2Member = 32,
  kIndicesMember = 64,
  kInputsMember = 128
};

/// Reports everything that breaks the rules of `dialect`: ids that are not positions, references to
/// later or unknown nodes, cycles, the number of inputs, data that does not fill the shape, dimensions
/// and sizes out of range. `reported` has the members of each node that need no second report; it may
/// be empty. Linear in the size of the graph.
void check_graph(const Graph& graph, const GraphDialect& dialect, const GraphRules& rules,
                 std::span<const std::uint16_t> reported, GraphErrors& errors);

/// The number of elements of a shape, where every dimension is in 1..2^31-1 and the number is below 2^60.
[[nodiscard]] std::optional<std::uint64_t> element_count(std::span<const std::uint32_t> shape);

[[nodiscard]] constexpr bool is_finite_double(std::uint64_t bits) { return (bits >> 52 & 0x7FF) != 0x7FF; }
[[nodiscard]] constexpr bool is_nan_double(std::uint64_t bits) {
  return !is_finite_double(bits) && (bits & ((std::uint64_t{1} << 52) - 1)) != 0;
}

}  // namespace packcheck
