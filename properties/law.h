// properties/law.h: what a law is, and what it says of a case.
//
// A law is one row of the registry: an id, the sentence it states, the operations it needs, a case
// type, the variants it can judge for a subject, and check(subject, case). Every engine (corpus,
// sweep, property, fuzz) drives the same row. Laws and case types know neither RapidCheck nor
// GoogleTest. Add a law: write its check under properties/laws/ and add its row to that file's table.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case.h"
#include "subjects/subject.h"

namespace packcheck {

enum class Ruling : std::uint8_t { holds, broken, not_applicable, skipped };
[[nodiscard]] std::string_view ruling_name(Ruling ruling);

/// One way in which a case breaks a law.
struct Breach {
  std::string place;     ///< normalised, without values: "f32->f16 nan", "conv2d:gen2 stride"
  std::string input;     ///< the smallest part of the case that shows it, in bits and decimal
  std::string expected;  ///< bit for bit
  std::string actual;    ///< bit for bit
  std::string why;       ///< one plain sentence
};

struct Verdict {
  Ruling ruling = Ruling::holds;
  std::vector<Breach> breaches;  ///< at most one per place; empty unless broken
  std::string reason;            ///< of not_applicable and skipped
  std::uint64_t checked = 0;     ///< numbers, blocks or texts that were compared
};

/// Gathers breaches while a law goes through a case: the first of each place is kept.
class Judge {
 public:
  void add_checked(std::uint64_t count) { verdict_.checked += count; }
  [[nodiscard]] bool knows(std::string_view place) const;
  void broken(Breach breach);
  [[nodiscard]] Verdict verdict() && { return std::move(verdict_); }

 private:
  Verdict verdict_;
};

[[nodiscard]] Verdict not_applicable(std::string reason);
[[nodiscard]] Verdict skipped(std::string reason);

struct Law {
  std::string id;                ///< "params.unpack_inverts_pack"
  std::string sentence;          ///< what it states
  std::vector<Operation> needs;  ///< none: whatever the subject offers
  const CaseType* case_type = nullptr;
  /// The variants it judges for a subject, from what the subject declares; none means skipped.
  std::function<std::vector<std::string>(const SubjectInfo&)> variants;
  std::function<Verdict(Subject&, const Case&)> check;
};

/// Makes a row out of a check that takes the case's own struct.
template <class T>
Law make_law(std::string id, std::string sentence, std::vector<Operation> needs, const CaseType& type,
             std::function<std::vector<std::string>(const SubjectInfo&)> variants,
             Verdict (*check)(Subject&, const T&)) {
  return {std::move(id),       std::move(sentence),
          std::move(needs),    &type,
          std::move(variants), [check](Subject& subject, const Case& c) { return check(subject, c.as<T>()); }};
}

/// Every law, in the order of the families.
[[nodiscard]] const std::vector<Law>& all_laws();
/// Refuses an unknown id and lists near ones.
[[nodiscard]] Result<const Law*> law_named(std::string_view id);
/// The laws whose id matches a glob with * and ?. Refuses a glob that matches none.
[[nodiscard]] Result<std::vector<const Law*>> laws_matching(std::string_view glob);

// One table per family, concatenated by all_laws().
[[nodiscard]] std::vector<Law> format_laws();
[[nodiscard]] std::vector<Law> encoding_laws();
[[nodiscard]] std::vector<Law> params_laws();
[[nodiscard]] std::vector<Law> text_laws();
[[nodiscard]] std::vector<Law> storage_laws();
[[nodiscard]] std::vector<Law> affine_laws();
[[nodiscard]] std::vector<Law> product_laws();
[[nodiscard]] std::vector<Law> file_laws();
[[nodiscard]] std::vector<Law> graph_laws();
[[nodiscard]] std::vector<Law> shape_laws();
[[nodiscard]] std::vector<Law> execute_laws();
[[nodiscard]] std::vector<Law> precision_laws();
[[nodiscard]] std::vector<Law> subject_laws();

}  // namespace packcheck
