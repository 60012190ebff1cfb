#include "subjects/operator_calls.h"

#include <cstring>
#include <utility>

#include "subjects/one_part.h"

namespace packcheck {
namespace {

constexpr Format kFormats[] = {Format::f64, Format::f32};

std::string values_of(const NodeRequest& request) {
  std::string values;
  for (const Bytes& input : request.inputs) values.append(input.begin(), input.end());
  return values;
}

Answer<Bytes> call_node(Subject& subject, Operation operation, const NodeRequest& request) {
  const std::vector<std::string> arguments = arguments_of(request, operation == Operation::execute_backward);
  const std::vector<std::string_view> views(arguments.begin(), arguments.end());
  Reply reply = subject.call_in_place({operation, views});
  if (reply.outcome != Outcome::answered) return {reply.outcome, {}, std::move(reply.message)};
  if (reply.parts.size() != 1 || reply.parts[0].size() % spec(request.format).bytes() != 0)
    return {Outcome::broke_protocol, {}, "the answer is no array of " + std::string(spec(request.format).name)};
  return {Outcome::answered, string_to_bytes(reply.parts[0]), {}};
}

}  // namespace

std::string NodeRequest::variant() const {
  std::string name(op->op);
  return name.append(":").append(spec(format).name);
}

std::string integers_to_string(std::span<const std::int64_t> values) { return std::string(bytes_of(values)); }

Result<Dimensions> string_to_integers(std::string_view bytes, std::string_view where) {
  if (bytes.size() % sizeof(std::int64_t) != 0)
    return refuse(std::to_string(bytes.size()) + " bytes", std::string(where), "a whole number of 8-byte integers");
  Dimensions values(bytes.size() / sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string shapes_to_string(std::span<const Dimensions> shapes) {
  Dimensions words;
  for (const Dimensions& shape : shapes) {
    words.push_back(static_cast<std::int64_t>(shape.size()));
    words.insert(words.end(), shape.begin(), shape.end());
  }
  return integers_to_string(words);
}

Result<std::vector<Dimensions>> string_to_shapes(std::string_view bytes, std::string_view where) {
  const Result<Dimensions> words = string_to_integers(bytes, where);
  if (!words) return tl::unexpected(words.error());
  std::vector<Dimensions> shapes;
  for (std::size_t at = 0; at < words->size();) {
    const std::int64_t rank = (*words)[at++];
    if (rank < 0 || static_cast<std::uint64_t>(rank) > words->size() - at)
      return refuse("a shape of " + std::to_string(rank) + " axes", std::string(where),
                    "the number of axes of each shape, then their sizes");
    const auto first = words->begin() + static_cast<std::ptrdiff_t>(at);
    shapes.emplace_back(first, first + rank);
    at += static_cast<std::size_t>(rank);
  }
  return shapes;
}

std::vector<std::string> arguments_of(const ShapeRequest& request) {
  return {request.op->id(), integers_to_string(request.attributes), shapes_to_string(request.shapes)};
}

std::vector<std::string> arguments_of(const NodeRequest& request, bool backward) {
  std::vector<std::string> arguments{request.variant(), integers_to_string(request.attributes),
                                     shapes_to_string(request.shapes), values_of(request)};
  if (backward) arguments.push_back(bytes_to_string(request.upstream));
  return arguments;
}

Answer<Dimensions> call_infer_shape(Subject& subject, const ShapeRequest& request) {
  const std::vector<std::string> a = arguments_of(request);
  const Answer<std::string> raw = call_for_one_part(subject, Operation::infer_shape, {a[0], a[1], a[2]});
  if (!raw.ok()) return {raw.outcome, {}, raw.message};
  const Result<Dimensions> shape = string_to_integers(raw.value, "answer");
  if (!shape) return {Outcome::broke_protocol, {}, shape.error().text()};
  return {Outcome::answered, *shape, {}};
}

Answer<Bytes> call_execute(Subject& subject, const NodeRequest& request) {
  return call_node(subject, Operation::execute, request);
}

Answer<Bytes> call_execute_backward(Subject& subject, const NodeRequest& request) {
  return call_node(subject, Operation::execute_backward, request);
}

std::optional<NodeVariant> node_variant(std::string_view variant) {
  const std::size_t colon = variant.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const Result<const ExecOperator*> op = exec_operator_named(variant.substr(0, colon));
  for (const Format format : kFormats)
    if (op && spec(format).name == variant.substr(colon + 1)) return NodeVariant{*op, format};
  return std::nullopt;
}

std::vector<std::string> all_node_variants() {
  std::vector<std::string> names;
  for (const ExecOperator& op : all_exec_operators())
    for (const Format format : kFormats) names.push_back(NodeRequest{&op, format, {}, {}, {}, {}}.variant());
  return names;
}

}  // namespace packcheck
