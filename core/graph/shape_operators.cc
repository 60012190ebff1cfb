// Operators without windows.
#include <algorithm>
#include <limits>

#include "core/graph/shape_arithmetic.h"
#include "core/graph/shape_functions.h"

namespace packcheck {
namespace {

/// Sizes equal or 1, aligned at the last axis: NumPy's rule.
Result<Dimensions> broadcast(const Dimensions& a, const Dimensions& b, const ShapeOperator& op,
                             const ShapeRules& rules) {
  const bool from_last = rules.alignment == Alignment::last_axis;
  Dimensions shape(std::max(a.size(), b.size()), 1);
  const auto at = [&](const Dimensions& one, std::size_t i) -> std::int64_t {
    const std::size_t missing = from_last ? shape.size() - one.size() : 0;
    return i < missing || i - missing >= one.size() ? 1 : one[i - missing];
  };
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t one = at(a, i);
    const std::int64_t other = at(b, i);
    if (one != other && one != 1 && other != 1)
      return refuse(shape_text(a) + " and " + shape_text(b) + " differ in axis " + std::to_string(i), op.id(),
                    "equal sizes, or 1");
    shape[i] = std::max(one, other);
  }
  return shape;
}

Result<Dimensions> counted(Dimensions shape, const ShapeOperator& op) {
  if (const auto count = element_count(shape, op.id() + " output"); !count) return tl::unexpected(count.error());
  return shape;
}

}  // namespace

Result<Dimensions> infer_linear(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules&) {
  const Dimensions& input = q.shapes[0];
  const Dimensions& weight = q.shapes[1];
  if (input.empty()) return refuse("input is a scalar", op.id(), "[..., in]");
  if (auto ok = check_rank(weight, 2, "weight", op, "[out, in]"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_size(weight[1], input.back(), "weight's second size", op, "the input's last size"); !ok)
    return tl::unexpected(ok.error());
  if (q.shapes.size() == 3) {
    if (auto ok = check_rank(q.shapes[2], 1, "bias", op, "[out]"); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_size(q.shapes[2][0], weight[0], "bias", op, "the weight's first size"); !ok)
      return tl::unexpected(ok.error());
  }
  Dimensions output = input;
  output.back() = weight[0];
  return counted(std::move(output), op);
}

Result<Dimensions> infer_matmul(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const Dimensions& a = q.shapes[0];
  const Dimensions& b = q.shapes[1];
  if (a.size() < 2 || b.size() < 2)
    return refuse(shape_text(a) + " and " + shape_text(b), op.id(), "matrices: two axes or more each");
  const bool transposed = rules.matmul == MatmulOrder::right_transposed;
  const std::int64_t inner = b[b.size() - (transposed ? 1 : 2)];
  if (auto ok = check_size(inner, a.back(), "the second matrix's number of rows", op, "the first one's columns"); !ok)
    return tl::unexpected(ok.error());
  Result<Dimensions> output = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2}, op, rules);
  if (!output) return output;
  output->push_back(a[a.size() - 2]);
  output->push_back(b[b.size() - (transposed ? 2 : 1)]);
  return counted(std::move(*output), op);
}

Result<Dimensions> infer_reduce(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const Dimensions& input = q.shapes[0];
  if (q.attributes[0] != 0 && q.attributes[0] != 1)
    return refuse("keep_dimensions is " + std::to_string(q.attributes[0]), op.id(), "0 or 1");
  std::vector<bool> reduced(input.size(), q.attributes.size() == 1);
  for (const std::int64_t axis : q.attributes.subspan(1)) {
    const Result<std::size_t> at = checked_axis(axis, input.size(), op);
    if (!at) return tl::unexpected(at.error());
    if (reduced[*at]) return refuse("axis " + std::to_string(axis) + " is named twice", op.id(), "each axis once");
    reduced[*at] = true;
  }
  const bool keep = q.attributes[0] == 1 || rules.reduced_axes == ReducedAxes::always_kept;
  Dimensions output;
  for (std::size_t i = 0; i < input.size(); ++i)
    if (keep || !reduced[i]) output.push_back(reduced[i] ? 1 : input[i]);
  return output;
}

Result<Dimensions> infer_concat(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  Dimensions output = q.shapes[0];
  const Result<std::size_t> declared = checked_axis(q.attributes[0], output.size(), op);
  if (!declared) return tl::unexpected(declared.error());
  const std::size_t axis = rules.concat_axis == ConcatAxis::first ? 0 : *declared;
  Wide sum = output[axis];
  for (const Dimensions& shape : q.shapes.subspan(1)) {
    bool fits = shape.size() == output.size();
    for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = i == axis || shape[i] == output[i];
    if (!fits)
      return refuse(shape_text(shape) + " after " + shape_text(q.shapes[0]), op.id(),
                    "equal sizes but for axis " + std::to_string(axis));
    sum += shape[axis];
  }
  if (sum > std::numeric_limits<std::int64_t>::max())
    return refuse("the sizes of axis " + std::to_string(axis) + " overflow", op.id(), "a sum of at most 2^63 - 1");
  output[axis] = static_cast<std::int64_t>(sum);
  return counted(std::move(output), op);
}

Result<Dimensions> infer_broadcast(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  Result<Dimensions> output = q.shapes[0];
  for (std::size_t i = 1; i < q.shapes.size() && output; ++i) output = broadcast(*output, q.shapes[i], op, rules);
  if (!output) return output;
  return counted(std::move(*output), op);
}

Result<Dimensions> infer_elementwise(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules&) {
  for (const Dimensions& shape : q.shapes)
    if (shape != q.shapes[0])
      return refuse(shape_text(shape) + " beside " + shape_text(q.shapes[0]), op.id(), "equal shapes");
  return q.shapes[0];
}

Result<Dimensions> infer_flatten(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const Dimensions& input = q.shapes[0];
  const Result<std::size_t> axis = checked_axis(q.attributes[0], input.size(), op);
  if (!axis) return tl::unexpected(axis.error());
  const auto first = input.begin() + static_cast<std::ptrdiff_t>(*axis);
  const Result<std::int64_t> rest = element_count({first, input.end()}, op.id(), rules);
  if (!rest) return tl::unexpected(rest.error());
  Dimensions output(input.begin(), first);
  output.push_back(*rest);
  return output;
}

Result<Dimensions> infer_cross_entropy(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules&) {
  if (auto ok = check_rank(q.shapes[0], 2, "logits", op, "[N, C]"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_rank(q.shapes[1], 1, "labels", op, "[N]"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_size(q.shapes[1][0], q.shapes[0][0], "labels", op, "one for each row of the logits"); !ok)
    return tl::unexpected(ok.error());
  return Dimensions{};
}

Result<Dimensions> infer_batchnorm2d(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules&) {
  const Dimensions& input = q.shapes[0];
  if (auto ok = check_rank(input, 4, "input", op, "[N, C, H, W]"); !ok) return tl::unexpected(ok.error());
  for (const Dimensions& shape : q.shapes.subspan(1)) {
    if (auto ok = check_rank(shape, 1, "parameter", op, "[C]"); !ok) return tl::unexpected(ok.error());
    if (auto ok = check_size(shape[0], input[1], "parameter", op, "the channels"); !ok)
      return tl::unexpected(ok.error());
  }
  return input;
}

Result<Dimensions> infer_layernorm(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules&) {
  const Dimensions& input = q.shapes[0];
  const std::int64_t trailing = q.attributes[0];
  if (trailing < 1 || trailing > static_cast<std::int64_t>(input.size()))
    return refuse(std::to_string(trailing) + " trailing axes", op.id(),
                  "1 to " + std::to_string(input.size()) + ", the input's axes");
  const Dimensions normalized(input.end() - static_cast<std::ptrdiff_t>(trailing), input.end());
  for (const Dimensions& shape : q.shapes.subspan(1))
    if (shape != normalized)
      return refuse("parameter is " + shape_text(shape), op.id(), shape_text(normalized) + ", the trailing axes");
  return input;
}

Result<Dimensions> infer_element_count(const ShapeOperator& op, const ShapeQuestion& q, const ShapeRules& rules) {
  const Result<std::int64_t> count = element_count(q.shapes[0], op.id(), rules);
  if (!count) return tl::unexpected(count.error());
  return Dimensions{*count};
}

}  // namespace packcheck
