// packcheck ask import_graph, export_graph, run_network, export_network, import_network.
#include "cli/ask.h"
#include "core/graph/graph.h"
#include "properties/describe.h"
#include "properties/strict_json.h"
#include "subjects/graph_calls.h"
#include "subjects/network_calls.h"

namespace packcheck {

Result<Said> ask_graph(Subject& subject, const AskOptions& o) {
  const bool import = o.operation == "import_graph";
  if (o.arguments.size() != 2)
    return refuse(std::to_string(o.arguments.size()) + " arguments", "ask " + o.operation,
                  import ? "a dialect and JSON text, as in ysgp:lossless '{\"nodes\":[…]}'"
                         : "a dialect and YSGP bytes in hex, as in ysgp:lossless 59535350…");
  if (const auto dialect = graph_dialect_named(o.arguments[0]); !dialect) return tl::unexpected(dialect.error());
  if (import) {
    const Answer<Bytes> bytes = call_import_graph(subject, o.arguments[0], o.arguments[1]);
    if (!bytes.ok()) return not_answered(bytes);
    return Said{kHolds, hex_of_bytes(bytes.value), hex_of_bytes(bytes.value), {}};
  }
  const Result<Bytes> ysgp = parse_hex_bytes(o.arguments[1]);
  if (!ysgp) return tl::unexpected(ysgp.error());
  const Answer<std::string> text = call_export_graph(subject, o.arguments[0], *ysgp);
  if (!text.ok()) return not_answered(text);
  return Said{kHolds, text.value, text.value, {}};
}

Result<Said> ask_network(Subject& subject, const AskOptions& o) {
  if (o.arguments.size() != 2)
    return refuse(std::to_string(o.arguments.size()) + " arguments", "ask " + o.operation,
                  "autograd or a form, and a network, as in stablehlo @network.txt (subjects/PROTOCOL.md)");
  // A shell takes the last newline away.
  const std::string network =
      o.arguments[1].empty() || o.arguments[1].back() == '\n' ? o.arguments[1] : o.arguments[1] + "\n";
  if (o.operation != "run_network") {
    const Answer<std::string> text = o.operation == "export_network"
                                         ? call_export_network(subject, o.arguments[0], network)
                                         : call_import_network(subject, o.arguments[0], o.arguments[1]);
    if (!text.ok()) return not_answered(text);
    return Said{kHolds, text.value, text.value, {}};
  }
  const Answer<NetworkAnswer> answer = call_run_network(subject, o.arguments[0], network);
  if (!answer.ok()) return not_answered(answer);
  const std::string lines = write_network_answer(answer.value);
  return Said{kHolds, lines, lines, {}};
}

}  // namespace packcheck
