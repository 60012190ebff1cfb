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
    text += (i == 0 ? "" : " ") + std::string(layout.fields[i].name) + "=" + field_text(layout.fields[i], values[i]);
  return text;
}

std::string text_of_words(const PackedWords& words) {
  return "scalar " + hex_of(words[0], 64) + " param2 " + hex_of(words[1], 64);
}

/// Whether the layout's rule lets these values be packed.
bool packable(const ParametersCase& c) { return oracle::packed(c.layout->id(), c.values).has_value(); }
constexpr const char* kNotPackable = "these values are to be refused";

/// The first field whose value it does not hold; null where they only make an infinity or a NaN together.
const Field* first_outside(const ParametersCase& c) {
  for (std::size_t i = 0; i < c.values.size(); ++i)
    if (!c.layout->fields[i].holds(c.values[i])) return &c.layout->fields[i];
  return nullptr;
}

/// Compares field by field; the place names the first field that differs. `say` gives the input and the reason, in
/// texts that are made only when they are needed: a fuzzer asks often.
template <class Say>
void compare_fields(Judge& judge, const Layout& layout, std::span<const std::int64_t> expected,
                    std::span<const std::int64_t> actual, const Say& say) {
  judge.add_checked(1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == actual[i]) continue;
    const std::pair<std::string, std::string> input_and_why = say();
    judge.broken({layout.id() + " " + std::string(layout.fields[i].name), input_and_why.first,
                  text_of_values(layout, expected), text_of_values(layout, actual), input_and_why.second});
    return;
  }
}

Verdict check_round_trip(Subject& subject, const ParametersCase& c) {
  if (!packable(c)) return not_applicable(kNotPackable);
  const Answer<PackedWords> words = call_pack(subject, *c.layout, c.values);
  if (!words.ok()) return *unanswered(words, c.layout->id(), text_of_values(*c.layout, c.values));
  const Answer<std::vector<std::int64_t>> values = call_unpack(subject, *c.layout, words.value);
  if (!values.ok()) return *unanswered(values, c.layout->id(), text_of_words(words.value));
  Judge judge;
  compare_fields(judge, *c.layout, c.values, values.value, [&] {
    return std::pair(text_of_values(*c.layout, c.values), "Packed as " + text_of_words(words.value) + ".");
  });
  return std::move(judge).verdict();
}

bool is_finite(std::uint64_t word) { return (word >> 52 & 0x7FF) != 0x7FF; }

/// The word as another program gets it; nothing, with a verdict, where the text was refused. A NaN that says
/// "absent" is not written.
std::optional<Verdict> send_as_text(Subject& subject, std::uint64_t& word, const std::string& place) {
  if (!is_finite(word)) return std::nullopt;
  const Answer<std::string> text = call_print(subject, word);
  if (!text.ok()) return unanswered(text, place, hex_of(word, 64));
  const Answer<std::uint64_t> back = call_parse(subject, text.value);
  if (auto verdict = unanswered(back, place, text.value)) return verdict;
  word = back.value;
  return std::nullopt;
}

Verdict check_survives_text(Subject& subject, const ParametersCase& c) {
  if (!packable(c)) return not_applicable(kNotPackable);
  const Answer<PackedWords> words = call_pack(subject, *c.layout, c.values);
  if (!words.ok()) return *unanswered(words, c.layout->id(), text_of_values(*c.layout, c.values));
  PackedWords sent = words.value;
  for (std::uint64_t& word : sent)
    if (auto verdict = send_as_text(subject, word, c.layout->id())) return *verdict;
  const Answer<std::vector<std::int64_t>> values = call_unpack(subject, *c.layout, sent);
  if (!values.ok()) return *unanswered(values, c.layout->id(), text_of_words(sent));
  Judge judge;
  compare_fields(judge, *c.layout, c.values, values.value, [&] {
    return std::pair(text_of_values(*c.layout, c.values),
                     "Packed as " + text_of_words(words.value) + ", read from text as " + text_of_words(sent) + ".");
  });
  return std::move(judge).verdict();
}

Verdict check_refusal(Subject& subject, const ParametersCase& c) {
  if (packable(c)) return not_applicable("every value fits");
  const Field* field = first_outside(c);
  const Answer<PackedWords> words = call_pack(subject, *c.layout, c.values);
  const std::string place = c.layout->id() + " " + (field == nullptr ? "special" : std::string(field->name));
  Judge judge;
  judge.add_checked(1);
  if (words.outcome == Outcome::refused) return std::move(judge).verdict();
  if (!words.ok()) return *unanswered(words, place, text_of_values(*c.layout, c.values));
  const std::optional<std::vector<std::int64_t>> read = oracle::unpacked(c.layout->id(), words.value);
  judge.broken({place, text_of_values(*c.layout, c.values),
                field == nullptr ? std::string("refused: the word would be an infinity or a NaN")
                                 : "refused: " + std::string(field->name) + " holds " + field->range(),
                text_of_words(words.value) + ", which reads back as " +
                    (read ? text_of_values(*c.layout, *read) : std::string("other fields")),
                field == nullptr ? "JSON has no such number: the parameter is lost on the way."
                                 : "A value that does not fit its field runs into its neighbour or is cut off in "
                                   "silence."});
  return std::move(judge).verdict();
}

Verdict check_pack_places(Subject& subject, const ParametersCase& c) {
  if (!packable(c)) return not_applicable(kNotPackable);
  const auto expected = oracle::packed(c.layout->id(), c.values);
  if (!expected) return not_applicable("the oracle does not know this layout");
  const Answer<PackedWords> actual = call_pack(subject, *c.layout, c.values);
  if (!actual.ok()) return *unanswered(actual, c.layout->id(), text_of_values(*c.layout, c.values));
  Judge judge;
  judge.add_checked(1);
  for (std::size_t word = 0; word < kPackedWords; ++word)
    if (actual.value[word] != (*expected)[word])
      judge.broken({c.layout->id() + (word == 0 ? " scalar" : " param2"), text_of_values(*c.layout, c.values),
                    text_of_words(*expected), text_of_words(actual.value),
                    "A reader of this layout takes other fields out of these bits."});
  return std::move(judge).verdict();
}

Verdict check_unpack_places(Subject& subject, const WordsCase& c) {
  const auto expected = oracle::unpacked(c.layout->id(), c.words);
  if (!expected) return not_applicable("the oracle does not know this layout");
  const Answer<std::vector<std::int64_t>> actual = call_unpack(subject, *c.layout, c.words);
  if (!actual.ok()) return *unanswered(actual, c.layout->id(), text_of_words(c.words));
  Judge judge;
  compare_fields(judge, *c.layout, *expected, actual.value, [&] {
    return std::pair(text_of_words(c.words), std::string("The fields are bits of the double, not its numeric value."));
  });
  return std::move(judge).verdict();
}

/// Layouts that it packs and unpacks, where it also prints and parses numbers.
std::vector<std::string> variants_with_text(const SubjectInfo& info) {
  if (info.find(Operation::print, "json") == nullptr || info.find(Operation::parse, "json") == nullptr) return {};
  return declared_variants(info, Operation::pack, Operation::unpack);
}

}  // namespace

std::vector<Law> params_laws() {
  return {
      make_law<ParametersCase>("params.unpack_inverts_pack",
                               "Unpacking a packed double gives the fields that were packed.",
                               {Operation::pack, Operation::unpack}, parameters_cases,
                               variants_of(Operation::pack, Operation::unpack), check_round_trip),
      make_law<ParametersCase>(
          "params.fields_survive_text",
          "Parameters that are packed, printed as JSON numbers, parsed and unpacked are those that were packed.",
          {Operation::pack, Operation::print, Operation::parse, Operation::unpack}, parameters_cases,
          variants_with_text, check_survives_text),
      make_law<ParametersCase>(
          "params.out_of_range_fields_are_refused",
          "A value that does not fit its field, and fields that make their word an infinity or a NaN, are refused.",
          {Operation::pack}, parameters_cases, variants_of(Operation::pack), check_refusal),
      make_law<ParametersCase>("params.pack_puts_each_field_in_its_place",
                               "Each field is packed into the bits that the declared layout gives it.",
                               {Operation::pack}, parameters_cases, variants_of(Operation::pack), check_pack_places),
      make_law<WordsCase>("params.unpack_reads_each_field_from_its_place",
                          "Each field is read from the bits that the declared layout gives it, whatever the other "
                          "bits are.",
                          {Operation::unpack}, words_cases, variants_of(Operation::unpack), check_unpack_places)};
}

}  // namespace packcheck
