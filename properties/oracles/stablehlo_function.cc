#include "properties/oracles/stablehlo_function.h"

#include <cmath>
#include <limits>
#include <optional>

#include "properties/oracles/default_environment.h"
#include "properties/oracles/precision_steps.h"

namespace packcheck::oracle {
namespace {

LayerFormat format_of_element(const std::string& element) {
  for (const LayerFormat format : {LayerFormat::f16, LayerFormat::bf16})
    if (layer_format_name(format) == element) return format;
  return LayerFormat::f32;
}

bool compared(const std::string& attributes, double one, double other) {
  const auto says = [&](std::string_view direction) {
    return attributes.find(std::string("comparison_direction ").append(direction)) != std::string::npos;
  };
  if (says("LT")) return one < other;
  if (says("LE")) return one <= other;
  if (says("GT")) return one > other;
  if (says("GE")) return one >= other;
  if (says("EQ")) return one == other;
  return one != other;
}

double larger(double one, double other) {
  if (std::isnan(one) || std::isnan(other)) return std::numeric_limits<double>::quiet_NaN();
  if (one == other) return std::signbit(one) ? other : one;
  return one > other ? one : other;
}
double smaller(double one, double other) { return -larger(-one, -other); }

/// The result of an operation on single numbers; nothing where it is no such operation.
std::optional<double> result_of(const HloOperation& op, const std::vector<double>& x) {
  const std::string_view name = std::string_view(op.name).substr(10);
  if (name == "maximum") return larger(x[0], x[1]);
  if (name == "multiply")
    return fit(format_of_element(op.type.element), static_cast<long double>(x[0]) * static_cast<long double>(x[1]));
  if (name == "clamp") return smaller(larger(x[1], x[0]), x[2]);
  if (name == "compare") return compared(op.attributes, x[0], x[1]) ? 1 : 0;
  if (name == "select") return x[0] != 0 ? x[1] : x[2];
  return std::nullopt;
}

[[gnu::noinline]] std::vector<double> made_by(const std::vector<std::string>& names, LayerFormat format) {
  const DefaultEnvironment environment;
  std::vector<double> numbers = activation_probes(format);
  for (const std::string& name : names)
    for (double& number : numbers) number = activated(name, format, number);
  return numbers;
}

}  // namespace

std::vector<double> activation_probes(LayerFormat format) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double smallest = format == LayerFormat::f16 ? 0x1p-24 : format == LayerFormat::bf16 ? 0x1p-133 : 0x1p-149;
  return {-infinity,
          -2,
          -1,
          -0.625,
          -smallest,
          -0.0,
          0,
          smallest,
          0.625,
          1,
          2,
          infinity,
          std::numeric_limits<double>::quiet_NaN()};
}

std::vector<double> activations_at_probes(const std::vector<std::string>& names, LayerFormat format) {
  return made_by(names, format);
}

std::vector<double> constant_numbers(const HloOperation& constant) {
  const LayerFormat format = format_of_element(constant.type.element);
  const std::size_t width = format == LayerFormat::f32 ? 4 : 2;
  std::vector<double> numbers;
  for (std::size_t at = 0; at + width <= constant.bytes.size(); at += width) {
    std::uint64_t code = 0;
    for (std::size_t byte = width; byte-- > 0;)
      code = code << 8 | static_cast<unsigned char>(constant.bytes[at + byte]);
    numbers.push_back(number_of_code(format, code));
  }
  return numbers;
}

HloFunctions::HloFunctions(const HloModule& module) {
  const DefaultEnvironment environment;
  for (std::size_t i = 0; i < module.arguments.size(); ++i) begin(module.argument_names[i], module.arguments[i]);
  for (const HloOperation& op : module.operations) follow(op);
}

const HloFunctions::Function* HloFunctions::of(const std::string& value) const {
  const auto found = functions_.find(value);
  return found == functions_.end() ? nullptr : &found->second;
}

void HloFunctions::begin(const std::string& value, const HloType& type) {
  functions_[value] = {value, activation_probes(format_of_element(type.element))};
}

[[gnu::noinline]] void HloFunctions::follow(const HloOperation& op) {
  if (op.name == "stablehlo.constant") {
    const std::vector<double> numbers = constant_numbers(op);
    Function constant;
    bool same = !numbers.empty();
    for (const double number : numbers)
      same = same && number == numbers[0] && std::signbit(number) == std::signbit(numbers[0]);
    if (same) constant.at.assign(activation_probes(LayerFormat::f32).size(), numbers[0]);
    functions_[op.result] = std::move(constant);
    return;
  }
  Function result;
  std::vector<const Function*> operands;
  for (const std::string& operand : op.operands) {
    const Function* const function = of(operand);
    if (function == nullptr) break;
    if (result.of.empty()) result.of = function->of;
    const bool mixed = !function->of.empty() && function->of != result.of;
    if (function->at.empty() || mixed) break;
    operands.push_back(function);
  }
  const bool alone = operands.size() == op.operands.size() && !operands.empty();
  for (std::size_t i = 0; alone && i < operands[0]->at.size(); ++i) {
    std::vector<double> x;
    for (const Function* const operand : operands) x.push_back(operand->at[i]);
    const std::optional<double> y = result_of(op, x);
    if (!y) break;
    result.at.push_back(*y);
  }
  if (!result.at.empty())
    functions_[op.result] = std::move(result);
  else if (op.name != "stablehlo.maximum" && op.name != "stablehlo.multiply" && op.name != "stablehlo.clamp" &&
           op.name != "stablehlo.compare" && op.name != "stablehlo.select")
    begin(op.result, op.type);
}

}  // namespace packcheck::oracle
