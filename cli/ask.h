// cli/ask.h: what a question of `packcheck ask` comes to, for the files that put the questions: ask.cc those about
// numbers and blocks, ask_graphs.cc those about graphs and networks, ask_tensors.cc those about stored tensors and
// tensor files, ask_operators.cc those about shapes and nodes. A question is a function and a row of the table in
// ask.cc. Proved by tests/cli/ask_test.cc.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "core/format/format.h"
#include "subjects/calls.h"

namespace packcheck {

/// What ask prints: an answer, a refusal, or that the operation is not offered.
struct Said {
  int exit_code = kHolds;
  nlohmann::ordered_json bits;  ///< hex strings or integers
  std::string text;             ///< for people
  std::string error;
};
/// An error is a question that cannot be put.
using Ask = Result<Said> (*)(Subject&, const AskOptions&);

template <class T>
Said not_answered(const Answer<T>& answer) {
  const std::string message =
      std::string(outcome_name(answer.outcome)) + (answer.message.empty() ? "" : ": " + answer.message);
  return {answer.outcome == Outcome::skipped ? kNotOffered : kFindings, nullptr, {}, message};
}

/// A line for each element: bits and number.
[[nodiscard]] std::string describe_elements(const Bytes& elements, Format format);

/// repack_tensor, requantize_tensor, load_tensor: SOURCE, then MEMBER=VALUE as in a tensor's line (PROTOCOL.md), with
/// target= and bytes= or from=FILE; the rest has defaults.
[[nodiscard]] Result<Said> ask_tensor(Subject& subject, const AskOptions& options);
/// read_tensors: KIND, then FILE or bytes=HEX.
[[nodiscard]] Result<Said> ask_read_tensors(Subject& subject, const AskOptions& options);
/// write_tensors: KIND, lines of a listing, bytes=HEX or from=FILE, out=FILE.
[[nodiscard]] Result<Said> ask_write_tensors(Subject& subject, const AskOptions& options);

/// import_graph, export_graph: a dialect, and JSON text or bytes in hex: the other of the two.
[[nodiscard]] Result<Said> ask_graph(Subject& subject, const AskOptions& options);
/// run_network, export_network, import_network: autograd or a form, and a network as text: its answer, or another text.
[[nodiscard]] Result<Said> ask_network(Subject& subject, const AskOptions& options);

/// infer_shape: "conv2d 1x3x224x224 64x3x7x7 stride=2 padding=3": the output shape, and which inputs give the same.
[[nodiscard]] Result<Said> ask_infer_shape(Subject& subject, const AskOptions& options);
/// execute, execute_backward: a node as a case in JSON; its output, or its gradients.
[[nodiscard]] Result<Said> ask_execute(Subject& subject, const AskOptions& options);

}  // namespace packcheck
