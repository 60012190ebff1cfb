// properties/laws/answers.h: what every law does with an answer that is not one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "properties/law.h"
#include "subjects/calls.h"

namespace packcheck {

/// The verdict when a subject gave no answer where the law wants one: skipped, or broken with the
/// outcome as its place. Nothing when it answered.
[[nodiscard]] std::optional<Verdict> unanswered(Outcome outcome, const std::string& message, std::string_view place,
                                                std::string_view input);
template <class T>
std::optional<Verdict> unanswered(const Answer<T>& answer, std::string_view place, std::string_view input) {
  return unanswered(answer.outcome, answer.message, place, input);
}

/// Variants of `operation` that the subject declares.
[[nodiscard]] std::vector<std::string> declared_variants(const SubjectInfo& info, Operation operation);
/// Variants that it declares for both operations.
[[nodiscard]] std::vector<std::string> declared_variants(const SubjectInfo& info, Operation one, Operation other);
/// As functions, for rows of the registry.
[[nodiscard]] std::function<std::vector<std::string>(const SubjectInfo&)> variants_of(Operation operation);
[[nodiscard]] std::function<std::vector<std::string>(const SubjectInfo&)> variants_of(Operation one, Operation other);

}  // namespace packcheck
