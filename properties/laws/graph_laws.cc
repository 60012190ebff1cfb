// Laws of graphs as JSON text and as bytes. The oracle is properties/oracles/graph_oracle.h.
#include "properties/cases/graphs.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "subjects/graph_calls.h"

namespace packcheck {
namespace {

using oracle::GraphForm;
using oracle::Nodes;

GraphForm form_of(const std::string& dialect) { return oracle::graph_form(dialect).value_or(GraphForm::lossless); }

/// Where two graphs differ, as a breach; nothing where they do not. `say` gives the input and the reason, in texts that
/// are made only when they are needed: a fuzzer asks often.
template <class Say>
void compare(Judge& judge, const std::string& dialect, const Nodes& expected, const Nodes& actual, const Say& say) {
  judge.add_checked(expected.size());
  if (expected == actual) return;
  const std::optional<oracle::GraphDifference> found = oracle::difference(expected, actual);
  if (!found) return;
  std::pair<std::string, std::string> input_and_why = say();
  judge.broken({dialect + " " + found->member, std::move(input_and_why.first), found->place + ": " + found->one,
                found->place + ": " + found->other, std::move(input_and_why.second)});
}

/// What kind of text or bytes is not a graph, for signatures: a dead giveaway, or just "unsound".
std::string kind_of_text(std::string_view text) {
  for (const std::string_view word : {"NaN", "Infinity", "null"})
    if (text.find(word) != std::string_view::npos) return std::string("unsound with ").append(word);
  return "unsound";
}

/// A verdict on an answer to what is no graph: refused, or why not. `say` gives the place and the input.
template <class T, class Say, class Describe>
Verdict must_refuse(const Answer<T>& answer, const Say& say, Describe describe_answer) {
  Judge judge;
  judge.add_checked(1);
  if (answer.outcome == Outcome::refused) return std::move(judge).verdict();
  std::pair<std::string, std::string> place_and_input = say();
  if (!answer.ok()) return *unanswered(answer, place_and_input.first, place_and_input.second);
  judge.broken({std::move(place_and_input.first), std::move(place_and_input.second), "a refusal",
                describe_answer(answer.value),
                "This is no sound graph; an engine would run another graph than was meant, or fail later."});
  return std::move(judge).verdict();
}

Verdict check_import(Subject& subject, const GraphTextCase& c) {
  const std::optional<Nodes> expected = oracle::read_graph_text(c.text, form_of(c.dialect));
  if (!expected) return not_applicable("this is no graph");
  const Answer<Bytes> bytes = call_import_graph(subject, c.dialect, c.text);
  if (!bytes.ok()) return *unanswered(bytes, c.dialect + " import", describe_text(c.text));
  Judge judge;
  const std::optional<Nodes> actual = oracle::read_graph_bytes(bytes.value, form_of(c.dialect));
  if (actual)
    compare(judge, c.dialect, *expected, *actual, [&] {
      return std::pair(describe_text(c.text), std::string("Every member and position of the text stays."));
    });
  else
    judge.broken({c.dialect + " bytes", describe_text(c.text), describe_bytes(oracle::graph_bytes(*expected)),
                  describe_bytes(bytes.value), "The bytes hold no sound graph."});
  return std::move(judge).verdict();
}

Verdict check_text_refusal(Subject& subject, const GraphTextCase& c) {
  if (oracle::read_graph_text(c.text, form_of(c.dialect))) return not_applicable("this is a graph");
  return must_refuse(
      call_import_graph(subject, c.dialect, c.text),
      [&] { return std::pair(c.dialect + " " + kind_of_text(c.text), describe_text(c.text)); },
      [](const Bytes& bytes) { return describe_bytes(bytes); });
}

Verdict check_export(Subject& subject, const GraphBytesCase& c) {
  const GraphForm form = form_of(c.dialect);
  const std::optional<Nodes> expected = oracle::read_graph_bytes(c.ysgp, form);
  if (!expected) return not_applicable("this is no graph");
  const Answer<std::string> text = call_export_graph(subject, c.dialect, c.ysgp);
  if (!oracle::has_json(*expected, form))
    return must_refuse(
        text, [&] { return std::pair(c.dialect + " what JSON cannot say", describe_bytes(c.ysgp)); }, describe_text);
  if (!text.ok()) return *unanswered(text, c.dialect + " export", describe_bytes(c.ysgp));
  Judge judge;
  const std::optional<Nodes> actual = oracle::read_graph_text(text.value, form);
  if (actual)
    compare(judge, c.dialect, *expected, *actual, [&] {
      return std::pair(describe_bytes(c.ysgp), "Nothing is lost or moved in the text: " + describe_text(text.value));
    });
  else
    judge.broken({c.dialect + " text " + kind_of_text(text.value), describe_bytes(c.ysgp), "the graph as JSON text",
                  describe_text(text.value), "A strict reader refuses this text, or finds no sound graph in it."});
  return std::move(judge).verdict();
}

Verdict check_bytes_refusal(Subject& subject, const GraphBytesCase& c) {
  if (oracle::read_graph_bytes(c.ysgp, form_of(c.dialect))) return not_applicable("this is a graph");
  return must_refuse(
      call_export_graph(subject, c.dialect, c.ysgp),
      [&] { return std::pair(c.dialect + " unsound bytes", describe_bytes(c.ysgp)); }, describe_text);
}

Verdict check_round_trip(Subject& subject, const GraphBytesCase& c) {
  const GraphForm form = form_of(c.dialect);
  const std::optional<Nodes> graph = oracle::read_graph_bytes(c.ysgp, form);
  if (!graph || !oracle::has_json(*graph, form)) return not_applicable("this is no graph that JSON can say");
  const Answer<std::string> text = call_export_graph(subject, c.dialect, c.ysgp);
  if (!text.ok()) return *unanswered(text, c.dialect + " export", describe_bytes(c.ysgp));
  const Answer<Bytes> back = call_import_graph(subject, c.dialect, text.value);
  if (!back.ok()) return *unanswered(back, c.dialect + " import", describe_text(text.value));
  Judge judge;
  judge.add_checked(1);
  if (back.value != c.ysgp)
    judge.broken({c.dialect + " bytes", describe_bytes(c.ysgp), describe_bytes(c.ysgp), describe_bytes(back.value),
                  "The text between was " + describe_text(text.value) + "."});
  return std::move(judge).verdict();
}

Verdict check_fixed_point(Subject& subject, const GraphTextCase& c) {
  const Answer<Bytes> bytes = call_import_graph(subject, c.dialect, c.text);
  if (bytes.outcome == Outcome::refused && !oracle::read_graph_text(c.text, form_of(c.dialect)))
    return not_applicable("this is no graph");
  if (!bytes.ok()) return *unanswered(bytes, c.dialect + " import", describe_text(c.text));
  const Answer<std::string> canonical = call_export_graph(subject, c.dialect, bytes.value);
  if (!canonical.ok()) return *unanswered(canonical, c.dialect + " export", describe_text(c.text));
  const Answer<Bytes> again = call_import_graph(subject, c.dialect, canonical.value);
  if (!again.ok()) return *unanswered(again, c.dialect + " import", describe_text(canonical.value));
  const Answer<std::string> fixed = call_export_graph(subject, c.dialect, again.value);
  if (!fixed.ok()) return *unanswered(fixed, c.dialect + " export", describe_text(canonical.value));
  Judge judge;
  judge.add_checked(1);
  if (fixed.value != canonical.value)
    judge.broken({c.dialect + " text", describe_text(c.text), describe_text(canonical.value),
                  describe_text(fixed.value), "Reading what was written and writing it again changes the text."});
  return std::move(judge).verdict();
}

}  // namespace

std::vector<Law> graph_laws() {
  const auto importing = variants_of(Operation::import_graph);
  const auto exporting = variants_of(Operation::export_graph);
  const auto both = variants_of(Operation::import_graph, Operation::export_graph);
  return {make_law<GraphTextCase>("graph.import_keeps_every_value",
                                  "A graph read from JSON text has every member, value and position of the text, bit "
                                  "for bit.",
                                  {Operation::import_graph}, graph_text_cases, importing, check_import),
          make_law<GraphTextCase>("graph.unsound_texts_are_refused",
                                  "JSON text that is no sound graph is refused, whatever it is.",
                                  {Operation::import_graph}, graph_text_cases, importing, check_text_refusal),
          make_law<GraphBytesCase>("graph.export_says_exactly_the_graph",
                                   "A graph written as JSON text is strict JSON of exactly that graph: no NaN, no "
                                   "Infinity, nothing dropped or moved.",
                                   {Operation::export_graph}, graph_bytes_cases, exporting, check_export),
          make_law<GraphBytesCase>("graph.unsound_bytes_are_refused",
                                   "Bytes that are no sound graph are refused, whatever they are.",
                                   {Operation::export_graph}, graph_bytes_cases, exporting, check_bytes_refusal),
          make_law<GraphBytesCase>(
              "graph.import_inverts_export", "A graph written as JSON text and read again is the same bytes.",
              {Operation::import_graph, Operation::export_graph}, graph_bytes_cases, both, check_round_trip),
          make_law<GraphTextCase>(
              "graph.canonical_text_is_a_fixed_point", "Text that was written is written the same after it was read.",
              {Operation::import_graph, Operation::export_graph}, graph_text_cases, both, check_fixed_point)};
}

}  // namespace packcheck
