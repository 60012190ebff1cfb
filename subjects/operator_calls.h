// subjects/operator_calls.h: calls about operators of a graph, with types: output shapes, outputs, gradients.
//
// Shapes travel as i64 words: the rank of each, then its sizes. What an operator is given, and what it answers, is in
// the tables of core/graph/shape_infer.h and exec.h. Proved by tests/properties/operator_requests_test.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/exec.h"
#include "core/graph/shape_infer.h"
#include "subjects/calls.h"

namespace packcheck {

/// What the rule of an operator is asked: the variant of infer_shape is the rule's id, "conv2d:java".
struct ShapeRequest {
  const ShapeOperator* op = nullptr;
  Dimensions attributes;
  std::vector<Dimensions> shapes;

  [[nodiscard]] ShapeQuestion question() const { return {attributes, shapes}; }
};
[[nodiscard]] Answer<Dimensions> call_infer_shape(Subject& subject, const ShapeRequest& request);

/// One node to run: the variant of execute and execute_backward is "conv2d:f32". Elements are little-endian.
struct NodeRequest {
  const ExecOperator* op = nullptr;
  Format format = Format::f64;  ///< f64 or f32
  Dimensions attributes;
  std::vector<Dimensions> shapes;
  std::vector<Bytes> inputs;  ///< one for each shape, not always of its size
  Bytes upstream;             ///< the gradient of the output; execute does not get it

  [[nodiscard]] std::string variant() const;
};
/// The elements of the output, as many as there are.
[[nodiscard]] Answer<Bytes> call_execute(Subject& subject, const NodeRequest& request);
/// The elements of the gradients, one after the other.
[[nodiscard]] Answer<Bytes> call_execute_backward(Subject& subject, const NodeRequest& request);

/// "conv2d:f32" as its parts; nothing for what is no variant.
struct NodeVariant {
  const ExecOperator* op;
  Format format;
};
[[nodiscard]] std::optional<NodeVariant> node_variant(std::string_view variant);
/// Every one.
[[nodiscard]] std::vector<std::string> all_node_variants();

/// The arguments of the requests, in the order of the table in subjects/subject.h.
[[nodiscard]] std::vector<std::string> arguments_of(const ShapeRequest& request);
[[nodiscard]] std::vector<std::string> arguments_of(const NodeRequest& request, bool backward);

[[nodiscard]] std::string integers_to_string(std::span<const std::int64_t> values);
/// Refuses a number of bytes that is no multiple of 8.
[[nodiscard]] Result<Dimensions> string_to_integers(std::string_view bytes, std::string_view where);
[[nodiscard]] std::string shapes_to_string(std::span<const Dimensions> shapes);
/// Refuses words that are not whole shapes, and shapes of more axes than a tensor can have.
[[nodiscard]] Result<std::vector<Dimensions>> string_to_shapes(std::string_view bytes, std::string_view where);

}  // namespace packcheck
