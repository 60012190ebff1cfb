// core/format/mode.h: the rules of a conversion as text, for calls, declarations and the command line.
//
// A name for each value of the rule enums of convert.h, in their order. Add a rule there and its name in
// mode.cc. Proved by tests/core/mode_test.cc: every text is read back, and nothing else is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/format/convert.h"

namespace packcheck {

[[nodiscard]] std::string_view rounding_name(Rounding rounding);  ///< "nearest-even"
[[nodiscard]] std::string_view nan_name(NanRule rule);            ///< "quieted", "same", "truncated" …
[[nodiscard]] std::string_view subnormal_name(SubnormalRule rule);
[[nodiscard]] std::string_view integer_name(IntegerRule rule);
[[nodiscard]] std::optional<Rounding> rounding_named(std::string_view name);
[[nodiscard]] std::optional<NanRule> nan_named(std::string_view name);
[[nodiscard]] std::optional<SubnormalRule> subnormal_named(std::string_view name);
[[nodiscard]] std::optional<IntegerRule> integer_named(std::string_view name);

/// The mode of a call: the rounding, then what differs from the reference: "nearest-even",
/// "toward-zero,saturate", "stochastic:0123456789abcdef", "nearest-away,nan=infinity,subnormal=truncated",
/// "toward-zero,integer=wrap". The rules of faulty twins (`path`, `from_integer`) have no text.
[[nodiscard]] std::string mode_text(const ConvertRules& rules);
/// The rules with which mode_text() gives `text`.
[[nodiscard]] std::optional<ConvertRules> mode_named(std::string_view text);

}  // namespace packcheck
