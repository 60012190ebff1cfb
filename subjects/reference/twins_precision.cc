// Faulty twins of networks of mixed formats.
#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

constexpr std::string_view kRounds = "precision.every_operation_rounds_once";
constexpr std::string_view kHeld = "precision.numbers_are_of_their_format";
constexpr std::string_view kGradients = "precision.gradients_stop_or_pass_at_boundaries";
constexpr std::string_view kEqual = "precision.equal_dtypes_cost_nothing";
constexpr std::string_view kBound = "precision.narrow_runs_stay_within_the_bound";
constexpr std::string_view kTold = "precision.boundaries_tell_what_they_copy";
constexpr std::string_view kRefused = "precision.unsound_networks_are_refused";
constexpr std::string_view kGraph = "precision.graph_export_keeps_every_dtype";
constexpr std::string_view kStableHlo = "precision.stablehlo_has_one_cast_pair_per_boundary";
constexpr std::string_view kImport = "precision.import_keeps_every_dtype";
constexpr std::string_view kInverse = "precision.import_inverts_export";
constexpr std::string_view kNoNetwork = "precision.graphs_of_no_network_are_refused";

}  // namespace

std::vector<Twin> precision_twins() {
  return {
      {"precision_boundary_retags",
       "casts by changing the dtype tag and rounds nothing (SKaiNET's convert before 0.38)", kHeld,
       [](ReferenceRules& r) { r.precision.boundary = BoundaryRounding::retags; }},
      {"precision_cast_out_missing", "casts on the way into a narrow layer and not on the way out", kStableHlo,
       [](ReferenceRules& r) { r.precision.cast_out = CastOut::missing; }},
      {"precision_dtype_not_exported", "exports every node as f32", kGraph,
       [](ReferenceRules& r) { r.precision.exported = ExportedDtype::dropped; }},
      {"precision_gradient_passes", "lets gradients through a boundary in phase 1", kGradients,
       [](ReferenceRules& r) { r.precision.stopped = StoppedGradient::passes; }},
      {"precision_gradient_claimed",
       "has tensors before a boundary claim the gradient that stops there (SKaiNET's convert keeps requiresGrad)",
       kGradients, [](ReferenceRules& r) { r.precision.claimed = ClaimedGradient::through_boundaries; }},
      {"precision_upstream_not_cast", "hands the upstream gradient through a boundary without rounding it", kGradients,
       [](ReferenceRules& r) { r.precision.upstream = UpstreamCast::retags; }},
      {"precision_rounds_at_the_end", "computes a narrow stage in f32 and rounds where it ends", kBound,
       [](ReferenceRules& r) { r.precision.rounding = StageRounding::end_of_stage; }},
      {"precision_weights_cast", "casts a user's weights of another dtype in silence", kRefused,
       [](ReferenceRules& r) { r.precision.foreign_weights = ForeignWeights::cast; }},
      {"precision_equal_boundary", "casts between equal dtypes, twice for a stage in a stage", kEqual,
       [](ReferenceRules& r) { r.precision.equal = EqualBoundary::converts; }},
      {"precision_bf16_truncated", "cuts numbers to bf16 and does not round (SKaiNET's Bf16Codec)", kRounds,
       [](ReferenceRules& r) { r.precision.bf16 = Bf16Rounding::truncated; }},
      {"precision_stage_dtype_leaks", "gives the layers after a stage the dtype of the stage", kTold,
       [](ReferenceRules& r) { r.precision.scope = StageScope::leaks; }},
      {"precision_first_row_only", "gives every row of a batch the numbers of the first", kRounds,
       [](ReferenceRules& r) { r.precision.batch = BatchRows::first; }},
      {"precision_activation_not_exported", "exports no activations as StableHLO", kStableHlo,
       [](ReferenceRules& r) { r.precision.activation = ExportedActivation::dropped; }},
      {"precision_leaky_exported_as_relu", "exports leaky_relu as a maximum with 0", kStableHlo,
       [](ReferenceRules& r) { r.precision.activation = ExportedActivation::leaky_as_relu; }},
      {"precision_dtype_not_imported", "imports every layer as f32, whatever stands behind its operator", kInverse,
       [](ReferenceRules& r) { r.precision.imported = ImportedDtype::dropped; }},
      {"precision_weights_widened", "imports weights as f32 into the layer of a narrow dtype", kImport,
       [](ReferenceRules& r) { r.precision.imported_weights = ImportedWeights::widened; }},
      {"precision_leaves_cast", "imports weights of another dtype than their layer's and casts them in silence",
       kNoNetwork, [](ReferenceRules& r) { r.precision.mixed = MixedLeaves::cast; }},
  };
}

}  // namespace packcheck
