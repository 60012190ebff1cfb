// properties/vector_answers.h: the answers that a vector carries, and the proof that the law tells them apart.
//
// A vector's answers are what a subject would say: {"convert": ["0x7fc0"]}, one member per operation that
// the law calls. A scripted subject that declares what the vector says and gives the right answers must
// keep the law; with the wrong ones it must break it, unless the vector is "acceptable": then some real
// system means the other answer. Proved by tests/properties/vectors_test.cc, which checks the whole corpus.
#pragma once

#include <string>
#include <vector>

#include "properties/law.h"

namespace packcheck {

/// What a vector says beside its case. Empty `right`: it is a case without an answer.
struct VectorAnswers {
  std::vector<std::string> declares;  ///< declaration lines: "convert f32->bf16 nan=any"
  std::string result;                 ///< "valid", "invalid" (the input is to be refused) or "acceptable"
  std::string right;                  ///< JSON: answers per operation
  std::string wrong;                  ///< as real software gave it; may be empty
  std::vector<std::string> flags;     ///< kind of bug and its effect: "double-rounding", "nan-lost"
};

/// The answers that a subject gives while the law judges it, as JSON: the right ones of a vector by the
/// reference, the wrong ones by a faulty twin. Refuses what cannot be written, and a case that the law does
/// not judge under these declarations.
[[nodiscard]] Result<std::string> answers_of(Subject& subject, const Law& law, const Case& c,
                                             const std::vector<std::string>& declares);

/// Refuses a vector whose right answer the law does not accept, whose wrong answer it does not refuse,
/// whose declarations do not judge the case, or whose result does not fit its answers.
[[nodiscard]] Result<void> check_answers(const Law& law, const Case& c, const VectorAnswers& answers,
                                         const std::string& where);

}  // namespace packcheck
