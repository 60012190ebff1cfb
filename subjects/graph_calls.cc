#include "subjects/graph_calls.h"

#include "subjects/one_part.h"

namespace packcheck {

Answer<Bytes> call_import_graph(Subject& subject, std::string_view dialect, std::string_view text) {
  return map<Bytes>(call_for_one_part(subject, Operation::import_graph, {dialect, text}), string_to_bytes);
}

Answer<std::string> call_export_graph(Subject& subject, std::string_view dialect, const Bytes& ysgp) {
  return call_for_one_part(subject, Operation::export_graph, {dialect, bytes_of(std::span<const std::uint8_t>(ysgp))});
}

}  // namespace packcheck
