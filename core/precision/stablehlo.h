// core/precision/stablehlo.h: a typed graph as StableHLO text.
//
// One module with one function: leaves with the tag "input" are its arguments, all other leaves constants (their
// bytes in hex, so that every bit stays, NaN included), the last node its result. Operations stand in MLIR's generic
// form, which any MLIR parser reads, also one that does not know the dialect
// (mlir-opt --allow-unregistered-dialect). Names and types as in the StableHLO specification (dot_general, add,
// broadcast_in_dim, maximum, select, compare, multiply, clamp, convert). A convert node is one stablehlo.convert, so
// a boundary is a pair of them. Proved by precision.stablehlo_has_one_cast_pair_per_boundary, whose oracle reads the
// text again, and by mlir-opt in tests/core/precision_stablehlo_test.cc.
#pragma once

#include "core/precision/typed_graph.h"

namespace packcheck {

/// The module, or what typed_nodes refuses.
[[nodiscard]] Result<std::string> export_stablehlo(const Graph& graph, const PrecisionRules& rules = {});

}  // namespace packcheck
