// properties/near_name.h: which known name somebody meant who wrote another, for messages about unknown laws,
// subjects, engines, profiles, variants and parameters. Proved by tests/properties/near_name_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace packcheck {

/// The known name that `wrong` is most likely a slip of: one that holds it (at least four letters), else the one with
/// the fewest letters to insert, delete, change or swap, a third of its length at most. Empty where nothing is near.
[[nodiscard]] std::string near_name(std::string_view wrong, const std::vector<std::string>& known);

/// What would be right: "'gate'? One of quick, gate, nightly"; without the guess where there is none.
[[nodiscard]] std::string one_of(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace packcheck
