// core/graph/ysgp.h: a graph as bytes, the form that yishape-math's executors take ("YSGP").
//
// Little-endian. Header: u32 0x50535359, u32 version 1, u32 number of nodes. Node: u16 flags (bit 0
// data, 1 scalar, 2 param2, 3 indices, 4 leaf), u16 bytes of op, u32 id, op, u16 rank, u32 per
// dimension, u16 number of inputs, u32 per input, then what the flags announce: f64 scalar, f64
// param2, u32 count and f64s of data, u32 count and i32s of indices. Source: facts seed-systems 5.2
// (TensorBinaryProtocol). The bytes are untrusted: every count is compared with what is really there
// before anything is allocated. Proved by tests/core/graph_ysgp_test.cc and the graph.* laws.
#pragma once

#include "core/graph/graph.h"

namespace packcheck {

/// The graph in `bytes`, or everything wrong with it: a wrong header, counts that reach past the end,
/// unknown flags, data on what is no leaf, a missing input, bytes after the last node, and what
/// check_graph reports. Damage to the structure ends the reading; the rest is reported together.
[[nodiscard]] GraphResult<Graph> read_ysgp(std::span<const std::uint8_t> bytes, const GraphDialect& dialect,
                                           const GraphRules& rules = {});

/// The bytes of a graph that check_graph has nothing against. Bit for bit: NaNs keep their payload.
[[nodiscard]] std::vector<std::uint8_t> write_ysgp(const Graph& graph);

}  // namespace packcheck
