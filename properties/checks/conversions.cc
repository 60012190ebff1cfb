// Conversions of arrays under any rules of core/format/convert.h, and those rules as text.
#include <algorithm>

#include "core/format/convert.h"
#include "core/format/mode.h"
#include "core/simd.h"
#include "properties/checks/checks.h"
#include "properties/oracles/format_oracle.h"

namespace packcheck {
namespace {

using Bytes = std::vector<std::uint8_t>;

ConvertRules draw_rules(Source& source) {
  ConvertRules rules;
  rules.rounding = static_cast<Rounding>(source.below(7));
  rules.nan = static_cast<NanRule>(source.below(5));
  rules.subnormal = static_cast<SubnormalRule>(source.below(3));
  rules.saturating = source.once_in(2);
  rules.integer = static_cast<IntegerRule>(source.below(4));
  if (rules.rounding == Rounding::stochastic) rules.random_bits = source.bits(64);
  return rules;
}

/// A mode's text is read as the same rules; no other text is.
Fault mode_fault(const ConvertRules& rules, Source& source) {
  const std::string text = mode_text(rules);
  const std::optional<ConvertRules> read = mode_named(text);
  if (!read || mode_text(*read) != text) return "a mode's text";
  if (read->rounding != rules.rounding || read->nan != rules.nan || read->subnormal != rules.subnormal ||
      read->saturating != rules.saturating || read->integer != rules.integer || read->random_bits != rules.random_bits)
    return "a mode's rules";
  std::string other = text;
  static constexpr std::string_view kTails[] = {",saturate", ",nan=quieted", ",nan=none", ",", ":0", ",integer"};
  other.append(source.pick(kTails));
  const std::optional<ConvertRules> changed = mode_named(other);
  return changed && mode_text(*changed) != other ? "another mode's text" : "";
}

/// What the rules make of one element; nothing where the rules leave it to the dialect.
std::optional<std::uint64_t> expected(Format from, Format to, std::uint64_t code, const ConvertRules& rules) {
  if (!oracle::is_nan(from, code)) return oracle::convert(from, to, code, rules);
  if (oracle::is_integer(to) || rules.nan == NanRule::infinity || rules.nan == NanRule::zero) return std::nullopt;
  return oracle::nan_by_rule(from, to, code, rules.nan);
}

}  // namespace

Fault conversion_fault(Source& source) {
  const std::span<const FormatSpec> formats = all_formats();
  const FormatSpec& from = formats[source.below(formats.size())];
  const FormatSpec& to = formats[source.below(formats.size())];
  const ConvertRules rules = draw_rules(source);
  if (Fault fault = mode_fault(rules, source); !fault.empty()) return fault;
  // From some length on bytes are converted by a table.
  const std::size_t count = from.bytes() == 1 && source.once_in(8) ? 1100 : 1 + source.below(20);
  Bytes in(count * from.bytes());
  const std::uint64_t step = source.bits(16) | 1;
  std::uint64_t code = source.float_in(from.format);
  for (std::size_t i = 0; i < count; ++i, code = i < 8 ? source.float_in(from.format) : code + step)
    store_element(from, in, i, code & from.all_bits());
  const bool cut = source.once_in(16);
  Bytes out(count * to.bytes() + (cut ? 1 : 0));
  const Result<void> converted = convert_array(from.format, to.format, in, out, rules);
  bool held = !cut;
  for (std::size_t i = 0; i < count && rules.integer == IntegerRule::refuse && oracle::is_integer(to.format); ++i) {
    const std::uint64_t element = load_element(from, in, i);
    held =
        held && !oracle::is_nan(from.format, element) && oracle::integer_holds(from.format, to.format, element, rules);
  }
  const std::string pair = std::string(from.name).append("->").append(to.name).append(" ").append(mode_text(rules));
  if (converted.has_value() != held) return pair + ": what is refused";
  for (std::size_t i = 0; i < count && converted; ++i) {
    const auto right = expected(from.format, to.format, load_element(from, in, i), rules);
    if (right && load_element(to, out, i) != *right) return pair;
  }
  in.push_back(0);
  return from.bytes() > 1 && convert_array(from.format, to.format, in, out, rules) ? "a part of an element" : "";
}

}  // namespace packcheck
