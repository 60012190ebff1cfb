// subjects/reference/twins.h: the faulty twins: the reference with one documented bug switched on.
//
// A twin is one changed rule in the real path, never a made-up wrong answer. It proves that the laws
// can fail: `packcheck verify --subject twin:NAME` must find it with the corpus empty. Add a twin:
// a rule in the core's rule structs, and one row in its family's twins_*.cc.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "subjects/reference/reference.h"

namespace packcheck {

struct Twin {
  std::string_view name;
  std::string_view bug;  ///< what it does wrong, and which real system did
  std::string_view law;  ///< the law that must catch it
  void (*change)(ReferenceRules&);
  std::string_view one_engine = {};  ///< why one engine alone may catch it; empty where two do
};

[[nodiscard]] std::span<const Twin> all_twins();
/// The twin called `name`, as the subject "twin:name"; null if there is none.
[[nodiscard]] std::unique_ptr<Subject> make_twin(std::string_view name);

}  // namespace packcheck
