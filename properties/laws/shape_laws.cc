// Laws of the output shapes of operators. The oracle is properties/oracles/shape_oracle.h.
#include <optional>

#include "properties/cases/operators.h"
#include "properties/laws/answers.h"
#include "properties/oracles/shape_oracle.h"

namespace packcheck {
namespace {

std::string text_of(const ShapeRequest& r) {
  std::string text = r.op->id();
  for (std::size_t i = 0; i < r.attributes.size(); ++i) {
    text.append(" ");
    if (i < r.op->attributes.size()) text.append(r.op->attributes[i]).append("=");
    text.append(std::to_string(r.attributes[i]));
  }
  for (const Dimensions& shape : r.shapes) text.append(" ").append(shape_text(shape));
  return text;
}

std::optional<Dimensions> right_shape(const ShapeRequest& r) {
  return oracle::inferred_shape(r.op->id(), r.attributes, r.shapes);
}
constexpr const char* kImpossible = "a request that is to be refused";

/// What of a request matters to its place: the rule alone, since numbers are values.
std::string place_of(const ShapeRequest& r, std::string_view what) { return r.op->id().append(" ").append(what); }

Verdict check_output(Subject& subject, const ShapeRequest& r) {
  const std::optional<Dimensions> expected = right_shape(r);
  if (!expected) return not_applicable(kImpossible);
  const Answer<Dimensions> actual = call_infer_shape(subject, r);
  if (auto verdict = unanswered(actual, r.op->id(), text_of(r))) return *verdict;
  Judge judge;
  judge.add_checked(1);
  if (actual.value == *expected) return std::move(judge).verdict();
  std::size_t axis = 0;
  while (axis < expected->size() && axis < actual.value.size() && (*expected)[axis] == actual.value[axis]) ++axis;
  const bool ranks = expected->size() != actual.value.size();
  judge.broken({place_of(r, ranks ? "rank" : "axis " + std::to_string(axis)), text_of(r), shape_text(*expected),
                shape_text(actual.value), "Whoever reads a buffer by this shape reads other elements."});
  return std::move(judge).verdict();
}

Verdict check_refusal(Subject& subject, const ShapeRequest& r) {
  if (right_shape(r)) return not_applicable("the request has an answer");
  const Answer<Dimensions> actual = call_infer_shape(subject, r);
  Judge judge;
  judge.add_checked(1);
  if (actual.outcome == Outcome::refused) return std::move(judge).verdict();
  if (!actual.ok()) return *unanswered(actual, r.op->id(), text_of(r));
  judge.broken({place_of(r, "not refused"), text_of(r), "a refusal", shape_text(actual.value),
                "There is no such tensor; what is made of this shape is anybody's guess."});
  return std::move(judge).verdict();
}

// ---- windows along one axis ----

bool has_windows(const ShapeOperator& op) {
  return op.family == ShapeFamily::convolution || op.family == ShapeFamily::pooling;
}

/// Height or width of a convolution or pooling.
struct Axis {
  std::size_t index;  ///< 0: height, 1: width

  [[nodiscard]] std::string name() const { return index == 0 ? "height" : "width"; }
  [[nodiscard]] std::int64_t& size(ShapeRequest& r) const { return r.shapes[0][2 + index]; }
  [[nodiscard]] Window window(const ShapeRequest& r) const {
    const Dimensions& a = r.attributes;
    if (r.op->family == ShapeFamily::pooling) return {r.shapes[0][2 + index], a[index], a[2 + index], a[4 + index], 1};
    return {r.shapes[0][2 + index], r.shapes[1][2 + index], a[index], a[2 + index], a[4 + index]};
  }
};
constexpr Axis kAxes[] = {{0}, {1}};

/// Of the output of the request, the number of windows along the axis; the 6-D form has them last.
std::int64_t windows_in(const Dimensions& output, const Axis& axis) { return output[output.size() - 2 + axis.index]; }

Verdict check_one_stride_more(Subject& subject, const ShapeRequest& r) {
  if (!right_shape(r)) return not_applicable(kImpossible);
  ShapeRequest longer = r;
  for (const Axis& axis : kAxes) {
    const Window w = axis.window(r);
    // A stride of 0 stands for the kernel's height.
    const std::int64_t stride = w.stride > 0 ? w.stride : kAxes[0].window(r).kernel;
    const __int128 padded = __int128{w.size} + 2 * __int128{w.padding};
    if (padded <= __int128{w.dilation} * (w.kernel - 1)) return not_applicable("no whole window fits");
    if (__builtin_add_overflow(w.size, stride, &axis.size(longer)))
      return not_applicable("no longer input is possible");
  }
  if (!right_shape(longer)) return not_applicable("no longer input is possible");
  const Answer<Dimensions> before = call_infer_shape(subject, r);
  if (auto verdict = unanswered(before, r.op->id(), text_of(r))) return *verdict;
  const Answer<Dimensions> after = call_infer_shape(subject, longer);
  if (auto verdict = unanswered(after, r.op->id(), text_of(longer))) return *verdict;
  Judge judge;
  judge.add_checked(1);
  Dimensions expected = before.value;
  if (r.op->dialect == "export_6d" && expected.size() == 6) {
    expected[2] = longer.shapes[0][2];
    expected[3] = longer.shapes[0][3];
  }
  if (expected.size() >= 4)
    for (std::size_t i = expected.size() - 2; i < expected.size(); ++i) expected[i] += 1;
  if (expected.size() < 4 || after.value != expected)
    judge.broken({place_of(r, "one stride more"), text_of(longer), shape_text(expected), shape_text(after.value),
                  "One stride less of input gave " + shape_text(before.value) + "."});
  return std::move(judge).verdict();
}

const ShapeOperator& input_size_rule() {
  static const ShapeOperator& rule = **shape_operator_named("input_size:floor");
  return rule;
}

/// Whether the subject says that an axis of `size` cells gives `windows` windows; nothing where such an input is
/// impossible, as one of too many elements is.
std::optional<bool> gives(Subject& subject, ShapeRequest r, const Axis& axis, std::int64_t size, std::int64_t windows) {
  axis.size(r) = size;
  if (size < 1 || !right_shape(r)) return std::nullopt;
  const Answer<Dimensions> output = call_infer_shape(subject, r);
  return output.ok() && output.value.size() >= 4 && windows_in(output.value, axis) == windows;
}

std::string text_of(std::int64_t smallest, std::int64_t largest) {
  if (smallest == largest) return std::to_string(smallest) + " alone";
  return std::to_string(smallest).append(" to ").append(std::to_string(largest));
}

/// Asks back: which inputs give this output. Nothing where all is well.
std::optional<Verdict> check_derived(Subject& subject, const ShapeRequest& r, const Axis& axis, std::int64_t windows,
                                     Judge& judge) {
  const Window w = axis.window(r);
  const ShapeRequest back{&input_size_rule(), {windows, w.kernel, w.stride, w.padding, w.dilation}, {}};
  if (!right_shape(back)) return std::nullopt;  // the subject's number of windows is wrong: another law says so
  const Answer<Dimensions> sizes = call_infer_shape(subject, back);
  if (auto verdict = unanswered(sizes, back.op->id(), text_of(back))) return verdict;
  judge.add_checked(1);
  const std::string place = place_of(r, "derived input size");
  const std::string why = "With " + axis.name() + " " + std::to_string(w.size) + " there are " +
                          std::to_string(windows) +
                          " windows; a reader of the output alone must know which inputs "
                          "give as many.";
  if (sizes.value.size() != 2) {
    judge.broken({place, text_of(back), "smallest and largest size", shape_text(sizes.value), why});
    return std::nullopt;
  }
  const std::int64_t smallest = sizes.value[0];
  const std::int64_t largest = sizes.value[1];
  const auto wrong = [&](std::int64_t size, bool fits) {
    judge.broken({place, text_of(r),
                  std::to_string(size) + (fits ? " cells among the sizes that fit" : " cells not among them"),
                  text_of(smallest, largest), why});
  };
  if (w.size < smallest || w.size > largest) wrong(w.size, true);
  for (const std::int64_t end : {smallest, largest})
    if (end < 1 || !gives(subject, r, axis, end, windows).value_or(true)) wrong(end, false);
  if (smallest > 1 && gives(subject, r, axis, smallest - 1, windows).value_or(false)) wrong(smallest - 1, true);
  if (largest < INT64_MAX && gives(subject, r, axis, largest + 1, windows).value_or(false)) wrong(largest + 1, true);
  return std::nullopt;
}

Verdict check_derivation(Subject& subject, const ShapeRequest& r) {
  if (!right_shape(r)) return not_applicable(kImpossible);
  const Answer<Dimensions> output = call_infer_shape(subject, r);
  if (auto verdict = unanswered(output, r.op->id(), text_of(r))) return *verdict;
  if (output.value.size() < 4) return not_applicable("no output with windows");
  Judge judge;
  for (const Axis& axis : kAxes)
    if (auto verdict = check_derived(subject, r, axis, windows_in(output.value, axis), judge)) return *verdict;
  return std::move(judge).verdict();
}

/// Declared rules whose row `fits`.
template <class Fits>
std::vector<std::string> rules_that(const SubjectInfo& info, Fits fits) {
  std::vector<std::string> variants;
  for (std::string& variant : declared_variants(info, Operation::infer_shape))
    if (fits(**shape_operator_named(variant))) variants.push_back(std::move(variant));
  return variants;
}

std::vector<std::string> rules_with_windows(const SubjectInfo& info) { return rules_that(info, has_windows); }

/// Rules of whole windows, where the subject also says which input sizes an output comes from.
std::vector<std::string> rules_that_lead_back(const SubjectInfo& info) {
  if (info.find(Operation::infer_shape, "input_size:floor") == nullptr) return {};
  return rules_that(info, [](const ShapeOperator& op) { return has_windows(op) && op.dialect == "floor"; });
}

}  // namespace

std::vector<Law> shape_laws() {
  return {
      make_law<ShapeRequest>("shape.outputs_follow_the_declared_rule",
                             "The output shape of an operator is the one that the declared rule gives.",
                             {Operation::infer_shape}, shape_cases, variants_of(Operation::infer_shape), check_output),
      make_law<ShapeRequest>("shape.impossible_requests_are_refused",
                             "A request for which the rule has no output shape is refused, whatever is wrong with "
                             "it.",
                             {Operation::infer_shape}, shape_cases, variants_of(Operation::infer_shape), check_refusal),
      make_law<ShapeRequest>("shape.a_stride_more_of_input_is_a_window_more",
                             "An input that is longer by one stride gives one window more.", {Operation::infer_shape},
                             shape_cases, rules_with_windows, check_one_stride_more),
      make_law<ShapeRequest>("shape.derived_input_sizes_are_exactly_those_that_fit",
                             "The input sizes that are derived from an output are all that give it, and no other.",
                             {Operation::infer_shape}, shape_cases, rules_that_lead_back, check_derivation)};
}

}  // namespace packcheck
