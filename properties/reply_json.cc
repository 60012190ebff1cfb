#include "properties/reply_json.h"

#include <array>

#include "subjects/calls.h"

namespace packcheck {
namespace {

using json = nlohmann::ordered_json;

/// How the one part of an answer is written.
enum class Form : std::uint8_t { elements, bytes, text, word, words, integers };

Form form_of(Operation operation) {
  switch (operation) {
    case Operation::convert:
    case Operation::repack:
    case Operation::dequantize:
    case Operation::affine_dequantize:
    case Operation::execute:
    case Operation::execute_backward:
    case Operation::affine_matmul:
    case Operation::affine_gate_up: return Form::elements;
    case Operation::quantize:
    case Operation::repack_tensor:
    case Operation::requantize_tensor:
    case Operation::load_tensor:
    case Operation::write_tensors:
    case Operation::import_graph: return Form::bytes;
    case Operation::print:
    case Operation::read_tensors:
    case Operation::export_graph:
    case Operation::run_network:
    case Operation::export_network:
    case Operation::import_network: return Form::text;
    case Operation::parse: return Form::word;
    case Operation::pack: return Form::words;
    case Operation::unpack:
    case Operation::infer_shape: return Form::integers;
  }
  return Form::bytes;
}

/// Of the elements of an answer: the part of "f32->f16" behind the arrow, of "conv2d:f64" behind the colon, else f32.
Format target_format(const std::string& variant) {
  const std::size_t arrow = variant.find("->");
  if (arrow == std::string::npos) {
    const std::size_t colon = variant.find(':');
    return colon == std::string::npos ? Format::f32 : format_named(variant.substr(colon + 1)).value_or(Format::f32);
  }
  return format_named(variant.substr(arrow + 2)).value_or(Format::f32);
}

std::string right_form(Form form) {
  static constexpr std::array<std::string_view, 6> kForms{
      "an array of hex elements",     "hex digits, two a byte",          "a string",
      "a string with 64 bits in hex", "an array of 64-bit words in hex", "an array of integers"};
  return std::string(kForms[static_cast<std::size_t>(form)]) +
         R"(, or {"refused": "why"}, or {"fault": "left bytes unwritten"})";
}

Result<Reply> from_object(const json& value, const std::string& where) {
  MemberReader members(value, where);
  Reply reply;
  if (members.has("fault")) {
    reply.message = members.text("fault");
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(Outcome::broke_protocol); ++i)
      if (outcome_name(static_cast<Outcome>(i)) == reply.message) reply.outcome = static_cast<Outcome>(i);
    if (!is_fault(reply.outcome))
      members.fail({"unknown fault '" + reply.message + "'", where, "left bytes unwritten"});
  } else {
    reply.outcome = Outcome::refused;
    reply.message = members.text("refused");
  }
  if (auto ok = members.finish(); !ok) return tl::unexpected(ok.error());
  return reply;
}

json words_json(const std::string& part) {
  json list = json::array();
  for (const std::uint64_t word : string_to_u64s(part)) list.push_back(hex_of(word, 64));
  return list;
}

json part_json(Operation operation, const std::string& variant, const std::string& part) {
  switch (form_of(operation)) {
    case Form::elements: return elements_json(string_to_bytes(part), target_format(variant));
    case Form::bytes: return hex_of_bytes(string_to_bytes(part));
    case Form::text: return part;
    case Form::word: return words_json(part).at(0);
    case Form::words: return words_json(part);
    case Form::integers: break;
  }
  json list = json::array();
  for (const std::uint64_t word : string_to_u64s(part)) list.push_back(static_cast<std::int64_t>(word));
  return list;
}

Result<std::string> words_from(const json& list, const std::string& where) {
  std::vector<std::uint64_t> words;
  for (const json& item : list) {
    if (item.is_number_integer()) {
      words.push_back(static_cast<std::uint64_t>(item.get<std::int64_t>()));
      continue;
    }
    if (!item.is_string()) return refuse("no word", where, "64 bits in hex");
    const Result<std::uint64_t> word = parse_hex(item.get<std::string>(), 64);
    if (!word) return tl::unexpected(Error{word.error().what, where, word.error().right});
    words.push_back(*word);
  }
  return u64s_to_string(words);
}

Result<std::string> part_from(Form form, const std::string& variant, const json& value, const std::string& where) {
  if (form == Form::text && value.is_string()) return value.get<std::string>();
  if (form == Form::word && value.is_string()) return words_from(json::array({value}), where);
  if (form == Form::bytes && value.is_string()) {
    const Result<std::vector<std::uint8_t>> bytes = parse_hex_bytes(value.get<std::string>());
    if (!bytes) return tl::unexpected(Error{bytes.error().what, where, bytes.error().right});
    return bytes_to_string(*bytes);
  }
  if ((form == Form::words || form == Form::integers) && value.is_array()) return words_from(value, where);
  if (form == Form::elements && value.is_array()) {
    const json object{{"elements", value}};
    MemberReader members(object, where);
    const std::vector<std::uint8_t> bytes = members.elements("elements", target_format(variant));
    if (auto ok = members.finish(); !ok) return tl::unexpected(ok.error());
    return bytes_to_string(bytes);
  }
  return refuse("of the wrong type", where, right_form(form));
}

}  // namespace

Result<json> reply_to_json(Operation operation, const std::string& variant, const Reply& reply) {
  if (is_fault(reply.outcome)) return json{{"fault", outcome_name(reply.outcome)}};
  if (reply.outcome != Outcome::answered) return json{{"refused", reply.message}};
  const bool readable = reply.parts.size() == 1 && (form_of(operation) != Form::word || reply.parts[0].size() == 8);
  if (!readable) return refuse("an answer of the wrong size", std::string(operation_name(operation)), "one part");
  return part_json(operation, variant, reply.parts[0]);
}

Result<Reply> reply_from_json(Operation operation, const std::string& variant, const json& value,
                              const std::string& where) {
  if (value.is_object()) return from_object(value, where);
  Result<std::string> part = part_from(form_of(operation), variant, value, where);
  if (!part) return tl::unexpected(part.error());
  return Reply{Outcome::answered, {std::move(*part)}, {}};
}

}  // namespace packcheck
