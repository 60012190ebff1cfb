// core/graph/json_export.h: a graph as JSON text, in canonical form.
//
// Canonical: {"nodes":[…]} without white space; members in the order id, shape, op, data, scalar,
// param2, indices, inputs; what is absent, and an empty list of inputs, is not written; data of rank 2
// as rows, all other data as one list; numbers shortest, always with a point or an exponent. A bare NaN
// or Infinity is never written and never dropped: in a dialect with bits members the 64 bits go into
// "scalar_bits", "param2_bits" or "data_bits" (hex strings, in the place of the number; data_bits in the
// place of all data of that node), in a dialect without them the graph is refused. Add a member here,
// in json_import.cc and in the oracle. Proved by the graph.* laws and tests/core/graph_json_test.cc.
#pragma once

#include "core/graph/graph.h"

namespace packcheck {

/// The canonical text of a graph that check_graph has nothing against, or every value that this
/// dialect cannot say, with its JSON pointer. Reading the text gives the same graph, bit for bit.
[[nodiscard]] GraphResult<std::string> export_json(const Graph& graph, const GraphDialect& dialect,
                                                   const GraphRules& rules = {});

/// YSGP bytes to canonical JSON text: read_ysgp, then export_json.
[[nodiscard]] GraphResult<std::string> export_graph(std::span<const std::uint8_t> ysgp, const GraphDialect& dialect,
                                                    const GraphRules& rules = {});

}  // namespace packcheck
