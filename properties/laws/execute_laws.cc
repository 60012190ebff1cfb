// Laws of running operators, forward and backward. The oracle is properties/oracles/execute_oracle.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>

#include "core/format/convert.h"
#include "core/text/number_text.h"
#include "properties/cases/operators.h"
#include "properties/describe.h"
#include "properties/laws/answers.h"
#include "properties/oracles/execute_oracle.h"
#include "properties/oracles/shape_oracle.h"

namespace packcheck {
namespace {

using oracle::Bounded;
using oracle::BoundedArray;
using Real = long double;
using Numbers = std::vector<double>;

Numbers numbers_of(const Bytes& elements, Format format) {
  const std::size_t size = spec(format).bytes();
  Numbers numbers(elements.size() / size);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    float single = 0;
    if (format == Format::f64)
      std::memcpy(&numbers[i], elements.data() + i * size, size);
    else
      std::memcpy(&single, elements.data() + i * size, size);
    if (format != Format::f64) numbers[i] = single;
  }
  return numbers;
}

/// A case as the oracle takes it, and what it says of the output.
struct Known {
  oracle::ExecutedNode node;
  Numbers upstream;
  std::optional<oracle::BoundedArray> output;  ///< nothing: to be refused
};

/// What no subject has to run, or to refuse: sizes and work past what a case is for.
bool is_too_large(const oracle::ExecutedNode& node, const std::vector<std::int64_t>& output) {
  constexpr std::int64_t kMostAttribute = std::int64_t{1} << 31;
  constexpr std::int64_t kMostNumbers = 4096;
  for (const std::int64_t attribute : node.attributes)
    if (attribute > kMostAttribute || attribute < -kMostAttribute) return true;
  std::int64_t count = 1;
  for (const std::int64_t size : output) count = size > kMostNumbers / count ? kMostNumbers + 1 : count * size;
  if (node.op == "maxpool2d" || node.op == "avgpool2d")  // a window may be large where its cells are padding
    for (std::size_t i = 0; i < 2; ++i) count = std::max(count, node.attributes[i]);
  return count > kMostNumbers;
}

/// Nothing, with why, where the law has nothing to say about the case.
std::optional<Verdict> look_at(const NodeRequest& n, Known& known) {
  known.node = {std::string(n.op->op), n.format == Format::f32, n.attributes, {}, {}};
  known.node.shapes.assign(n.shapes.begin(), n.shapes.end());
  for (const Bytes& input : n.inputs) known.node.inputs.push_back(numbers_of(input, n.format));
  known.upstream = numbers_of(n.upstream, n.format);
  const auto shape = oracle::output_shape_of(known.node);
  if (shape && is_too_large(known.node, *shape)) return not_applicable("more work than a case is for");
  if (shape) known.output = oracle::output_of(known.node);
  return std::nullopt;
}
constexpr const char* kImpossible = "a node that is to be refused";

std::string text_of(const NodeRequest& n) {
  std::string text = n.variant();
  for (const std::int64_t attribute : n.attributes) text.append(" ").append(std::to_string(attribute));
  for (std::size_t i = 0; i < n.shapes.size(); ++i) {
    text.append(" ").append(shape_text(n.shapes[i])).append(" =");
    const std::size_t size = spec(n.format).bytes();
    const std::size_t count = i < n.inputs.size() ? n.inputs[i].size() / size : 0;
    constexpr std::size_t kShown = 12;
    for (std::size_t at = 0; at < std::min(count, kShown); ++at)
      text.append(" ").append(
          print_number(convert(n.format, Format::f64, load_element(spec(n.format), n.inputs[i], at)))
              .value_or("NaN or Infinity"));
    if (count > kShown) text.append(" …");
  }
  return text;
}

std::string text_of(const Bounded& right) {
  char text[80];
  std::snprintf(text, sizeof text, "%.17Lg, off by at most %.2Lg", right.value, right.bound);
  return std::string(text) + (right.or_nan ? ", or NaN" : "");
}

bool is_right(double actual, const Bounded& right, bool to_the_bit) {
  if (std::isnan(actual) || std::isnan(right.value)) return right.or_nan && std::isnan(actual);
  if (std::isinf(actual) || std::isinf(right.value)) return actual == static_cast<double>(right.value);
  if (to_the_bit && std::signbit(actual) != std::signbit(right.value)) return false;
  return std::fabs(Real{actual} - right.value) <= right.bound;
}

/// Compares one array with what the definition gives; the place names the array.
void compare(Judge& judge, const NodeRequest& n, const std::string& array, const Numbers& actual,
             const BoundedArray& right) {
  for (std::size_t i = 0; i < right.size(); ++i) {
    judge.add_checked(1);
    if (is_right(actual[i], right[i], n.op->op == "flatten")) continue;
    judge.broken(
        {n.variant().append(" ").append(array), text_of(n), "element " + std::to_string(i) + ": " + text_of(right[i]),
         "element " + std::to_string(i) + ": " + describe(Format::f64, std::bit_cast<std::uint64_t>(actual[i])),
         "No order of the sums, and no fused product, gives this."});
    return;
  }
}

/// An answer of another number of elements is none of this node.
bool has_count(Judge& judge, const NodeRequest& n, const std::string& array, std::size_t count, std::size_t right) {
  if (count == right) return true;
  judge.broken({n.variant().append(" number of elements of ").append(array), text_of(n), std::to_string(right),
                std::to_string(count), "The shapes say how many there are."});
  return false;
}

Verdict check_output(Subject& subject, const NodeRequest& n) {
  Known known;
  if (auto verdict = look_at(n, known)) return *verdict;
  if (!known.output) return not_applicable(kImpossible);
  const Answer<Bytes> output = call_execute(subject, n);
  if (auto verdict = unanswered(output, n.variant(), text_of(n))) return *verdict;
  Judge judge;
  const Numbers actual = numbers_of(output.value, n.format);
  if (has_count(judge, n, "output", actual.size(), known.output->size()))
    compare(judge, n, "output", actual, *known.output);
  return std::move(judge).verdict();
}

/// Parts an answer into the gradients of the inputs; nothing where their number is wrong.
std::vector<Numbers> parted(const NodeRequest& n, const Numbers& all, const std::vector<BoundedArray>& right,
                            Judge& judge) {
  std::size_t count = 0;
  for (const BoundedArray& one : right) count += one.size();
  if (!has_count(judge, n, "gradients", all.size(), count)) return {};
  std::vector<Numbers> parts;
  auto at = all.begin();
  for (const BoundedArray& one : right) {
    parts.emplace_back(at, at + static_cast<std::ptrdiff_t>(one.size()));
    at += static_cast<std::ptrdiff_t>(one.size());
  }
  return parts;
}

Verdict check_gradients(Subject& subject, const NodeRequest& n) {
  Known known;
  if (auto verdict = look_at(n, known)) return *verdict;
  const auto right = known.output ? oracle::gradients_of(known.node, known.upstream) : std::nullopt;
  if (!right) return not_applicable(kImpossible);
  const Answer<Bytes> answer = call_execute_backward(subject, n);
  if (auto verdict = unanswered(answer, n.variant(), text_of(n))) return *verdict;
  Judge judge;
  const std::vector<Numbers> parts = parted(n, numbers_of(answer.value, n.format), *right, judge);
  for (std::size_t k = 0; k < parts.size(); ++k)
    compare(judge, n, "gradient of input " + std::to_string(k), parts[k], (*right)[k]);
  return std::move(judge).verdict();
}

/// Whether the values, one input after the other, are as many as the shapes want, though cut elsewhere.
bool is_cut_elsewhere(const oracle::ExecutedNode& node) {
  std::size_t values = 0;
  std::size_t wanted = 0;
  for (const Numbers& input : node.inputs) values += input.size();
  for (const auto& shape : node.shapes) wanted += static_cast<std::size_t>(element_count(shape, "").value_or(0));
  return values == wanted;
}

Verdict check_refusal(Subject& subject, const NodeRequest& n) {
  Known known;
  if (auto verdict = look_at(n, known)) return *verdict;
  const bool forward_possible = known.output.has_value();
  const bool backward_possible = forward_possible && oracle::gradients_of(known.node, known.upstream);
  if (backward_possible) return not_applicable("the node can be run");
  if (!oracle::output_shape_of(known.node) && is_cut_elsewhere(known.node) &&
      oracle::inferred_shape(n.op->shape_operator, n.attributes, known.node.shapes))
    return not_applicable("the values make other inputs of these shapes");
  Judge judge;
  for (const bool backward : {false, true}) {
    if (!backward && forward_possible) continue;
    judge.add_checked(1);
    const Answer<Bytes> answer = backward ? call_execute_backward(subject, n) : call_execute(subject, n);
    if (answer.outcome == Outcome::refused) continue;
    if (!answer.ok()) return *unanswered(answer, n.variant(), text_of(n));
    judge.broken({n.variant().append(backward ? " backward" : " forward").append(" not refused"), text_of(n),
                  "a refusal", std::to_string(answer.value.size()) + " bytes",
                  "Whatever was computed, it was read from, or written to, places that no shape names."});
  }
  return std::move(judge).verdict();
}

// ---- gradients against outputs, without the definition's values ----

bool all_finite(const oracle::ExecutedNode& node) {
  for (const Numbers& input : node.inputs)
    for (const double number : input)
      if (!std::isfinite(number)) return false;
  return true;
}

/// A sum whose own error is small beside what its terms may be off by.
struct Product {
  Real value = 0;
  Real bound = 0;

  void add(Real a, Real b, Real bound_of_b) {
    value += a * b;
    bound += std::fabs(a) * bound_of_b + 0x1p-56L * std::fabs(a * b);
  }
};

Product product_of(const Numbers& a, const Numbers& b, const BoundedArray& bounds_of_b) {
  Product sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum.add(a[i], b[i], bounds_of_b[i].bound);
  return sum;
}

/// Output and gradients of a node of finite numbers.
struct Ran {
  Known known;
  std::vector<BoundedArray> right;
  Numbers output;
  std::vector<Numbers> gradients;
};

/// Nothing where both were answered; a verdict otherwise.
std::optional<Verdict> run(Subject& subject, const NodeRequest& n, Ran& ran) {
  if (auto verdict = look_at(n, ran.known)) return verdict;
  const auto right = ran.known.output ? oracle::gradients_of(ran.known.node, ran.known.upstream) : std::nullopt;
  if (!right) return not_applicable(kImpossible);
  if (!all_finite(ran.known.node)) return not_applicable("NaN or infinities");
  for (const Bounded& number : *ran.known.output)
    if (std::isinf(number.value)) return not_applicable("a window of padding alone");
  ran.right = *right;
  const Answer<Bytes> output = call_execute(subject, n);
  if (auto verdict = unanswered(output, n.variant(), text_of(n))) return verdict;
  const Answer<Bytes> gradients = call_execute_backward(subject, n);
  if (auto verdict = unanswered(gradients, n.variant(), text_of(n))) return verdict;
  ran.output = numbers_of(output.value, n.format);
  Judge judge;
  ran.gradients = parted(n, numbers_of(gradients.value, n.format), ran.right, judge);
  if (!ran.gradients.empty()) (void)has_count(judge, n, "output", ran.output.size(), ran.known.output->size());
  Verdict verdict = std::move(judge).verdict();
  if (verdict.ruling == Ruling::broken) return verdict;
  return std::nullopt;
}

std::string text_of(const Product& product) {
  char text[80];
  std::snprintf(text, sizeof text, "%.17Lg, off by at most %.2Lg", product.value, product.bound);
  return text;
}

void compare(Judge& judge, const NodeRequest& n, const std::string& what, const Product& one, const Product& other) {
  judge.add_checked(1);
  if (std::fabs(one.value - other.value) <= one.bound + other.bound) return;  // false for a NaN, too
  judge.broken({n.variant().append(" ").append(what), text_of(n), text_of(one), text_of(other),
                "The backward pass is not that of this forward pass."});
}

/// Each operator is linear in some of its inputs together: <f(x), u> = <x, Jᵀu> over those. A maximum and relu are
/// linear where they are, and of degree 1.
Verdict check_adjoint(Subject& subject, const NodeRequest& n) {
  Ran ran;
  if (auto verdict = run(subject, n, ran)) return *verdict;
  Judge judge;
  const std::vector<Numbers>& x = ran.known.node.inputs;
  if (n.op->op == "softmax_cross_entropy") {  // adding one number to all logits of a row changes nothing
    const auto classes = static_cast<std::size_t>(n.shapes[0][1]);
    for (std::size_t row = 0; row < x[1].size(); ++row) {
      Product sum;
      for (std::size_t c = 0; c < classes; ++c)
        sum.add(1, ran.gradients[0][row * classes + c], ran.right[0][row * classes + c].bound);
      compare(judge, n, "sum of a row", {}, sum);
    }
    return std::move(judge).verdict();
  }
  const Product of_output = product_of(ran.known.upstream, ran.output, *ran.known.output);
  const bool bilinear = n.op->op == "conv2d" || n.op->op == "linear";
  for (std::size_t first = 0; first < (bilinear ? 2U : 1U); ++first) {
    Product of_inputs = product_of(x[first], ran.gradients[first], ran.right[first]);
    for (std::size_t k = bilinear ? 2 : 1; k < x.size(); ++k) {
      const Product more = product_of(x[k], ran.gradients[k], ran.right[k]);
      of_inputs.value += more.value;
      of_inputs.bound += more.bound;
    }
    compare(judge, n, "adjoint of input " + std::to_string(first), of_output, of_inputs);
  }
  return std::move(judge).verdict();
}

/// Which element the slope is taken of: some element, the same for the same case.
struct Place {
  std::size_t input;
  std::size_t element;
};
Place place_of(const NodeRequest& n, const std::vector<Numbers>& gradients) {
  std::size_t count = 0;
  for (const Numbers& one : gradients) count += one.size();
  std::size_t at = static_cast<std::size_t>(derived_seed(0, bytes_to_string(n.upstream).append(text_of(n)))) % count;
  Place place{0, 0};
  while (at >= gradients[place.input].size()) at -= gradients[place.input++].size();
  place.element = at;
  return place;
}

/// Whether the function is smooth between `low` and `high`, where the element moves.
bool is_smooth(const oracle::ExecutedNode& node, const Place& place, double low, double high) {
  if (node.op == "relu") return low > 0 || high < 0;
  if (node.op == "softmax_cross_entropy") {
    for (const double number : node.inputs[0])
      if (std::fabs(number) > 20) return false;  // far from the probability at which the loss is cut off
  }
  if (node.op != "maxpool2d") return true;
  for (std::size_t i = 0; i < node.inputs[0].size(); ++i)
    if (i != place.element && node.inputs[0][i] >= low && node.inputs[0][i] <= high) return false;
  return true;
}

Verdict check_slope(Subject& subject, const NodeRequest& n) {
  Ran ran;
  if (auto verdict = run(subject, n, ran)) return *verdict;
  if (n.format != Format::f64) return not_applicable("f64 alone is fine enough");
  const Place place = place_of(n, ran.gradients);
  const double middle = ran.known.node.inputs[place.input][place.element];
  constexpr double kStep = 0x1p-8;
  const double ends[] = {middle + kStep, middle - kStep};
  if (!is_smooth(ran.known.node, place, ends[1], ends[0])) return not_applicable("a kink is near");
  if (ends[0] - middle != middle - ends[1]) return not_applicable("the steps differ");
  Product difference;
  for (const double end : ends) {
    NodeRequest moved = n;
    std::memcpy(moved.inputs[place.input].data() + place.element * sizeof end, &end, sizeof end);
    Known known;
    if (auto verdict = look_at(moved, known)) return *verdict;
    const Answer<Bytes> output = call_execute(subject, moved);
    if (auto verdict = unanswered(output, n.variant(), text_of(moved))) return *verdict;
    const Numbers numbers = numbers_of(output.value, n.format);
    Judge judge;
    if (!has_count(judge, moved, "output", numbers.size(), known.output->size())) return std::move(judge).verdict();
    for (std::size_t j = 0; j < numbers.size(); ++j)
      difference.add(end > middle ? ran.known.upstream[j] : -ran.known.upstream[j], numbers[j],
                     (*known.output)[j].bound);
  }
  const Real width = Real{ends[0]} - ends[1];
  Product slope{difference.value / width, difference.bound / width};
  // A central difference is off by h² / 6 of the third derivative, which is below 0.0963 for a log of a sum of
  // exponentials: the third cumulant of a choice between two. The others are linear here.
  if (n.op->op == "softmax_cross_entropy")
    slope.bound += Real{0.0963} * kStep * kStep / 6 * std::fabs(Real{ran.known.upstream[0]});
  const Product gradient{ran.gradients[place.input][place.element], ran.right[place.input][place.element].bound};
  Judge judge;
  compare(judge, n, "slope of input " + std::to_string(place.input), slope, gradient);
  return std::move(judge).verdict();
}

std::vector<std::string> in_f64(const SubjectInfo& info) {
  std::vector<std::string> variants;
  for (std::string& variant : declared_variants(info, Operation::execute, Operation::execute_backward))
    if (node_variant(variant)->format == Format::f64) variants.push_back(std::move(variant));
  return variants;
}

}  // namespace

std::vector<Law> execute_laws() {
  const auto both = variants_of(Operation::execute, Operation::execute_backward);
  return {make_law<NodeRequest>("execute.outputs_are_those_of_the_definition",
                                "The output of an operator is what its definition gives, to within the rounding of its "
                                "sums.",
                                {Operation::execute}, node_cases, variants_of(Operation::execute), check_output),
          make_law<NodeRequest>("execute.gradients_are_those_of_the_definition",
                                "The gradients of an operator are what its definition gives, to within the rounding of "
                                "their sums.",
                                {Operation::execute_backward}, node_cases, variants_of(Operation::execute_backward),
                                check_gradients),
          make_law<NodeRequest>("execute.impossible_nodes_are_refused",
                                "A node whose numbers, shapes and attributes do not fit each other is refused, "
                                "forward and backward.",
                                {Operation::execute, Operation::execute_backward}, node_cases, both, check_refusal),
          make_law<NodeRequest>("execute.backward_is_the_adjoint_of_forward",
                                "The backward pass is the adjoint of the forward pass: <Jv, u> is <v, Jᵀu>.",
                                {Operation::execute, Operation::execute_backward}, node_cases, both, check_adjoint),
          make_law<NodeRequest>("execute.gradients_are_slopes",
                                "A gradient is the slope that outputs at both sides of its element give.",
                                {Operation::execute, Operation::execute_backward}, node_cases, in_f64, check_slope)};
}

}  // namespace packcheck
