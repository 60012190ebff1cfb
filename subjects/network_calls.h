// subjects/network_calls.h: the operations on networks of mixed formats with types, for laws.
#pragma once

#include <string>
#include <string_view>

#include "subjects/calls.h"
#include "subjects/network_document.h"

namespace packcheck {

inline constexpr std::string_view kBoundaryStops = "autograd:boundary_stops";
inline constexpr std::string_view kBoundaryCasts = "autograd:boundary_casts";

/// Every number and gradient of a network. `autograd` is one of the two above. An answer that is no such document
/// broke the protocol.
[[nodiscard]] Answer<NetworkAnswer> call_run_network(Subject& subject, std::string_view autograd,
                                                     std::string_view network);
/// A network as text: `form` is "graph_json" or "stablehlo".
[[nodiscard]] Answer<std::string> call_export_network(Subject& subject, std::string_view form,
                                                      std::string_view network);
/// The document of the network that such text is; `form` is "graph_json".
[[nodiscard]] Answer<std::string> call_import_network(Subject& subject, std::string_view form, std::string_view text);

}  // namespace packcheck
