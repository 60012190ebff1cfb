// Number texts as doubles and narrower numbers, in their two forms, and as packed words.
#include <stdlib.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <string>

#include "core/format/convert.h"
#include "core/params/analysis.h"
#include "core/text/number_form.h"
#include "core/text/number_text.h"
#include "properties/checks/checks.h"
#include "properties/checks/double_class.h"
#include "properties/oracles/default_environment.h"
#include "properties/oracles/format_oracle.h"
#include "properties/oracles/text_oracle.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kExponent = std::uint64_t{0x7FF} << 52;

/// strtod rounds as the environment says, correctly in each direction.
[[gnu::noinline]] std::uint64_t rounded(const std::string& text, int rounding) {
  std::fesetround(rounding);
  return std::bit_cast<std::uint64_t>(strtod(text.c_str(), nullptr));
}

/// The double whose last bit says that something was cut off: rounded once more to a format that is two bits narrower
/// or more, it gives what one rounding gives.
struct Cut {
  std::uint64_t bits;
  bool exact;
};
Cut cut_of(const std::string& text) {
  const oracle::DefaultEnvironment restored;
  const bool negative = text[0] == '-';
  const std::uint64_t toward = rounded(text, FE_TOWARDZERO);
  const std::uint64_t away = rounded(text, negative ? FE_DOWNWARD : FE_UPWARD);
  return {toward | (toward == away ? 0U : 1U), toward == away};
}

bool is_finite(std::uint64_t bits) { return (bits & kExponent) != kExponent; }

Fault formats_fault(const std::string& text) {
  const auto parsed = oracle::parse(text);
  const Result<bool> exact = is_exact_number(text);
  if (exact.has_value() != (parsed && !parsed->overflow)) return "what is a number";
  const Cut cut = parsed ? cut_of(text) : Cut{};
  if (exact && *exact != cut.exact) return "exactness";
  for (const Format format : {Format::f64, Format::f32, Format::f16, Format::bf16, Format::e5m2, Format::e4m3fn}) {
    const Result<std::uint64_t> code = parse_number_as(format, text);
    if (!exact) {
      if (code) return "a text that is no number, in a format";
      continue;
    }
    const std::uint64_t right =
        format == Format::f64 ? parsed->bits : oracle::convert(Format::f64, format, cut.bits, {});
    const std::uint64_t back = oracle::convert(format, Format::f64, right, {});
    if (code.has_value() != is_finite(back) || (code && *code != right)) return "a number in a format";
  }
  return {};
}

/// The number, if any, and the bits beside it stand for the double alone, and for no other.
Fault forms_fault(std::uint64_t bits) {
  const bool needs = !is_finite(bits) || bits == kSign || ((bits & kExponent) == 0 && bits << 1 != 0);
  if (needs_bits(bits) != needs) return "which doubles need bits";
  const Result<std::uint64_t> printed = parse_bits(print_bits(bits));
  if (!printed || *printed != bits) return "bits as text";
  for (const BitsRule rule : {BitsRule::where_needed, BitsRule::always}) {
    const NumberForm form = number_form(bits, rule);
    if (form.number.has_value() != is_finite(bits)) return "the number of a form";
    if (form.bits.has_value() != (needs || rule == BitsRule::always)) return "the bits of a form";
    const Result<std::uint64_t> read = read_number_form(form.number, form.bits);
    if (!read || *read != bits) return "a form that is not read back";
    if (form.number && read_number_form(form.number, print_bits(bits ^ 1))) return "a number beside other bits";
  }
  return read_number_form({}, {}) ? "a form of nothing" : "";
}

bool is_bits_text(std::string_view text) {
  return text.size() == 18 && text.substr(0, 2) == "0x" &&
         text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

/// A word of fields of bits is of a class that the table says, no smaller than its smallest; fields are read back from
/// their text, and values that fit are packed again.
Fault layout_fault(const Layout& layout, std::uint64_t bits) {
  if (!faults_of(layout).empty()) return "a faulty table";
  const auto spans = analyse(layout);
  PackedWords words{};
  for (std::size_t i = 0; i < kPackedWords; ++i) {
    const WordSpan& span = spans[i];
    words[i] = bits & span.covered;
    const DoubleClass c = observed_class(words[i]);
    if (c != double_class(words[i]) || double_class_name(c).empty()) return "class of a double";
    if (span.plain) continue;
    if ((span.covered & span.gaps) != 0 || (span.covered | span.gaps) != ~std::uint64_t{0}) return "gaps";
    if (!span.can_be(c) || *span.smallest[static_cast<std::size_t>(c)] > (words[i] & ~kSign))
      return "what a word can be";
    if (words[i] >= kSign && !span.can_be_negative) return "the sign of a word";
  }
  const Unpacked unpacked = unpack(layout, words);
  bool fits = true;
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const Field& field = layout.fields[i];
    fits = fits && field.holds(unpacked.values[i]);
    const std::string text = field_text(field, unpacked.values[i]);
    const Result<std::int64_t> read = parse_field(field, text);
    const bool readable = !field.plain() || text == "absent" || is_json_number(text);
    if (read.has_value() != readable || (read && *read != unpacked.values[i])) return "a field's text";
    if (field.range().empty() || parse_field(field, "three")) return "a field's range";
  }
  const Result<PackedWords> packed = pack(layout, unpacked.values);
  if (packed && (!fits || *packed != words)) return "fields that are packed again";
  const std::string why_not = not_executable_because(layout, unpacked.values);
  const bool all_zero = std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
  const bool runs_at_zero =
      std::all_of(layout.fields.begin(), layout.fields.end(), [](const Field& field) { return field.runs_at_zero; });
  return all_zero && why_not.empty() != runs_at_zero ? "what runs at zero" : "";
}

}  // namespace

Fault number_text_fault(std::string_view text) {
  const std::string copy(text.substr(0, text.find('\0')));
  if (Fault fault = formats_fault(copy); !fault.empty()) return fault;
  if (parse_bits(text).has_value() != is_bits_text(text)) return "which texts are bits";
  // Any 64 bits: those of the number, and others that the text decides.
  const std::uint64_t hash = std::hash<std::string>()(copy);
  const auto parsed = oracle::parse(copy);
  const std::uint64_t bits = parsed ? parsed->bits : hash;
  for (const std::uint64_t word : {bits, bits | kExponent, bits & ~kExponent, hash})
    if (Fault fault = forms_fault(word); !fault.empty()) return fault;
  const std::span<const Layout> layouts = all_layouts();
  const Layout& layout = layouts[copy.size() % layouts.size()];
  for (const std::uint64_t word : {bits, hash, std::uint64_t{0}, ~std::uint64_t{0}})
    if (Fault fault = layout_fault(layout, word); !fault.empty()) return std::string(layout.id()).append(": ") + fault;
  const Result<const Layout*> named = layout_named(layout.id());
  if (!named || *named != &layout || !layout_named(layout.op)) return "a layout by name";
  const Result<const Layout*> other = layout_named(text);
  return other && (*other)->op != text && (*other)->id() != text ? "a layout by another name" : "";
}

}  // namespace packcheck
