// properties/cases/graphs.h: graphs as bytes and as texts, and the faults of nearly valid ones.
//
// A case is the bytes or the text itself, so that hostile input is a case like any other; what is in it
// says the oracle. Add a fault: a row in graph_faults.cc; tests/properties/graph_faults_test.cc proves
// that the oracle and the core refuse each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/case.h"
#include "properties/oracles/graph_oracle.h"
#include "subjects/calls.h"

namespace packcheck {

/// A graph in the binary form, sound or not. Variant "ysgp:lossless".
struct GraphBytesCase {
  std::string dialect;
  Bytes ysgp;
};
extern const CaseType& graph_bytes_cases;

/// A graph as JSON text, or what only looks like one. Variant "ysgp:lossless".
struct GraphTextCase {
  std::string dialect;
  std::string text;
};
extern const CaseType& graph_text_cases;

/// One to six nodes that make a sound graph; half of them without NaN and infinities.
[[nodiscard]] oracle::Nodes draw_graph(Source& source, oracle::GraphForm form);

/// A JSON text before it is written: the members of each node with their values as written.
struct GraphDraft {
  using Members = std::vector<std::pair<std::string, std::string>>;
  std::vector<Members> nodes;
  std::string before = "{\"nodes\":[";
  std::string after = "]}";

  [[nodiscard]] std::string text(std::string_view space = "") const;
};
/// A graph whose values this form of JSON can say, spelt freely: order of members, digits, bits beside numbers.
[[nodiscard]] GraphDraft draw_draft(Source& source, const oracle::Nodes& nodes, oracle::GraphForm form);

/// One thing wrong in a text that is sound otherwise.
struct GraphFault {
  std::string_view name;  ///< "forward reference"
  void (*apply)(GraphDraft& draft, std::string_view value);
  std::string_view value;  ///< what the fault writes; ID stands for the next free id, NEXT for the one after it
};
[[nodiscard]] std::span<const GraphFault> graph_faults();

/// The same for the binary form: nodes that are no sound graph, whatever they were before.
struct GraphBytesFault {
  std::string_view name;
  void (*apply)(oracle::Nodes& nodes);
};
[[nodiscard]] std::span<const GraphBytesFault> graph_bytes_faults();

}  // namespace packcheck
