// core/graph/json_import.h: a graph from JSON text that nobody vouches for.
//
// The reader goes through the text once and keeps going after a mistake, so that it reports all of
// them, each with the JSON pointer of its place: duplicate, unknown and missing members, wrong types,
// integers written as 3.0 or out of range, null or missing inputs, ragged rows, numbers beside bits that
// disagree, and what check_graph reports. Only damage to the JSON itself, and the limits, end it early.
// Members may come in any order, with any white space; "data" of rank 2 may be rows or one list; a
// dialect with bits members takes "scalar_bits" and the like beside or in place of the plain ones. Linear in
// the text. nlohmann_json (SAX) stays in the .cc file. Proved by the graph.* laws and
// tests/core/graph_json_test.cc.
#pragma once

#include "core/graph/graph.h"

namespace packcheck {

struct GraphLimits {
  std::size_t bytes = std::size_t{1} << 30;  ///< of text
  std::size_t nodes = std::size_t{1} << 24;
  std::size_t depth = 32;  ///< of nested arrays and objects; a graph needs 5
};

/// The graph that `text` describes (UTF-8, RFC 8259), or everything that is wrong with it.
[[nodiscard]] GraphResult<Graph> import_json(std::string_view text, const GraphDialect& dialect,
                                             const GraphRules& rules = {}, const GraphLimits& limits = {});

/// JSON text to YSGP bytes: import_json, then write_ysgp.
[[nodiscard]] GraphResult<std::vector<std::uint8_t>> import_graph(std::string_view text, const GraphDialect& dialect,
                                                                  const GraphRules& rules = {});

}  // namespace packcheck
