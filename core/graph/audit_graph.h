// core/graph/audit_graph.h: what is likely to go wrong when another engine runs a graph.
//
// A graph may be sound and still be run wrong: its packed parameters may be of another generation, its
// shapes those of inputs, its labels missing. Each check is a row in the table of kinds and a function in
// audit_graph.cc. Sources: the debugging checklist of yishape-math and facts seed-systems 5, 6. Proved by
// tests/core/audit_graph_test.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace packcheck {

/// What may be said about a graph. The names are stable: scripts rely on them.
struct GraphWarningKind {
  std::string_view name;
  bool is_problem;  ///< an engine computes something else or fails; else worth knowing
  std::string_view meaning;
};
[[nodiscard]] std::span<const GraphWarningKind> graph_warning_kinds();

struct GraphWarning {
  const GraphWarningKind* kind = nullptr;
  std::string what;   ///< "stride is 0"
  std::string where;  ///< a JSON pointer: "/nodes/3/scalar"
  std::string right;  ///< what would be right, or what a reader has to do
};

/// Everything worth a warning in graph JSON, in the order of the nodes. Text that is no sound graph gives
/// one warning for each problem that the importer reports, and no others. Members for bits are understood;
/// labels need not be there (that is a warning). Linear in the text.
[[nodiscard]] std::vector<GraphWarning> audit_graph(std::string_view text);

}  // namespace packcheck
