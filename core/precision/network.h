// core/precision: networks in which a layer or a stage computes in a number format of its own.
//
// network.h    what a network is: steps in order, and the boundaries between formats
// builder.h    the fluent builder that makes one, and refuses what makes none
// typed_graph.h  the same as a graph (core/graph), whose nodes say their format in their operator
// import.h     such a graph's JSON text back to a network
// run.h        the reference executor of such graphs, forward and backward
// stablehlo.h  such a graph as StableHLO text
//
// A format is a value: f32, f16 or bf16. Where the format of a layer or stage is not that of what surrounds it, the
// numbers are cast on the way in and on the way out through convert(), nearest even; where it is the same, there is
// no boundary and nothing is copied. Numbers of a narrow layer are rounded after every operation. Source: SKaiNET's
// proposal for mixed precision (facts seed-systems A(4), seed 001). Add an activation: the enumeration, its row in
// builder.cc, and the operator in typed_graph.cc, run.cc, stablehlo.cc and the oracle. Proved by the precision.*
// laws, whose oracle (properties/oracles/precision_oracle.h) walks the stages and never makes a graph, and by
// tests/core/precision_*_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/format.h"
#include "core/result.h"

namespace packcheck {

/// none: x. relu: x where x > 0 or NaN, else +0. leaky_relu: the same, but x / 8 for numbers below 0. hard_tanh: x
/// cut to -1..1; a NaN stays.
enum class Activation : std::uint8_t { none, relu, leaky_relu, hard_tanh };
[[nodiscard]] std::string_view activation_name(Activation activation);
/// "-" for none.
[[nodiscard]] std::optional<Activation> activation_named(std::string_view name);

/// f32, f16 and bf16.
[[nodiscard]] bool is_layer_format(Format format);

// Where faulty frameworks differ; the first value of each is the reference.
enum class BoundaryRounding : std::uint8_t { rounds, retags };
enum class CastOut : std::uint8_t { cast, missing };
enum class ExportedDtype : std::uint8_t { kept, dropped };
enum class StoppedGradient : std::uint8_t { stops, passes };
enum class ClaimedGradient : std::uint8_t { own, through_boundaries };
enum class UpstreamCast : std::uint8_t { rounds, retags };
enum class StageRounding : std::uint8_t { every_operation, end_of_stage };
enum class ForeignWeights : std::uint8_t { refuse, cast };
enum class EqualBoundary : std::uint8_t { nothing, converts };
enum class Bf16Rounding : std::uint8_t { nearest_even, truncated };
enum class StageScope : std::uint8_t { restored, leaks };
enum class BatchRows : std::uint8_t { each, first };
enum class ExportedActivation : std::uint8_t { kept, dropped, leaky_as_relu };
enum class ImportedDtype : std::uint8_t { kept, dropped };
enum class ImportedWeights : std::uint8_t { of_the_layer, widened };
enum class MixedLeaves : std::uint8_t { refuse, cast };

/// The choices of one framework; the defaults are the reference.
struct PrecisionRules {
  BoundaryRounding boundary = BoundaryRounding::rounds;
  CastOut cast_out = CastOut::cast;
  ExportedDtype exported = ExportedDtype::kept;
  StoppedGradient stopped = StoppedGradient::stops;
  ClaimedGradient claimed = ClaimedGradient::own;
  UpstreamCast upstream = UpstreamCast::rounds;
  StageRounding rounding = StageRounding::every_operation;
  ForeignWeights foreign_weights = ForeignWeights::refuse;
  EqualBoundary equal = EqualBoundary::nothing;
  Bf16Rounding bf16 = Bf16Rounding::nearest_even;
  StageScope scope = StageScope::restored;
  BatchRows batch = BatchRows::each;
  ExportedActivation activation = ExportedActivation::kept;
  ImportedDtype imported = ImportedDtype::kept;
  ImportedWeights imported_weights = ImportedWeights::of_the_layer;
  MixedLeaves mixed = MixedLeaves::refuse;
  friend bool operator==(const PrecisionRules&, const PrecisionRules&) = default;
};

enum class StepKind : std::uint8_t { dense, activation, cast };

/// What happens to the numbers, in order. Numbers are codes of `dtype`.
struct NetworkStep {
  StepKind kind = StepKind::cast;
  Format dtype = Format::f32;  ///< of its result
  std::uint32_t size = 0;      ///< numbers of one row of its result
  Activation activation = Activation::none;
  std::vector<std::uint64_t> weights;              ///< of a dense step, [size][inputs]
  std::optional<std::vector<std::uint64_t>> bias;  ///< of a dense step, [size]
};

/// A place where numbers change their format on the way in and back on the way out.
struct PrecisionBoundary {
  std::string name;
  Format outer = Format::f32;
  Format inner = Format::f32;
  std::uint32_t inputs = 0;   ///< of one row
  std::uint32_t outputs = 0;  ///< the same

  /// What one forward pass writes for each row because of it: the cast input and the cast output, in bytes.
  [[nodiscard]] std::uint64_t bytes_copied() const {
    return std::uint64_t{inputs} * spec(inner).bytes() + std::uint64_t{outputs} * spec(outer).bytes();
  }
  friend bool operator==(const PrecisionBoundary&, const PrecisionBoundary&) = default;
};

struct Network {
  Format dtype = Format::f32;  ///< of its input and its output
  std::uint32_t inputs = 0;    ///< numbers of one row of its input
  std::vector<NetworkStep> steps;
  std::vector<PrecisionBoundary> boundaries;  ///< in the order in which they open

  [[nodiscard]] std::uint32_t outputs() const { return steps.empty() ? inputs : steps.back().size; }
};

}  // namespace packcheck
