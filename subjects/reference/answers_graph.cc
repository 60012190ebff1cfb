// Graphs: import_graph, export_graph.
#include "core/graph/json_export.h"
#include "core/graph/json_import.h"
#include "subjects/calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {

Reply answer_import_graph(const ReferenceRules& rules, Arguments a) {
  const Result<const GraphDialect*> dialect = graph_dialect_named(a[0]);
  if (!dialect) return {Outcome::skipped, {}, dialect.error().text()};
  const GraphResult<std::vector<std::uint8_t>> bytes = import_graph(a[1], **dialect, rules.graph);
  return bytes ? answered(bytes_to_string(*bytes)) : refused(bytes.error().as_one());
}

Reply answer_export_graph(const ReferenceRules& rules, Arguments a) {
  const Result<const GraphDialect*> dialect = graph_dialect_named(a[0]);
  if (!dialect) return {Outcome::skipped, {}, dialect.error().text()};
  GraphResult<std::string> text = export_graph(bytes_of(a[1]), **dialect, rules.graph);
  return text ? answered(std::move(*text)) : refused(text.error().as_one());
}

}  // namespace packcheck
