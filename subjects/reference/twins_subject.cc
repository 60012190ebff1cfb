// Faulty twins of what every subject is to keep.
#include "subjects/reference/twin_families.h"

namespace packcheck {

std::vector<Twin> subject_twins() {
  return {
      {"answers_kept", "keeps a copy of every answer, so that memory grows with each call",
       "subject.keeps_no_memory_between_calls", [](ReferenceRules& r) { r.keeps_answers = true; }},
  };
}

}  // namespace packcheck
