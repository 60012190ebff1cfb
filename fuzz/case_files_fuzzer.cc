// packcheck's own case files and files of vectors. The bytes are the JSON text itself:
// for all texts: it is read or refused, and a case that is read is written and read again as the same case.
#include "fuzz/target.h"
#include "properties/corpus_store.h"
#include "subjects/calls.h"
#include "subjects/reference/reference.h"

namespace {

using namespace packcheck;

std::optional<BrokenText> check(std::string_view text) {
  const Result<std::vector<CaseFile>> files = parse_case_file(text, "input");
  if (!files) return std::nullopt;
  for (const CaseFile& file : *files) {
    const std::string written = file.c.type->to_json(file.c);
    const Result<Case> again = file.c.type->from_json(written);
    if (!again || file.c.type->to_json(*again) != written)
      return BrokenText{"case_files " + std::string(file.c.type->name()), written};
  }
  return std::nullopt;
}

/// A case of any law, as a finding is written.
Bytes fresh(Dice& dice) {
  static const std::unique_ptr<Subject> reference = make_reference();
  const Law& law = dice.pick(all_laws());
  RandomSource source(dice.bits());
  const Case c = law.case_type->draw(source, dice.pick(law.variants(reference->info())));
  return string_to_bytes(case_file_text(law.id, "reference", {"place", "input", "expected", "actual", "why"}, c));
}

}  // namespace

const FuzzTarget& packcheck::fuzz_target() {
  static const auto target = text_target({check, fresh, {"json", {}, mutate_json, cross_json}});
  return *target;
}
