// Operators of a graph: infer_shape, execute, execute_backward.
#include <cstring>

#include "subjects/operator_calls.h"
#include "subjects/reference/answers.h"

namespace packcheck {
namespace {

template <class T>
std::vector<T> numbers_of(std::string_view bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

template <class T>
std::string bytes_of_numbers(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

/// The values cut into inputs, as many for each as its shape has; the last one takes what is left over, and the
/// executor says what is missing or too much.
template <class T>
std::vector<Tensor<T>> inputs_of(const std::vector<Dimensions>& shapes, std::string_view values) {
  std::vector<Tensor<T>> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Result<std::int64_t> count = element_count(shapes[i], "input");
    const std::size_t left = values.size() / sizeof(T);
    const bool rest = i + 1 == shapes.size() || !count || static_cast<std::uint64_t>(*count) > left;
    const std::size_t own = rest ? left : static_cast<std::size_t>(*count);
    inputs.push_back({shapes[i], numbers_of<T>(values.substr(0, own * sizeof(T)))});
    values.remove_prefix(own * sizeof(T));
  }
  return inputs;
}

template <class T>
Reply run(const ReferenceRules& rules, const ExecOperator& op, Arguments a) {
  const Result<Dimensions> attributes = string_to_integers(a[1], "attributes");
  if (!attributes) return refused(attributes.error());
  const Result<std::vector<Dimensions>> shapes = string_to_shapes(a[2], "shapes");
  if (!shapes) return refused(shapes.error());
  if (a[3].size() % sizeof(T) != 0) return malformed("the values are no whole number of elements");
  const std::vector<Tensor<T>> inputs = inputs_of<T>(*shapes, a[3]);
  const ExecQuestion<T> question{*attributes, inputs};
  if (a.size() == 4) {
    const Result<Tensor<T>> output = run_forward<T>(op, question, rules.exec);
    return output ? answered(bytes_of_numbers(output->elements)) : refused(output.error());
  }
  if (a[4].size() % sizeof(T) != 0) return malformed("the upstream gradient is no whole number of elements");
  const std::vector<T> upstream = numbers_of<T>(a[4]);
  const Result<std::vector<Tensor<T>>> gradients = run_backward<T>(op, question, upstream, rules.exec);
  if (!gradients) return refused(gradients.error());
  std::string all;
  for (const Tensor<T>& gradient : *gradients) all += bytes_of_numbers(gradient.elements);
  return answered(std::move(all));
}

}  // namespace

Reply answer_infer_shape(const ReferenceRules& rules, Arguments a) {
  const Result<const ShapeOperator*> op = shape_operator_named(a[0]);
  if (!op) return {Outcome::skipped, {}, op.error().text()};
  const Result<Dimensions> attributes = string_to_integers(a[1], "attributes");
  if (!attributes) return refused(attributes.error());
  const Result<std::vector<Dimensions>> shapes = string_to_shapes(a[2], "shapes");
  if (!shapes) return refused(shapes.error());
  const Result<Dimensions> shape = infer_shape(**op, {*attributes, *shapes}, rules.shape);
  return shape ? answered(integers_to_string(*shape)) : refused(shape.error());
}

Reply answer_execute(const ReferenceRules& rules, Arguments a) {
  const std::optional<NodeVariant> variant = node_variant(a[0]);
  if (!variant) return {Outcome::skipped, {}, "no operator '" + std::string(a[0]) + "'"};
  return variant->format == Format::f64 ? run<double>(rules, *variant->op, a) : run<float>(rules, *variant->op, a);
}

Reply answer_execute_backward(const ReferenceRules& rules, Arguments a) { return answer_execute(rules, a); }

}  // namespace packcheck
