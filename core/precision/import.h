// core/precision/import.h: a network back from the graph that it was exported as.
//
// The inverse of export_typed_json: the graph's JSON text becomes a document of network_text.h, each layer with the
// dtype of its node and its weights with their bits. Casts become stages: one that leads back to the format outside
// of the innermost open stage ends it, any other opens one. That finds pairs for all casts of any network, whatever
// were stages and whatever layers with a dtype of their own; stages are named stage_0, stage_1 … as they open. A
// graph has no upstream gradient: the document has ones, the gradient of the sum of all outputs. The name of a leaf
// other than the input says nothing and is not kept.
// Proved by precision.import_keeps_every_dtype, precision.import_inverts_export and
// precision.graphs_of_no_network_are_refused, and by tests/core/precision_import_test.cc.
#pragma once

#include <string>

#include "core/precision/typed_graph.h"

namespace packcheck {

/// The document of the network that a graph is. Refuses, with the JSON pointer of the node: what typed_nodes refuses,
/// and what is no network: an input that is not alone or not [rows,size], a node that does not take the one before it,
/// a leaf that no layer or more than one takes, members that a network has no place for, a cast to the format that is
/// there, a cast in without one out, more weights or deeper stages than a network may have.
[[nodiscard]] Result<std::string> network_of_graph(const Graph& graph, const PrecisionRules& rules = {});

/// The same of JSON text in the dialect "ysgp:lossless".
[[nodiscard]] Result<std::string> import_typed_json(std::string_view text, const PrecisionRules& rules = {});

}  // namespace packcheck
