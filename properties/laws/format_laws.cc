// Laws of conversion between scalar formats. The oracle is properties/oracles/format_oracle.h.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/format/mode.h"
#include "properties/cases/cases.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/cell_oracle.h"
#include "properties/oracles/format_oracle.h"

namespace packcheck {
namespace {

double value_of(const FormatSpec& s, std::uint64_t bits) {
  return std::bit_cast<double>(convert(s.format, Format::f64, bits));  // exact: f64 holds every number of every format
}

/// An integer format reaches one further below zero.
double largest_magnitude(const FormatSpec& s) { return value_of(s, s.largest_finite()) + (s.is_integer() ? 1 : 0); }

/// Whether every number of `from` is one of `to`, infinities, NaN and -0 included.
bool widens(Format from_format, Format to_format) {
  const FormatSpec& from = spec(from_format);
  const FormatSpec& to = spec(to_format);
  const auto last_bit = [](const FormatSpec& s) {
    return s.is_integer() ? 0 : (s.has_zero() ? 1 : 0) - s.bias() - s.significand_bits;
  };
  return to.precision() >= from.precision() && last_bit(to) <= last_bit(from) &&
         value_of(to, to.largest_finite()) >= largest_magnitude(from) && to.is_signed >= from.is_signed &&
         to.infinities >= from.infinities && to.has_nan() >= from.has_nan() &&
         to.has_negative_zero() >= from.has_negative_zero();
}

/// What a subject declared about one conversion.
struct Rules {
  ConvertRules convert;
  std::string mode = mode_text({});  ///< what it is called with
  bool any_nan = true;

  [[nodiscard]] bool flushes() const { return convert.subnormal == SubnormalRule::flushed; }
  [[nodiscard]] bool keeps_payload() const { return !any_nan && convert.nan == NanRule::same_payload; }
  [[nodiscard]] bool keeps_nan() const { return convert.nan != NanRule::infinity && convert.nan != NanRule::zero; }
  [[nodiscard]] std::string nan_text() const { return "nan=" + std::string(any_nan ? "any" : nan_name(convert.nan)); }
};

Rules rules_of(const Subject& subject, const ConversionCase& c) {
  const Declaration* d = subject.info().find(Operation::convert, conversion_variant(c.from, c.to));
  if (d == nullptr) return {};
  Rules rules{{}, declared_mode(*d), d->option("nan") == "any"};
  rules.convert = mode_named(rules.mode).value_or(ConvertRules{});
  rules.convert.nan = nan_named(d->option("nan")).value_or(NanRule::quieted);
  rules.convert.subnormal = subnormal_named(d->option("subnormal")).value_or(SubnormalRule::kept);
  return rules;
}

/// With nan=any every NaN will do, and every code of a format that has no NaN.
bool nan_is_right(const ConversionCase& c, const Rules& rules, std::uint64_t in, std::uint64_t actual) {
  if (!rules.any_nan) return actual == oracle::nan_by_rule(c.from, c.to, in, rules.convert.nan);
  return (actual & ~spec(c.to).all_bits()) == 0 && (oracle::is_nan(c.to, actual) || !oracle::has_nan(c.to));
}

/// Describes a wrong answer, unless its place is known already: a long array may be wrong all over.
void add_breach(Judge& judge, const ConversionCase& c, std::uint64_t in, std::uint64_t expected, std::uint64_t actual,
                const std::string& why) {
  std::string place = conversion_variant(c.from, c.to).append(" ").append(conversion_class(c.from, c.to, in, expected));
  if (judge.knows(place)) return;
  judge.broken({std::move(place), describe(c.from, in), describe(c.to, expected), describe(c.to, actual), why});
}

constexpr std::size_t kChunk = 2048;  // elements judged together; their answers stay in the first cache
constexpr std::size_t kWidest = 2;    // bytes of the elements that the bulk oracle gives

/// Judges elements `first` to `first + count` one by one. Where `bulk` is not null, it holds the bulk oracle's
/// answers, and an element that equals its own needs no other judge unless it came of a NaN.
void judge_elements(Judge& judge, const ConversionCase& c, const Rules& rules, const Bytes& answer, std::size_t first,
                    std::size_t count, const std::uint8_t* bulk) {
  const bool to_integer = oracle::is_integer(c.to);
  for (std::size_t i = first; i < first + count; ++i) {
    const std::uint64_t in = load_element(spec(c.from), c.elements, i);
    const std::uint64_t actual = load_element(spec(c.to), answer, i);
    if (!to_integer && oracle::is_nan(c.from, in)) {
      if (!nan_is_right(c, rules, in, actual))
        add_breach(judge, c, in, oracle::nan_by_rule(c.from, c.to, in, rules.convert.nan), actual,
                   "The declared rule is " + rules.nan_text() + ".");
      continue;
    }
    const std::size_t width = spec(c.to).bytes();
    if (bulk != nullptr && std::memcmp(bulk + (i - first) * width, &answer[i * width], width) == 0) continue;
    const std::uint64_t expected = oracle::convert(c.from, c.to, in, rules.convert);
    if (actual != expected)
      add_breach(judge, c, in, expected, actual, "The declared rules are " + mode_text(rules.convert) + ".");
  }
}

/// Judges by the bulk oracle, and what differs from it one by one. Its NaN are those of nan=quieted, which
/// nan=any allows; other rules want every NaN looked at.
void judge_all(Judge& judge, const ConversionCase& c, const Rules& rules, const Bytes& answer) {
  alignas(64) std::array<std::uint8_t, kChunk * kWidest> bulk;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const FormatSpec& from = spec(c.from);
  const FormatSpec& to = spec(c.to);
  const bool large = c.count() >= 64;
  const bool quieted = rules.any_nan || rules.convert.nan == NanRule::quieted;
  for (std::size_t i = 0; i < c.count(); i += kChunk) {
    const std::size_t count = std::min(kChunk, c.count() - i);
    const bool known =
        large && oracle::convert_many(c.from, c.to, rules.convert, &c.elements[i * from.bytes()], bulk.data(), count);
    if (known && quieted && std::memcmp(bulk.data(), &answer[i * to.bytes()], count * to.bytes()) == 0) continue;
    judge_elements(judge, c, rules, answer, i, count, known ? bulk.data() : nullptr);
  }
}

/// Whether the declared rule refuses the array: a number in it that the integer format does not hold.
bool must_be_refused(const ConversionCase& c, const Rules& rules) {
  if (rules.convert.integer != IntegerRule::refuse || !oracle::is_integer(c.to)) return false;
  for (std::size_t i = 0; i < c.count(); ++i)
    if (!oracle::integer_holds(c.from, c.to, load_element(spec(c.from), c.elements, i), rules.convert)) return true;
  return false;
}

/// The verdict where the declared rule is to refuse; nothing where the subject was to answer.
std::optional<Verdict> refusal_verdict(const ConversionCase& c, const Rules& rules, const Answer<Bytes>& answer) {
  if (answer.outcome != Outcome::refused && answer.outcome != Outcome::answered) return std::nullopt;
  if (!must_be_refused(c, rules)) return std::nullopt;
  Judge judge;
  judge.add_checked(c.count());
  if (answer.ok())
    judge.broken({conversion_variant(c.from, c.to) + " answered", std::to_string(c.count()) + " numbers", "a refusal",
                  "an answer", "A number that the integer does not hold is declared to be refused."});
  return std::move(judge).verdict();
}

Verdict check_conversion(Subject& subject, const ConversionCase& c) {
  if (c.count() == 0) return not_applicable("no numbers");
  const Rules rules = rules_of(subject, c);
  const Answer<Bytes> answer = call_convert(subject, c.from, c.to, rules.mode, c.elements);
  const std::string variant = conversion_variant(c.from, c.to);
  if (auto verdict = refusal_verdict(c, rules, answer)) return *verdict;
  if (!answer.ok()) return *unanswered(answer, variant, std::to_string(c.count()) + " numbers");
  Judge judge;
  judge.add_checked(c.count());
  judge_all(judge, c, rules, answer.value);
  return std::move(judge).verdict();
}

Verdict check_narrowing(Subject& subject, const ConversionCase& c) {
  if (widens(c.from, c.to)) return not_applicable("this conversion widens");
  return check_conversion(subject, c);
}

Verdict check_widening(Subject& subject, const ConversionCase& c) {
  if (!widens(c.from, c.to)) return not_applicable("this conversion narrows");
  return check_conversion(subject, c);
}

std::string reversed(std::string_view variant) {
  const std::size_t arrow = variant.find("->");
  return std::string(variant.substr(arrow + 2)) + "->" + std::string(variant.substr(0, arrow));
}

Verdict check_round_trip(Subject& subject, const ConversionCase& c) {
  if (!widens(c.from, c.to)) return not_applicable("this conversion narrows");
  const std::string variant = conversion_variant(c.from, c.to);
  const ConversionCase back{c.to, c.from, {}};
  const Rules out = rules_of(subject, c);
  const Rules in = rules_of(subject, back);
  const Answer<Bytes> wide = call_convert(subject, c.from, c.to, out.mode, c.elements);
  if (!wide.ok()) return *unanswered(wide, variant, "widening");
  const Answer<Bytes> narrow = call_convert(subject, c.to, c.from, in.mode, wide.value);
  if (!narrow.ok()) return *unanswered(narrow, reversed(variant), "narrowing");
  const bool exact_nan = out.keeps_payload() && in.keeps_payload();
  const bool nan_is_lost = !out.keeps_nan() || !in.keeps_nan();
  const bool saturates = out.convert.saturating || in.convert.saturating;
  const bool flushed = out.flushes() || in.flushes();
  Judge judge;
  judge.add_checked(c.count());
  for (std::size_t i = 0; i < c.count(); ++i) {
    const std::uint64_t bits = load_element(spec(c.from), c.elements, i);
    const std::uint64_t actual = load_element(spec(c.from), narrow.value, i);
    if (actual == bits || (flushed && is_subnormal(spec(c.from), bits))) continue;
    if (saturates && is_infinite(spec(c.from), bits)) continue;
    if (oracle::is_nan(c.from, bits) && (nan_is_lost || (oracle::is_nan(c.from, actual) && !exact_nan))) continue;
    std::string place = variant + " and back: " + conversion_class(c.from, c.from, bits, bits);
    if (judge.knows(place)) continue;
    const std::uint64_t between = load_element(spec(c.to), wide.value, i);
    judge.broken({std::move(place), describe(c.from, bits), describe(c.from, bits), describe(c.from, actual),
                  "The wide number between was " + describe(c.to, between) + "."});
  }
  return std::move(judge).verdict();
}

/// Declared conversions that do, or don't, widen.
std::vector<std::string> conversions(const SubjectInfo& info, bool widening) {
  std::vector<std::string> variants;
  for (const FormatSpec& from : all_formats())
    for (const FormatSpec& to : all_formats())
      if (const std::string name = conversion_variant(from.format, to.format);
          widens(from.format, to.format) == widening && info.find(Operation::convert, name) != nullptr)
        variants.push_back(name);
  return variants;
}

std::vector<std::string> narrowings(const SubjectInfo& info) { return conversions(info, false); }
std::vector<std::string> widenings(const SubjectInfo& info) { return conversions(info, true); }
std::vector<std::string> round_trips(const SubjectInfo& info) {
  std::vector<std::string> variants;
  for (std::string& variant : widenings(info))
    if (reversed(variant) != variant && info.find(Operation::convert, reversed(variant)) != nullptr)
      variants.push_back(std::move(variant));
  return variants;
}

}  // namespace

std::vector<Law> format_laws() {
  return {make_law<ConversionCase>("format.narrowing_is_correctly_rounded",
                                   "Converting to a narrower format gives the number that the declared rounding says, "
                                   "ties, subnormals, overflow and NaN included.",
                                   {Operation::convert}, conversion_cases, narrowings, check_narrowing),
          make_law<ConversionCase>("format.widening_is_exact",
                                   "Converting to a format that holds every number of the first changes no number.",
                                   {Operation::convert}, conversion_cases, widenings, check_widening),
          make_law<ConversionCase>("format.widening_then_narrowing_gives_the_same_bits",
                                   "Widening a number and narrowing it again gives the bits that were there.",
                                   {Operation::convert}, conversion_cases, round_trips, check_round_trip)};
}

}  // namespace packcheck
