// cli/rapidcheck_parameters.h: RC_PARAMS, the environment variable of RapidCheck, as packcheck takes it.
//
// RapidCheck ignores a key that it does not know and passes every property with max_success=0. packcheck reads the
// variable itself, uses what has a meaning here and refuses the rest by name. Proved by tests/cli/arguments_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/result.h"

namespace packcheck {

struct RapidCheckParameters {
  std::optional<std::uint64_t> seed;  ///< as --seed
  std::optional<int> max_success;     ///< cases of the property engine for one variant, at least 1
};

/// "seed=1 max_success=50", keys and values as RapidCheck writes them, separated by white space.
[[nodiscard]] Result<RapidCheckParameters> parse_rapidcheck_parameters(std::string_view text);
/// Of the environment variable; nothing where it is not set.
[[nodiscard]] Result<RapidCheckParameters> rapidcheck_parameters_of_environment();

}  // namespace packcheck
