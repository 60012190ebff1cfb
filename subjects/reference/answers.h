// subjects/reference/answers.h: the reference's answer to each operation, a function an operation; one file a
// family. For reference.cc and the files of answers only. An operation's row is in kAnswers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "subjects/reference/reference.h"
#include "subjects/subject.h"

namespace packcheck {

using Arguments = std::span<const std::string_view>;

// Number formats and text.
Reply answer_convert(const ReferenceRules& rules, Arguments a);
Reply answer_print(const ReferenceRules& rules, Arguments a);
Reply answer_parse(const ReferenceRules& rules, Arguments a);
// Encodings.
Reply answer_quantize(const ReferenceRules& rules, Arguments a);
Reply answer_dequantize(const ReferenceRules& rules, Arguments a);
Reply answer_repack(const ReferenceRules& rules, Arguments a);
Reply answer_affine_dequantize(const ReferenceRules& rules, Arguments a);
// Products with packed weights.
Reply answer_affine_matmul(const ReferenceRules& rules, Arguments a);
Reply answer_affine_gate_up(const ReferenceRules& rules, Arguments a);
// Stored tensors.
Reply answer_repack_tensor(const ReferenceRules& rules, Arguments a);
Reply answer_requantize_tensor(const ReferenceRules& rules, Arguments a);
Reply answer_load_tensor(const ReferenceRules& rules, Arguments a);
// Packed parameters.
Reply answer_pack(const ReferenceRules& rules, Arguments a);
Reply answer_unpack(const ReferenceRules& rules, Arguments a);
// Tensor files.
Reply answer_read_tensors(const ReferenceRules& rules, Arguments a);
Reply answer_write_tensors(const ReferenceRules& rules, Arguments a);

// Graphs.
Reply answer_import_graph(const ReferenceRules& rules, Arguments a);
Reply answer_export_graph(const ReferenceRules& rules, Arguments a);
// Networks of mixed formats.
Reply answer_run_network(const ReferenceRules& rules, Arguments a);
Reply answer_export_network(const ReferenceRules& rules, Arguments a);
Reply answer_import_network(const ReferenceRules& rules, Arguments a);

// Operators of a graph.
Reply answer_infer_shape(const ReferenceRules& rules, Arguments a);
Reply answer_execute(const ReferenceRules& rules, Arguments a);
Reply answer_execute_backward(const ReferenceRules& rules, Arguments a);

/// Whether the answers to infer_shape of this rule may be others than the right ones.
[[nodiscard]] bool touches_shape(const ShapeRules& rules, std::string_view variant);
/// The same for execute and execute_backward.
[[nodiscard]] bool touches_node(const ExecRules& rules, std::string_view variant);

/// A refusal because the request itself is malformed.
inline Reply malformed(std::string what) { return {Outcome::refused, {}, std::move(what)}; }
inline Reply refused(const Error& error) { return {Outcome::refused, {}, error.text()}; }
inline Reply answered(std::string part) { return {Outcome::answered, {std::move(part)}, {}}; }

inline std::span<const std::uint8_t> bytes_of(std::string_view argument) {
  return {reinterpret_cast<const std::uint8_t*>(argument.data()), argument.size()};
}
inline std::span<std::uint8_t> bytes_of(std::string& part) {
  return {reinterpret_cast<std::uint8_t*>(part.data()), part.size()};
}

/// Without making each row's id.
[[nodiscard]] const Encoding* encoding_row(const std::vector<Encoding>& rows, std::string_view id);

}  // namespace packcheck
