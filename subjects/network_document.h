// subjects/network_document.h: what became of a network, as lines of text.
//
// The argument of run_network and export_network is a network as core/precision/network_text.h says. The answer of
// run_network has a line for each node of the network's graph, in its order, and one for each boundary:
//
//   node linear:f16 1 3ff0000000000000,4000000000000000 -
//   boundary head f32 f16 3 2 14
//
//   node      operator and format, as core/precision/typed_graph.h names them; whether it claims a gradient;
//             its numbers; its gradient, or - for none. Numbers are the 64 bits of a double in hex.
//   boundary  name, outer and inner format, numbers in and out, bytes that one forward pass writes because of it
//
// Read strictly. Proved by tests/properties/network_document_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/precision/run.h"

namespace packcheck {

struct BoundaryRow {
  std::string name;
  Format outer = Format::f32;
  Format inner = Format::f32;
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  std::uint64_t bytes = 0;
};

struct NetworkAnswer {
  std::vector<NodeRun> nodes;
  std::vector<BoundaryRow> boundaries;
};

[[nodiscard]] std::string write_network_answer(const NetworkAnswer& answer);
[[nodiscard]] Result<NetworkAnswer> read_network_answer(std::string_view document);

}  // namespace packcheck
