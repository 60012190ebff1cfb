// subjects/graph_calls.h: the operations on graphs with types, for laws.
#pragma once

#include <string>
#include <string_view>

#include "subjects/calls.h"

namespace packcheck {

/// JSON text to YSGP bytes, in the dialect "ysgp:lossless" or "ysgp:yishape".
[[nodiscard]] Answer<Bytes> call_import_graph(Subject& subject, std::string_view dialect, std::string_view text);
/// YSGP bytes to JSON text.
[[nodiscard]] Answer<std::string> call_export_graph(Subject& subject, std::string_view dialect, const Bytes& ysgp);

}  // namespace packcheck
