// Faulty twins of stored tensors.
#include "subjects/reference/twin_families.h"

namespace packcheck {

std::vector<Twin> storage_twins() {
  return {
      {"repack_rounds", "repacks through bf16, so that an f16 value loses three bits",
       "storage.repack_keeps_every_value", [](ReferenceRules& r) { r.repack = RepackPath::through_bf16; }},
  };
}

}  // namespace packcheck
