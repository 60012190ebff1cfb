#include "core/format/mode.h"

#include <array>
#include <charconv>

namespace packcheck {
namespace {

constexpr std::array<std::string_view, 7> kRoundings{"nearest-even", "nearest-away", "toward-zero", "upward",
                                                     "downward",     "stochastic",   "nearest-up"};
constexpr std::array<std::string_view, 5> kNans{"quieted", "same", "truncated", "infinity", "zero"};
constexpr std::array<std::string_view, 3> kSubnormals{"kept", "flushed", "truncated"};
constexpr std::array<std::string_view, 4> kIntegers{"saturate", "wrap", "refuse", "indefinite"};

template <class Rule, std::size_t N>
std::optional<Rule> named(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == name) return static_cast<Rule>(i);
  return std::nullopt;
}

/// Sets what one word after the rounding says; false if it says nothing known.
bool set_rule(ConvertRules& rules, std::string_view word) {
  if (word == "saturate") {
    rules.saturating = true;
    return true;
  }
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  const auto nan = key == "nan" ? nan_named(value) : std::nullopt;
  const auto subnormal = key == "subnormal" ? subnormal_named(value) : std::nullopt;
  const auto integer = key == "integer" ? integer_named(value) : std::nullopt;
  rules.nan = nan.value_or(rules.nan);
  rules.subnormal = subnormal.value_or(rules.subnormal);
  rules.integer = integer.value_or(rules.integer);
  return nan || subnormal || integer;
}

/// Sets what "toward-zero" or "stochastic:0123456789abcdef" says.
bool set_rounding(ConvertRules& rules, std::string_view word) {
  const std::size_t colon = word.find(':');
  const std::optional<Rounding> rounding = rounding_named(word.substr(0, colon));
  if (!rounding || (*rounding == Rounding::stochastic) != (colon != std::string_view::npos)) return false;
  rules.rounding = *rounding;
  if (colon == std::string_view::npos) return true;
  const std::string_view digits = word.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rules.random_bits, 16);
  return digits.size() == 16 && error == std::errc{} && end == digits.data() + digits.size();
}

void append(std::string& text, std::string_view key, std::string_view value) {
  text.append(",").append(key).append("=").append(value);
}

}  // namespace

std::string_view rounding_name(Rounding rounding) { return kRoundings[static_cast<std::size_t>(rounding)]; }
std::string_view nan_name(NanRule rule) { return kNans[static_cast<std::size_t>(rule)]; }
std::string_view subnormal_name(SubnormalRule rule) { return kSubnormals[static_cast<std::size_t>(rule)]; }
std::string_view integer_name(IntegerRule rule) { return kIntegers[static_cast<std::size_t>(rule)]; }
std::optional<Rounding> rounding_named(std::string_view name) { return named<Rounding>(kRoundings, name); }
std::optional<NanRule> nan_named(std::string_view name) { return named<NanRule>(kNans, name); }
std::optional<SubnormalRule> subnormal_named(std::string_view name) { return named<SubnormalRule>(kSubnormals, name); }
std::optional<IntegerRule> integer_named(std::string_view name) { return named<IntegerRule>(kIntegers, name); }

std::string mode_text(const ConvertRules& rules) {
  const ConvertRules reference;
  std::string text(rounding_name(rules.rounding));
  if (rules.rounding == Rounding::stochastic) {
    text += ':';
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[rules.random_bits >> shift & 15];
  }
  if (rules.saturating) text += ",saturate";
  if (rules.nan != reference.nan) append(text, "nan", nan_name(rules.nan));
  if (rules.subnormal != reference.subnormal) append(text, "subnormal", subnormal_name(rules.subnormal));
  if (rules.integer != reference.integer) append(text, "integer", integer_name(rules.integer));
  return text;
}

std::optional<ConvertRules> mode_named(std::string_view text) {
  ConvertRules rules;
  std::size_t comma = text.find(',');
  if (!set_rounding(rules, text.substr(0, comma))) return std::nullopt;
  while (comma != std::string_view::npos) {
    const std::size_t next = text.find(',', comma + 1);
    if (!set_rule(rules, text.substr(comma + 1, next - comma - 1))) return std::nullopt;
    comma = next;
  }
  if (mode_text(rules) != text) return std::nullopt;  // out of order, said twice, or a default spelled out
  return rules;
}

}  // namespace packcheck
