// Laws of doubles as JSON numbers. The oracle is properties/oracles/text_oracle.h.
#include "properties/cases/cases.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/text_oracle.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;

bool is_finite(std::uint64_t bits) { return (bits & ~kSign) < kInfinity; }

/// Where in the number line: doubles that go wrong together.
std::string class_of(std::uint64_t bits) {
  const std::uint64_t magnitude = bits & ~kSign;
  if (magnitude == 0) return bits == 0 ? "zero" : "negative zero";
  if (magnitude < std::uint64_t{1} << 52) return magnitude < std::uint64_t{1} << 47 ? "packed subnormal" : "subnormal";
  if (magnitude > kInfinity) return "nan";
  return magnitude == kInfinity ? "infinity" : "normal";
}

std::string describe_double(std::uint64_t bits) { return describe(Format::f64, bits); }

Verdict check_survives(Subject& subject, const NumberCase& c) {
  if (!is_finite(c.bits)) return not_applicable("JSON has no such number");
  const Answer<std::string> text = call_print(subject, c.bits);
  if (!text.ok()) return *unanswered(text, "json " + class_of(c.bits), describe_double(c.bits));
  const Answer<std::uint64_t> back = call_parse(subject, text.value);
  if (!back.ok()) return *unanswered(back, "json " + class_of(c.bits), describe_text(text.value));
  Judge judge;
  judge.add_checked(1);
  if (back.value != c.bits)
    judge.broken({"json " + class_of(c.bits), describe_double(c.bits), describe_double(c.bits),
                  describe_double(back.value), "The text between was " + describe_text(text.value) + "."});
  return std::move(judge).verdict();
}

Verdict check_printing_is_exact(Subject& subject, const NumberCase& c) {
  if (!is_finite(c.bits)) return not_applicable("JSON has no such number");
  const Answer<std::string> text = call_print(subject, c.bits);
  if (!text.ok()) return *unanswered(text, "json " + class_of(c.bits), describe_double(c.bits));
  Judge judge;
  judge.add_checked(1);
  const std::optional<oracle::ParsedNumber> read = oracle::parse(text.value);
  if (!read || read->bits != c.bits)
    judge.broken({"json " + class_of(c.bits), describe_double(c.bits), "text of exactly this number",
                  describe_text(text.value) + (read ? ", which is " + describe_double(read->bits) : ", no JSON number"),
                  "A correctly rounding reader does not get the 64 bits back."});
  return std::move(judge).verdict();
}

Verdict check_never_non_finite(Subject& subject, const NumberCase& c) {
  const Answer<std::string> text = call_print(subject, c.bits);
  Judge judge;
  judge.add_checked(1);
  if (is_finite(c.bits)) {
    if (text.ok() && !oracle::parse(text.value))
      judge.broken({"json " + class_of(c.bits), describe_double(c.bits), "a JSON number", describe_text(text.value),
                    "A strict reader refuses this text."});
    else if (!text.ok())
      return *unanswered(text, "json " + class_of(c.bits), describe_double(c.bits));
    return std::move(judge).verdict();
  }
  if (text.outcome == Outcome::refused) return std::move(judge).verdict();
  if (!text.ok()) return *unanswered(text, "json " + class_of(c.bits), describe_double(c.bits));
  judge.broken({"json " + class_of(c.bits) + (text.value == "null" ? " became null" : ""), describe_double(c.bits),
                "a refusal", describe_text(text.value),
                text.value == "null" ? "The value is dropped in silence; readers take null for 0 or fail."
                                     : "JSON has no NaN and no Infinity; the document cannot be read."});
  return std::move(judge).verdict();
}

Verdict check_parsing(Subject& subject, const TextCase& c) {
  const std::optional<oracle::ParsedNumber> expected = oracle::parse(c.text);
  if (!expected || expected->overflow) return not_applicable("no JSON number that a double can hold");
  const auto place = [&expected] { return "json " + class_of(expected->bits); };  // made when it is needed
  const Answer<std::uint64_t> actual = call_parse(subject, c.text);
  if (!actual.ok()) return *unanswered(actual, place(), describe_text(c.text));
  Judge judge;
  judge.add_checked(1);
  if (actual.value != expected->bits)
    judge.broken({place(), describe_text(c.text), describe_double(expected->bits), describe_double(actual.value),
                  "The reader does not give the nearest double."});
  return std::move(judge).verdict();
}

/// White space around a value belongs to a JSON text (RFC 8259 section 2): a reader may take it or not.
std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// What kind of impostor, for signatures.
std::string kind_of(const TextCase& c, const std::optional<oracle::ParsedNumber>& parsed) {
  if (parsed) return "overflow";
  for (const std::string_view word : {"nan", "NaN", "inf", "Inf"})
    if (c.text.find(word) != std::string::npos) return "non-finite word";
  return "not a JSON number";
}

Verdict check_refusal(Subject& subject, const TextCase& c) {
  const std::optional<oracle::ParsedNumber> parsed = oracle::parse(c.text);
  if (parsed && !parsed->overflow) return not_applicable("this is a JSON number");
  if (!parsed && oracle::parse(without_space(c.text)))
    return not_applicable("a JSON number with white space around it");
  const std::string kind = kind_of(c, parsed);
  const Declaration* declared = subject.info().find(Operation::parse, "json");
  if (kind != "not a JSON number" && declared != nullptr && declared->option("non_finite") == "accept")
    return not_applicable("declared as non_finite=accept");
  const Answer<std::uint64_t> answer = call_parse(subject, c.text);
  Judge judge;
  judge.add_checked(1);
  if (answer.outcome == Outcome::refused) return std::move(judge).verdict();
  if (!answer.ok()) return *unanswered(answer, "json " + kind, describe_text(c.text));
  judge.broken({"json " + kind, describe_text(c.text), "a refusal", describe_double(answer.value),
                parsed ? "The number is too large for a double and changed in silence."
                       : "Other readers refuse this document."});
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> text_laws() {
  const auto printing = variants_of(Operation::print);
  const auto parsing = variants_of(Operation::parse);
  return {
      make_law<NumberCase>(
          "text.packed_double_survives_text",
          "A finite double, packed parameters included, printed and parsed again has the same 64 bits.",
          {Operation::print, Operation::parse}, number_cases, variants_of(Operation::print, Operation::parse),
          check_survives),
      make_law<NumberCase>("text.printing_is_exact", "The text of a finite double stands for exactly that double.",
                           {Operation::print}, number_cases, printing, check_printing_is_exact),
      make_law<NumberCase>("text.printing_never_yields_nan_or_infinity",
                           "Printing gives a JSON number or refuses: never NaN, Infinity, or null in a number's place.",
                           {Operation::print}, number_cases, printing, check_never_non_finite),
      make_law<TextCase>("text.parsing_is_correctly_rounded",
                         "Every JSON number that a double can hold parses to the nearest double, ties to even.",
                         {Operation::parse}, text_cases, parsing, check_parsing),
      make_law<TextCase>("text.parsing_refuses_what_is_no_json_number",
                         "Text that is no JSON number, or too large for a double, is refused.", {Operation::parse},
                         text_cases, parsing, check_refusal)};
}

}  // namespace packcheck
