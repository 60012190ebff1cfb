#include "core/graph/exec.h"

#include <array>
#include <bit>
#include <string>
#include <type_traits>

#include "core/environment.h"
#include "core/graph/exec_functions.h"
#include "core/graph/shape_arithmetic.h"

namespace packcheck {
namespace {

constexpr std::int64_t kMostWork = std::int64_t{1} << 32;       // products of one node
constexpr std::int64_t kMostOutput = std::int64_t{1} << 26;     // numbers
constexpr std::int64_t kMostAttribute = std::int64_t{1} << 31;  // of a stride, a padding, a dilation …

constexpr auto kOperators = std::to_array<ExecOperator>({{"conv2d", "conv2d:floor", 2, 3},
                                                         {"maxpool2d", "maxpool2d:floor", 1, 1},
                                                         {"avgpool2d", "avgpool2d:floor", 1, 1},
                                                         {"linear", "linear", 2, 3},
                                                         {"relu", "elementwise", 1, 1},
                                                         {"flatten", "flatten", 1, 1},
                                                         {"add", "broadcast", 2, 2},
                                                         {"softmax_cross_entropy", "softmax_cross_entropy", 2, 2}});

template <class T>
struct Functions {
  Forward<T> forward;
  Backward<T> backward;
};
// In the order of kOperators.
template <class T>
constexpr std::array<Functions<T>, kOperators.size()> kFunctions{
    {{conv2d_forward<T>, conv2d_backward<T>},
     {maxpool2d_forward<T>, maxpool2d_backward<T>},
     {avgpool2d_forward<T>, avgpool2d_backward<T>},
     {linear_forward<T>, linear_backward<T>},
     {relu_forward<T>, relu_backward<T>},
     {flatten_forward<T>, flatten_backward<T>},
     {add_forward<T>, add_backward<T>},
     {cross_entropy_forward<T>, cross_entropy_backward<T>}}};

template <class T>
const Functions<T>& functions_of(const ExecOperator& op) {
  return kFunctions<T>[static_cast<std::size_t>(&op - kOperators.data())];
}

/// Numbers that each output is made of.
Dimensions terms_of(const ExecOperator& op, std::span<const std::int64_t> attributes,
                    std::span<const Dimensions> shapes) {
  if (op.op == "conv2d") return {shapes[1][1], shapes[1][2], shapes[1][3]};
  if (op.op == "linear") return {shapes[1][1]};
  if (op.op == "maxpool2d" || op.op == "avgpool2d") return {attributes[0], attributes[1]};
  return {};
}

/// Refuses what would run for hours: the memory of a convolution's column matrix is less than its work.
Result<void> check_work(const ExecOperator& op, std::span<const std::int64_t> attributes,
                        std::span<const Dimensions> shapes, const Dimensions& output) {
  for (const std::int64_t attribute : attributes)
    if (attribute > kMostAttribute || attribute < -kMostAttribute)
      return refuse("an attribute of " + std::to_string(attribute), std::string(op.op), "at most 2^31");
  Dimensions work = terms_of(op, attributes, shapes);
  work.insert(work.end(), output.begin(), output.end());
  const std::string where(op.op);
  Wide count = 1;
  for (const std::int64_t size : work) {
    count *= size;
    if (count > kMostWork) return refuse("work of " + shape_text(work), where, "at most 2^32 products");
  }
  count = 1;
  for (const std::int64_t size : output) count *= size;
  if (count > kMostOutput) return refuse("output of " + shape_text(output), where, "at most 2^26 numbers");
  return {};
}

template <class T>
Result<Dimensions> check_question(const ExecOperator& op, const ExecQuestion<T>& q) {
  std::vector<Dimensions> shapes;
  std::vector<std::size_t> counts;
  for (const Tensor<T>& input : q.inputs) {
    shapes.push_back(input.shape);
    counts.push_back(input.elements.size());
  }
  return exec_shape(op, q.attributes, shapes, counts);
}

template <class T>
[[gnu::noinline]] Result<void> forward_in(const Functions<T>& f, const ExecCall<T>& call, std::span<T> output) {
  const ExactEnvironment exact;
  return f.forward(call, output);
}

/// Subnormal numbers become zeros of their sign, by their bits: a comparison would depend on the environment.
template <class T>
void flush(std::vector<T>& numbers) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  constexpr Bits kExponent = sizeof(T) == 8 ? static_cast<Bits>(std::uint64_t{0x7FF} << 52) : Bits{0x7F800000};
  for (T& number : numbers) {
    const auto bits = std::bit_cast<Bits>(number);
    if ((bits & kExponent) == 0) number = std::bit_cast<T>(bits & kSign);
  }
}

template <class T>
[[gnu::noinline]] Result<void> backward_in(const Functions<T>& f, const ExecCall<T>& call, std::span<const T> upstream,
                                           std::span<Tensor<T>> gradients) {
  const ExactEnvironment exact;
  return f.backward(call, upstream, gradients);
}

}  // namespace

std::span<const ExecOperator> all_exec_operators() { return kOperators; }

Result<const ExecOperator*> exec_operator_named(std::string_view name) {
  std::string known;
  for (const ExecOperator& row : kOperators) {
    if (row.op == name) return &row;
    known.append(known.empty() ? "" : ", ").append(row.op);
  }
  return refuse("unknown operator '" + std::string(name) + "'", {}, "one of " + known);
}

Result<Dimensions> exec_shape(const ExecOperator& op, std::span<const std::int64_t> attributes,
                              std::span<const Dimensions> shapes, std::span<const std::size_t> counts) {
  const std::string where(op.op);
  if (shapes.size() < op.least_inputs || shapes.size() > op.most_inputs)
    return refuse(std::to_string(shapes.size()) + " inputs", where,
                  std::to_string(op.least_inputs) + " to " + std::to_string(op.most_inputs));
  Result<Dimensions> output = infer_shape(**shape_operator_named(op.shape_operator), {attributes, shapes});
  if (!output) return output;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::int64_t right = element_count(shapes[i], where).value_or(0);
    if (counts[i] != index_of(right))
      return refuse(std::to_string(counts[i]) + " elements of input " + std::to_string(i), where,
                    std::to_string(right) + " for the shape " + shape_text(shapes[i]));
  }
  if (auto ok = check_work(op, attributes, shapes, *output); !ok) return tl::unexpected(ok.error());
  return output;
}

template <class T>
Result<Tensor<T>> run_forward(const ExecOperator& op, const ExecQuestion<T>& q, const ExecRules& rules) {
  Result<Dimensions> shape = check_question(op, q);
  if (!shape) return tl::unexpected(shape.error());
  Tensor<T> output{std::move(*shape), {}};
  output.elements.resize(index_of(*element_count(output.shape, op.op)));
  std::vector<Tensor<T>> flushed;
  if (rules.subnormals == NodeSubnormals::zero_as_inputs) {
    flushed.assign(q.inputs.begin(), q.inputs.end());
    for (Tensor<T>& input : flushed) flush(input.elements);
  }
  const ExecCall<T> call{q.attributes, flushed.empty() ? q.inputs : flushed, output.shape, rules};
  if (auto ok = forward_in<T>(functions_of<T>(op), call, output.elements); !ok) return tl::unexpected(ok.error());
  if (rules.subnormals == NodeSubnormals::zero_as_results) flush(output.elements);
  return output;
}

template <class T>
Result<std::vector<Tensor<T>>> run_backward(const ExecOperator& op, const ExecQuestion<T>& q,
                                            std::span<const T> upstream, const ExecRules& rules) {
  const Result<Dimensions> shape = check_question(op, q);
  if (!shape) return tl::unexpected(shape.error());
  if (upstream.size() != index_of(*element_count(*shape, op.op)))
    return refuse(std::to_string(upstream.size()) + " upstream gradients", std::string(op.op),
                  "one for each element of the output " + shape_text(*shape));
  std::vector<Tensor<T>> gradients;
  for (const Tensor<T>& input : q.inputs)
    gradients.push_back({input.shape, std::vector<T>(input.elements.size(), T{0})});
  if (op.op == "softmax_cross_entropy") gradients.pop_back();
  const ExecCall<T> call{q.attributes, q.inputs, *shape, rules};
  if (auto ok = backward_in<T>(functions_of<T>(op), call, upstream, gradients); !ok) return tl::unexpected(ok.error());
  return gradients;
}

template Result<Tensor<float>> run_forward(const ExecOperator&, const ExecQuestion<float>&, const ExecRules&);
template Result<Tensor<double>> run_forward(const ExecOperator&, const ExecQuestion<double>&, const ExecRules&);
template Result<std::vector<Tensor<float>>> run_backward(const ExecOperator&, const ExecQuestion<float>&,
                                                         std::span<const float>, const ExecRules&);
template Result<std::vector<Tensor<double>>> run_backward(const ExecOperator&, const ExecQuestion<double>&,
                                                          std::span<const double>, const ExecRules&);

}  // namespace packcheck
