// One call of any operation, made from the cases of the operation's own type.
#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"
#include "properties/cases/graphs.h"
#include "properties/cases/networks.h"
#include "properties/cases/operators.h"
#include "properties/cases/products.h"
#include "properties/oracles/file_oracle.h"

namespace packcheck {
namespace {

std::string bytes_of(std::span<const std::int64_t> values) {
  std::vector<std::uint64_t> words;
  for (const std::int64_t value : values) words.push_back(static_cast<std::uint64_t>(value));
  return u64s_to_string(words);
}

std::string name_of(Format format) { return std::string(spec(format).name); }

/// The arguments of `operation`, in the order of the table in subjects/subject.h.
std::vector<std::string> draw_arguments(Source& source, Operation operation, std::string_view variant) {
  switch (operation) {
    case Operation::convert:
    case Operation::repack: {
      const Case c = conversion_cases.draw(source, variant);
      const auto& conversion = c.as<ConversionCase>();
      if (operation == Operation::repack)
        return {name_of(conversion.from), name_of(conversion.to), bytes_to_string(conversion.elements)};
      return {name_of(conversion.from), name_of(conversion.to), "nearest-even", bytes_to_string(conversion.elements)};
    }
    case Operation::quantize:
      return {std::string(variant), floats_to_string(values_cases.draw(source, variant).as<ValuesCase>().values)};
    case Operation::dequantize:
      return {std::string(variant), bytes_to_string(blocks_cases.draw(source, variant).as<BlocksCase>().blocks)};
    case Operation::print: {
      const std::uint64_t bits[] = {number_cases.draw(source, variant).as<NumberCase>().bits};
      return {u64s_to_string(bits)};
    }
    case Operation::parse: return {text_cases.draw(source, variant).as<TextCase>().text};
    case Operation::pack:
      return {std::string(variant), bytes_of(parameters_cases.draw(source, variant).as<ParametersCase>().values)};
    case Operation::unpack:
      return {std::string(variant), u64s_to_string(words_cases.draw(source, variant).as<WordsCase>().words)};
    case Operation::repack_tensor:
      return {std::string(variant), write_tensor(repack_tensor_cases.draw(source, variant).as<DescribedTensor>())};
    case Operation::requantize_tensor:
      return {std::string(variant), write_tensor(requantize_tensor_cases.draw(source, variant).as<DescribedTensor>())};
    case Operation::load_tensor:
      return {std::string(variant), write_tensor(load_tensor_cases.draw(source, variant).as<DescribedTensor>())};
    case Operation::affine_dequantize: {
      const Case c = affine_cases.draw(source, variant);
      const AffineTensor& t = c.as<AffineCase>().tensor;
      return {name_of(t.scale_format), u64s_to_string(shape_of(t)), bytes_to_string(t.codes), bytes_to_string(t.scales),
              bytes_to_string(t.biases)};
    }
    case Operation::affine_matmul:
      return product_arguments(product_cases.draw(source, variant).as<ProductCase>().request, 0, 1);
    case Operation::affine_gate_up:
      return product_arguments(gate_up_cases.draw(source, variant).as<ProductCase>().request, 0, 2);
    case Operation::read_tensors:
      return {std::string(variant), bytes_to_string(file_cases.draw(source, variant).as<FileCase>().bytes)};
    case Operation::write_tensors: {
      const Case c = file_cases.draw(source, variant);
      return {std::string(variant), oracle::read_file(variant, c.as<FileCase>().bytes).contents};
    }
    case Operation::import_graph:
      return {std::string(variant), graph_text_cases.draw(source, variant).as<GraphTextCase>().text};
    case Operation::export_graph:
      return {std::string(variant), bytes_to_string(graph_bytes_cases.draw(source, variant).as<GraphBytesCase>().ysgp)};
    case Operation::infer_shape: return arguments_of(shape_cases.draw(source, variant).as<ShapeRequest>());
    case Operation::execute:
    case Operation::execute_backward:
      return arguments_of(node_cases.draw(source, variant).as<NodeRequest>(), operation == Operation::execute_backward);
    case Operation::run_network:
    case Operation::export_network:
      return {std::string(variant), network_cases.draw(source, variant).as<NetworkCase>().text};
    case Operation::import_network: {
      const auto network = oracle::read_network_text(network_cases.draw(source, variant).as<NetworkCase>().text);
      return {std::string(variant), network ? oracle::graph_text(oracle::network_nodes(*network)) : std::string()};
    }
  }
  return {};
}

class CallType final : public TypedCaseType<CallCase> {
 public:
  using TypedCaseType::TypedCaseType;

  CallCase draw_value(Source& source, std::string_view variant) const override {
    const std::size_t space = variant.find(' ');
    const Operation operation = operation_named(variant.substr(0, space)).value_or(Operation::print);
    return {{operation, draw_arguments(source, operation, variant.substr(space + 1))}, std::string(variant)};
  }
  std::string variant_of(const CallCase& c) const override { return c.variant; }
  std::size_t payload(const CallCase& c) const override {
    std::size_t bytes = 0;
    for (const std::string& argument : c.request.arguments) bytes += argument.size();
    return bytes;
  }
  Json write(const CallCase& c) const override {
    Json arguments = Json::array();
    for (const std::string& argument : c.request.arguments)
      arguments.push_back(hex_of_bytes(string_to_bytes(argument)));
    return {{"call", c.variant}, {"arguments", arguments}};
  }
  Result<CallCase> read(MemberReader& members) const override {
    CallCase c{{}, members.text("call")};
    const Result<Declaration> declaration = parse_declaration(c.variant);
    if (declaration)
      c.request.operation = declaration->operation;
    else
      members.fail(declaration.error());
    const Json arguments = members.value("arguments");
    if (!arguments.is_array()) members.fail({"not an array", "call case/arguments", "[\"hex\", …]"});
    for (const Json& argument : arguments) {
      const Result<Bytes> bytes = parse_hex_bytes(argument.is_string() ? argument.get<std::string>() : "not hex");
      if (!bytes) {
        members.fail({bytes.error().what, "call case/arguments", "bytes as hex strings"});
        break;
      }
      c.request.arguments.push_back(bytes_to_string(*bytes));
    }
    return c;
  }
};

const CallType kType("call");

}  // namespace

const CaseType& call_cases = kType;

}  // namespace packcheck
