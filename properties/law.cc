#include "properties/law.h"

#include <algorithm>
#include <array>

#include "properties/laws/answers.h"
#include "properties/near_name.h"

namespace packcheck {
namespace {

bool glob_matches(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob[0] == '*')
    return glob_matches(glob.substr(1), text) || (!text.empty() && glob_matches(glob, text.substr(1)));
  return !text.empty() && (glob[0] == '?' || glob[0] == text[0]) && glob_matches(glob.substr(1), text.substr(1));
}

std::vector<std::string> known_ids() {
  std::vector<std::string> ids;
  for (const Law& law : all_laws()) ids.push_back(law.id);
  return ids;
}

}  // namespace

std::string_view ruling_name(Ruling ruling) {
  constexpr std::array<std::string_view, 4> kNames{"holds", "broken", "not_applicable", "skipped"};
  return kNames[static_cast<std::size_t>(ruling)];
}

bool Judge::knows(std::string_view place) const {
  return std::any_of(verdict_.breaches.begin(), verdict_.breaches.end(),
                     [place](const Breach& breach) { return breach.place == place; });
}

void Judge::broken(Breach breach) {
  verdict_.ruling = Ruling::broken;
  if (!knows(breach.place)) verdict_.breaches.push_back(std::move(breach));
}

Verdict not_applicable(std::string reason) { return {Ruling::not_applicable, {}, std::move(reason), 0}; }
Verdict skipped(std::string reason) { return {Ruling::skipped, {}, std::move(reason), 0}; }

const std::vector<Law>& all_laws() {
  static const std::vector<Law> laws = [] {
    std::vector<Law> all;
    for (auto* family : {format_laws, encoding_laws, params_laws, text_laws, storage_laws, affine_laws, product_laws,
                         file_laws, graph_laws, shape_laws, execute_laws, precision_laws, subject_laws})
      for (Law& law : family()) all.push_back(std::move(law));
    return all;
  }();
  return laws;
}

Result<const Law*> law_named(std::string_view id) {
  for (const Law& law : all_laws())
    if (law.id == id) return &law;
  return refuse("unknown law '" + std::string(id) + "'", {}, one_of(id, known_ids()));
}

Result<std::vector<const Law*>> laws_matching(std::string_view glob) {
  std::vector<const Law*> matching;
  for (const Law& law : all_laws())
    if (glob_matches(glob, law.id)) matching.push_back(&law);
  if (matching.empty()) return refuse("no law matches '" + std::string(glob) + "'", {}, one_of(glob, known_ids()));
  return matching;
}

std::optional<Verdict> unanswered(Outcome outcome, const std::string& message, std::string_view place,
                                  std::string_view input) {
  if (outcome == Outcome::answered) return std::nullopt;
  if (outcome == Outcome::skipped) return skipped(message.empty() ? "the subject lacks this variant" : message);
  Judge judge;
  judge.broken({std::string(place) + " " + std::string(outcome_name(outcome)), std::string(input), "an answer",
                std::string(outcome_name(outcome)) + (message.empty() ? "" : ": " + message),
                is_fault(outcome) ? "The subject misbehaved; no input may do that."
                                  : "The subject refused an input that has an answer."});
  return std::move(judge).verdict();
}

std::vector<std::string> declared_variants(const SubjectInfo& info, Operation operation) {
  std::vector<std::string> variants;
  for (const Declaration& d : info.declarations)
    if (d.operation == operation) variants.push_back(d.variant);
  return variants;
}

std::vector<std::string> declared_variants(const SubjectInfo& info, Operation one, Operation other) {
  std::vector<std::string> variants;
  for (std::string& variant : declared_variants(info, one))
    if (info.find(other, variant) != nullptr) variants.push_back(std::move(variant));
  return variants;
}

std::function<std::vector<std::string>(const SubjectInfo&)> variants_of(Operation operation) {
  return [operation](const SubjectInfo& info) { return declared_variants(info, operation); };
}

std::function<std::vector<std::string>(const SubjectInfo&)> variants_of(Operation one, Operation other) {
  return [one, other](const SubjectInfo& info) { return declared_variants(info, one, other); };
}

}  // namespace packcheck
