// cli/ask_answers.h: what `packcheck ask` prints, and the questions that have files of their own. For ask.cc and those
// files; brings in nlohmann_json.
#pragma once

#include <string>

#include "cli/commands.h"
#include "properties/strict_json.h"
#include "subjects/calls.h"

namespace packcheck {

/// An answer, a refusal, or that the operation is not offered.
struct Said {
  int exit_code = kHolds;
  nlohmann::ordered_json bits;  ///< hex strings or integers
  std::string text;             ///< for people
  std::string error;
};

template <class T>
Said not_answered(const Answer<T>& answer) {
  const std::string message =
      std::string(outcome_name(answer.outcome)) + (answer.message.empty() ? "" : ": " + answer.message);
  return {answer.outcome == Outcome::skipped ? kNotOffered : kFindings, nullptr, {}, message};
}

// ask_operators.cc
/// "conv2d 1x3x224x224 64x3x7x7 stride=2 padding=3": the output shape, and which inputs give the same.
[[nodiscard]] Result<Said> ask_infer_shape(Subject& subject, const AskOptions& o);
/// A node as a case in JSON: its output, or with execute_backward its gradients.
[[nodiscard]] Result<Said> ask_execute(Subject& subject, const AskOptions& o);

}  // namespace packcheck
