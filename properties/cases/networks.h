// properties/cases/networks.h: networks of mixed formats as text, sound and not.
//
// A case is the text itself, so that hostile input is a case like any other; what is in it says the oracle. Add a
// fault: a row in networks.cc or network_graph_faults.cc; tests/properties/network_document_test.cc proves that the
// oracle refuses it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "properties/case.h"
#include "properties/oracles/precision_oracle.h"

namespace packcheck {

/// A description of a network, or what only looks like one. Variant "autograd:boundary_stops" or "stablehlo".
struct NetworkCase {
  std::string variant;
  std::string text;
};
extern const CaseType& network_cases;

/// Up to three layers, activations and stages, in each other up to two deep.
[[nodiscard]] oracle::NetworkDescription draw_network(Source& source);

/// One thing wrong with a network that has a layer with weights first.
struct NetworkFault {
  std::string_view name;
  std::string (*text)(oracle::NetworkDescription description);
};
[[nodiscard]] std::span<const NetworkFault> network_faults();

/// One thing wrong with the graph that a network is exported as, so that it is none of a network.
struct NetworkGraphFault {
  std::string_view name;
  bool (*apply)(oracle::Nodes& nodes);  ///< false where this graph has no place for it
};
[[nodiscard]] std::span<const NetworkGraphFault> network_graph_faults();

}  // namespace packcheck
