// Laws of integers packed in doubles. The oracle is properties/oracles/params_oracle.h.
#include "properties/cases/cases.h"
#include "properties/laws/answers.h"
#include "properties/oracles/params_oracle.h"
#include "properties/strict_json.h"

namespace packcheck {
namespace {

std::string text_of_values(const Layout& layout, std::span<const std::int64_t> values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "" : " ") + std::string(layout.fields[i].name) + "=" + std::to_string(values[i]);
  return text;
}

std::string text_of_words(const PackedWords& words) {
  return "scalar " + hex_of(words[0], 64) + " param2 " + hex_of(words[1], 64);
}

/// Index of the first value outside its field, or the count.
std::size_t first_outside(const ParametersCase& c) {
  std::size_t i = 0;
  while (i < c.values.size() && c.values[i] >= 0 && c.values[i] <= c.layout->fields[i].largest()) ++i;
  return i;
}
bool in_range(const ParametersCase& c) { return first_outside(c) == c.values.size(); }

/// Compares field by field; the place names the first field that differs.
void compare_fields(Judge& judge, const Layout& layout, const std::string& input,
                    std::span<const std::int64_t> expected, std::span<const std::int64_t> actual,
                    const std::string& why) {
  judge.add_checked(1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == actual[i]) continue;
    judge.broken({layout.id() + " " + std::string(layout.fields[i].name), input, text_of_values(layout, expected),
                  text_of_values(layout, actual), why});
    return;
  }
}

Verdict check_round_trip(Subject& subject, const ParametersCase& c) {
  if (!in_range(c)) return not_applicable("a value is outside its field");
  const std::string input = text_of_values(*c.layout, c.values);
  const Answer<PackedWords> words = call_pack(subject, *c.layout, c.values);
  if (auto verdict = unanswered(words, c.layout->id(), input)) return *verdict;
  const Answer<std::vector<std::int64_t>> values = call_unpack(subject, *c.layout, words.value);
  if (auto verdict = unanswered(values, c.layout->id(), text_of_words(words.value))) return *verdict;
  Judge judge;
  compare_fields(judge, *c.layout, input, c.values, values.value, "Packed as " + text_of_words(words.value) + ".");
  return std::move(judge).verdict();
}

Verdict check_refusal(Subject& subject, const ParametersCase& c) {
  const std::size_t outside = first_outside(c);
  if (outside == c.values.size()) return not_applicable("every value is inside its field");
  const Answer<PackedWords> words = call_pack(subject, *c.layout, c.values);
  const Field& field = c.layout->fields[outside];
  const std::string place = c.layout->id() + " " + std::string(field.name);
  Judge judge;
  judge.add_checked(1);
  if (words.outcome == Outcome::refused) return std::move(judge).verdict();
  if (!words.ok()) return *unanswered(words, place, text_of_values(*c.layout, c.values));
  const std::optional<std::vector<std::int64_t>> read = oracle::unpacked(c.layout->id(), words.value);
  judge.broken({place, text_of_values(*c.layout, c.values),
                "refused: " + std::string(field.name) + " holds 0.." + std::to_string(field.largest()),
                text_of_words(words.value) + ", which reads back as " +
                    (read ? text_of_values(*c.layout, *read) : std::string("other fields")),
                "A value that does not fit its field runs into its neighbour or is cut off in silence."});
  return std::move(judge).verdict();
}

Verdict check_pack_places(Subject& subject, const ParametersCase& c) {
  if (!in_range(c)) return not_applicable("a value is outside its field");
  const std::string input = text_of_values(*c.layout, c.values);
  const auto expected = oracle::packed(c.layout->id(), c.values);
  if (!expected) return not_applicable("the oracle does not know this layout");
  const Answer<PackedWords> actual = call_pack(subject, *c.layout, c.values);
  if (auto verdict = unanswered(actual, c.layout->id(), input)) return *verdict;
  Judge judge;
  judge.add_checked(1);
  for (std::size_t word = 0; word < kPackedWords; ++word)
    if (actual.value[word] != (*expected)[word])
      judge.broken({c.layout->id() + (word == 0 ? " scalar" : " param2"), input, text_of_words(*expected),
                    text_of_words(actual.value), "A reader of this layout takes other fields out of these bits."});
  return std::move(judge).verdict();
}

Verdict check_unpack_places(Subject& subject, const WordsCase& c) {
  const auto expected = oracle::unpacked(c.layout->id(), c.words);
  if (!expected) return not_applicable("the oracle does not know this layout");
  const Answer<std::vector<std::int64_t>> actual = call_unpack(subject, *c.layout, c.words);
  if (auto verdict = unanswered(actual, c.layout->id(), text_of_words(c.words))) return *verdict;
  Judge judge;
  compare_fields(judge, *c.layout, text_of_words(c.words), *expected, actual.value,
                 "The fields are bits of the double, not its numeric value.");
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> params_laws() {
  return {
      make_law<ParametersCase>("params.unpack_inverts_pack",
                               "Unpacking a packed double gives the fields that were packed.",
                               {Operation::pack, Operation::unpack}, parameters_cases,
                               variants_of(Operation::pack, Operation::unpack), check_round_trip),
      make_law<ParametersCase>("params.out_of_range_fields_are_refused",
                               "A value that does not fit its field is refused when it is packed.", {Operation::pack},
                               parameters_cases, variants_of(Operation::pack), check_refusal),
      make_law<ParametersCase>("params.pack_puts_each_field_in_its_place",
                               "Each field is packed into the bits that the declared layout gives it.",
                               {Operation::pack}, parameters_cases, variants_of(Operation::pack), check_pack_places),
      make_law<WordsCase>("params.unpack_reads_each_field_from_its_place",
                          "Each field is read from the bits that the declared layout gives it, whatever the other "
                          "bits are.",
                          {Operation::unpack}, words_cases, variants_of(Operation::unpack), check_unpack_places)};
}

}  // namespace packcheck
