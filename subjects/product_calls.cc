#include "subjects/product_calls.h"

#include "subjects/one_part.h"

namespace packcheck {
namespace {

Answer<std::vector<float>> call_product(Subject& subject, Operation operation, const ProductRequest& request,
                                        std::size_t first_matrix, std::size_t matrices) {
  std::size_t size = 0;
  if (__builtin_mul_overflow(request.rows, request.out_features, &size) ||
      __builtin_mul_overflow(size, matrices * sizeof(float), &size))
    size = kAnySize;
  const std::vector<std::string> arguments = product_arguments(request, first_matrix, matrices);
  Reply reply = subject.call({operation, arguments});
  if (reply.outcome != Outcome::answered) return {reply.outcome, {}, std::move(reply.message)};
  if (reply.parts.size() != 1 || (size != kAnySize && reply.parts[0].size() != size))
    return {Outcome::broke_protocol, {}, "not one part of " + std::to_string(size) + " bytes"};
  return {Outcome::answered, string_to_floats(reply.parts[0]), {}};
}

}  // namespace

std::string ProductRequest::variant() const { return "affine" + std::to_string(bits) + ":f32"; }

std::vector<std::string> product_arguments(const ProductRequest& r, std::size_t first_matrix, std::size_t matrices) {
  const std::array<std::uint64_t, 5> shape{r.rows, r.in_features, r.out_features, r.group_size, r.bits};
  std::vector<std::string> arguments{std::string(spec(r.scale_format).name), std::string(sum_order_name(r.order)),
                                     u64s_to_string(shape), floats_to_string(r.x)};
  for (std::size_t i = first_matrix; i < first_matrix + matrices; ++i) {
    arguments.push_back(bytes_to_string(r.weights[i].codes));
    arguments.push_back(bytes_to_string(r.weights[i].scales));
    arguments.push_back(bytes_to_string(r.weights[i].biases));
  }
  return arguments;
}

Answer<std::vector<float>> call_affine_matmul(Subject& subject, const ProductRequest& request, std::size_t matrix) {
  return call_product(subject, Operation::affine_matmul, request, matrix, 1);
}

Answer<std::vector<float>> call_affine_gate_up(Subject& subject, const ProductRequest& request) {
  return call_product(subject, Operation::affine_gate_up, request, 0, 2);
}

}  // namespace packcheck
