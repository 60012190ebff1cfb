// Laws of networks of mixed formats. The oracle is properties/oracles/precision_oracle.h.
#include <bit>
#include <cmath>

#include "properties/cases/networks.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/laws/network_export_laws.h"
#include "subjects/network_calls.h"

namespace packcheck {
namespace {

using oracle::LayerFormat;
using oracle::NetworkDescription;
using oracle::NetworkResult;
using oracle::NetworkRow;
using Numbers = std::vector<double>;
using Bits = std::vector<std::uint64_t>;

std::uint64_t bits_of(double number) { return std::bit_cast<std::uint64_t>(number); }
/// Bits are equal, or both are some NaN: which one is no rule's business.
bool same(double expected, std::uint64_t actual) {
  return std::isnan(expected) ? std::isnan(std::bit_cast<double>(actual)) : bits_of(expected) == actual;
}
std::string number_text(std::uint64_t bits) { return describe(Format::f64, bits); }

/// The first difference of two runs of numbers; nothing where there is none.
struct Difference {
  std::string expected;
  std::string actual;
};
std::optional<Difference> difference(const Numbers& expected, const Bits& actual) {
  if (expected.size() != actual.size())
    return Difference{std::to_string(expected.size()) + " numbers", std::to_string(actual.size()) + " numbers"};
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!same(expected[i], actual[i]))
      return Difference{"number " + std::to_string(i) + ": " + number_text(bits_of(expected[i])),
                        "number " + std::to_string(i) + ": " + number_text(actual[i])};
  return std::nullopt;
}

std::string operators_text(const std::vector<std::string>& operators) {
  std::string text;
  for (const std::string& one : operators) text.append(text.empty() ? "" : ", ").append(one);
  return text;
}
template <class Rows>
std::vector<std::string> operators_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.op);
  return names;
}

/// A run that a law looks at: sound, answered, and of the nodes that the network has.
struct Run {
  NetworkResult expected;
  NetworkAnswer actual;
};
/// Gives the run, or the verdict where there is nothing to look at.
tl::expected<Run, Verdict> run_of(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return tl::unexpected(not_applicable("this is no network"));
  Answer<NetworkAnswer> answer = call_run_network(subject, c.variant, c.text);
  if (auto verdict = unanswered(answer, "run", describe_text(c.text))) return tl::unexpected(std::move(*verdict));
  Run run{oracle::run_network(*d, c.variant == kBoundaryCasts), std::move(answer.value)};
  const auto expected = operators_of(run.expected.rows);
  const auto actual = operators_of(run.actual.nodes);
  if (expected == actual) return run;
  Judge judge;
  judge.broken({"operators", describe_text(c.text), operators_text(expected), operators_text(actual),
                "Other operations, or in other formats, than the network has."});
  return tl::unexpected(std::move(judge).verdict());
}

Verdict check_rounding(Subject& subject, const NetworkCase& c) {
  const auto run = run_of(subject, c);
  if (!run) return run.error();
  Judge judge;
  for (std::size_t i = 0; i < run->expected.rows.size(); ++i) {
    const NetworkRow& expected = run->expected.rows[i];
    judge.add_checked(expected.values.size());
    if (const auto found = difference(expected.values, run->actual.nodes[i].values)) {
      judge.broken({expected.op, describe_text(c.text), found->expected, found->actual,
                    "Node " + std::to_string(i) +
                        " of the network. Every operation is rounded to the format of its "
                        "node, to nearest even, once."});
      break;  // what follows is made of it
    }
  }
  return std::move(judge).verdict();
}

/// The first number that a format does not hold.
std::optional<std::uint64_t> misfit(LayerFormat format, const Bits& numbers) {
  for (const std::uint64_t bits : numbers) {
    const auto number = std::bit_cast<double>(bits);
    if (!same(oracle::fit(format, number), bits)) return bits;
  }
  return std::nullopt;
}

Verdict check_formats(Subject& subject, const NetworkCase& c) {
  const auto run = run_of(subject, c);
  if (!run) return run.error();
  Judge judge;
  for (const NodeRun& node : run->actual.nodes) {
    const LayerFormat format = format_of(node.op);
    const std::string name(oracle::layer_format_name(format));
    judge.add_checked(node.values.size());
    const auto report = [&](const std::string& place, std::uint64_t bits) {
      judge.broken({place, describe_text(c.text), "numbers of " + name, number_text(bits),
                    "A tensor of " + name + " holds a number that " + name + " does not have."});
    };
    if (const auto bits = misfit(format, node.values)) report(node.op, *bits);
    if (!node.gradient) continue;
    if (const auto bits = misfit(format, *node.gradient)) report(node.op + " gradient", *bits);
  }
  return std::move(judge).verdict();
}

Verdict check_gradients(Subject& subject, const NetworkCase& c) {
  const auto run = run_of(subject, c);
  if (!run) return run.error();
  Judge judge;
  for (std::size_t i = run->expected.rows.size(); i-- > 0;) {
    const NetworkRow& expected = run->expected.rows[i];
    const NodeRun& actual = run->actual.nodes[i];
    const std::string& place = c.variant;
    const auto words = [](bool has) { return has ? "a gradient" : "no gradient"; };
    judge.add_checked(1 + expected.gradient.size());
    if (expected.has_gradient != actual.gradient.has_value())
      judge.broken({place, describe_text(c.text), words(expected.has_gradient), words(actual.gradient.has_value()),
                    "Node " + std::to_string(i) + " " + expected.op +
                        ". A cast stops gradients in phase 1 and casts them in phase 2."});
    else if (expected.has_gradient != actual.claims_gradient)
      judge.broken({place + " claim", describe_text(c.text), std::string("claims ") + words(expected.has_gradient),
                    std::string("claims ") + words(actual.claims_gradient),
                    "Node " + std::to_string(i) + " claims what it does not get: training leaves it as it is."});
    if (!expected.has_gradient || !actual.gradient) continue;
    if (const auto found = difference(expected.gradient, *actual.gradient)) {
      judge.broken({place, describe_text(c.text), found->expected, found->actual,
                    "Gradient of node " + std::to_string(i) + ", rounded to the format of the node."});
      break;
    }
  }
  return std::move(judge).verdict();
}

Verdict check_bound(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return not_applicable("this is no network");
  const std::optional<Numbers> bounds = oracle::output_bounds(*d);
  if (!bounds) return not_applicable("a number is not finite");
  const NetworkDescription wide = oracle::widened(*d);
  std::vector<Bits> outputs;
  for (const std::string& text : {c.text, oracle::network_text(wide)}) {
    const Answer<NetworkAnswer> answer = call_run_network(subject, c.variant, text);
    if (auto verdict = unanswered(answer, "run", describe_text(text))) return *verdict;
    outputs.push_back(answer.value.nodes.empty() ? Bits() : answer.value.nodes.back().values);
  }
  Judge judge;
  judge.add_checked(bounds->size());
  const Numbers narrow_right = oracle::run_network(*d, true).rows.back().values;
  const Numbers wide_right = oracle::run_network(wide, true).rows.back().values;
  for (std::size_t i = 0; i < bounds->size() && i < outputs[0].size() && i < outputs[1].size(); ++i) {
    const double error = std::fabs(std::bit_cast<double>(outputs[0][i]) - std::bit_cast<double>(outputs[1][i]));
    if (!(error <= (*bounds)[i]))
      judge.broken({"too far", describe_text(c.text), "at most " + number_text(bits_of((*bounds)[i])) + " apart",
                    number_text(bits_of(error)),
                    "Output " + std::to_string(i) + " of the narrow and the f32 network."});
    if (error == 0 && narrow_right[i] != wide_right[i])
      judge.broken({"no difference", describe_text(c.text), number_text(bits_of(narrow_right[i])),
                    number_text(outputs[0][i]), "The narrow network gives the numbers of the f32 network."});
  }
  if (outputs[0].size() != bounds->size() || outputs[1].size() != bounds->size())
    judge.broken({"outputs", describe_text(c.text), std::to_string(bounds->size()) + " outputs",
                  std::to_string(outputs[0].size()) + " and " + std::to_string(outputs[1].size()),
                  "As many numbers as the last layer has units."});
  return std::move(judge).verdict();
}

Verdict check_equal(Subject& subject, const NetworkCase& c) {
  const std::optional<NetworkDescription> d = oracle::read_network_text(c.text);
  if (!d) return not_applicable("this is no network");
  const std::string wrapped = oracle::network_text(oracle::inside_equal_stage(*d));
  if (!oracle::read_network_text(wrapped)) return not_applicable("stages as deep as they may be");
  std::vector<NetworkAnswer> answers;
  for (const std::string& text : {c.text, wrapped}) {
    Answer<NetworkAnswer> answer = call_run_network(subject, c.variant, text);
    if (auto verdict = unanswered(answer, "run", describe_text(text))) return *verdict;
    answers.push_back(std::move(answer.value));
  }
  Judge judge;
  judge.add_checked(answers[0].nodes.size());
  const std::string one = write_network_answer({answers[0].nodes, {}});
  const std::string other = write_network_answer({answers[1].nodes, {}});
  if (one != other)
    judge.broken({"nodes", describe_text(wrapped), describe_text(one), describe_text(other),
                  "A stage of the dtype that is there already changes nothing and casts nothing."});
  if (answers[0].boundaries.size() != answers[1].boundaries.size())
    judge.broken({"boundaries", describe_text(wrapped), std::to_string(answers[0].boundaries.size()),
                  std::to_string(answers[1].boundaries.size()), "Between equal dtypes there is no boundary."});
  return std::move(judge).verdict();
}

Verdict check_inventory(Subject& subject, const NetworkCase& c) {
  const auto run = run_of(subject, c);
  if (!run) return run.error();
  const auto row = [](std::string_view name, std::string_view outer, std::string_view inner, std::uint64_t inputs,
                      std::uint64_t outputs, std::uint64_t bytes) {
    std::string text(name);
    text.append(" ").append(outer).append(" ").append(inner);
    for (const std::uint64_t number : {inputs, outputs, bytes}) text.append(" ").append(std::to_string(number));
    return text.append("; ");
  };
  std::string expected;
  for (const auto& b : run->expected.boundaries)
    expected += row(b.name, layer_format_name(b.outer), layer_format_name(b.inner), b.inputs, b.outputs, b.bytes);
  std::string actual;
  for (const BoundaryRow& b : run->actual.boundaries)
    actual += row(b.name, spec(b.outer).name, spec(b.inner).name, b.inputs, b.outputs, b.bytes);
  Judge judge;
  judge.add_checked(1);
  if (expected != actual)
    judge.broken({"boundaries", describe_text(c.text), expected, actual,
                  "Name, outer and inner format, numbers in and out, bytes copied in one forward pass."});
  return std::move(judge).verdict();
}

Verdict check_refusal(Subject& subject, const NetworkCase& c) {
  if (oracle::read_network_text(c.text)) return not_applicable("this is a network");
  const Answer<NetworkAnswer> answer = call_run_network(subject, c.variant, c.text);
  Judge judge;
  judge.add_checked(1);
  if (answer.outcome == Outcome::refused) return std::move(judge).verdict();
  if (!answer.ok()) return *unanswered(answer, "unsound network", describe_text(c.text));
  judge.broken({"unsound network", describe_text(c.text), "a refusal",
                describe_text(write_network_answer(answer.value)),
                "Weights of another format are never cast in silence, and nothing is made up."});
  return std::move(judge).verdict();
}

using VariantsOf = std::function<std::vector<std::string>(const SubjectInfo&)>;
/// What both phases have in common is asked in one.
VariantsOf one_phase() {
  return [](const SubjectInfo& info) {
    std::vector<std::string> variants = declared_variants(info, Operation::run_network);
    if (variants.size() > 1) variants.erase(variants.begin(), variants.end() - 1);
    return variants;
  };
}
Law run_law_of(const char* id, const char* sentence, VariantsOf variants,
               Verdict (*check)(Subject&, const NetworkCase&)) {
  return make_law<NetworkCase>(id, sentence, {Operation::run_network}, network_cases, std::move(variants), check);
}

}  // namespace

std::vector<Law> precision_laws() {
  std::vector<Law> laws{
      run_law_of("precision.every_operation_rounds_once",
                 "Each operation of a network is rounded to the format of its layer, once, and each number is the "
                 "one that this gives.",
                 one_phase(), check_rounding),
      run_law_of("precision.numbers_are_of_their_format",
                 "A tensor of a narrow format holds numbers of that format only, gradients included.", one_phase(),
                 check_formats),
      run_law_of("precision.gradients_stop_or_pass_at_boundaries",
                 "Gradients stop at a cast in phase 1 and are cast in phase 2; no tensor claims one that it does "
                 "not get.",
                 variants_of(Operation::run_network), check_gradients),
      run_law_of("precision.narrow_runs_stay_within_the_bound",
                 "A narrow network differs from the same in f32 where rounding must show, and stays within the "
                 "propagated bound.",
                 one_phase(), check_bound),
      run_law_of("precision.equal_dtypes_cost_nothing",
                 "A stage of the dtype that is there already changes no bit and copies nothing.", one_phase(),
                 check_equal),
      run_law_of("precision.boundaries_tell_what_they_copy",
                 "The inventory has each boundary with its formats and the bytes that it copies.", one_phase(),
                 check_inventory),
      run_law_of("precision.unsound_networks_are_refused",
                 "What is no network is refused, and so are weights of another format than their layer's.", one_phase(),
                 check_refusal)};
  for (Law& law : network_export_laws()) laws.push_back(std::move(law));
  return laws;
}

}  // namespace packcheck
