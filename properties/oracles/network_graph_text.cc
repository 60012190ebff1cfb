// Graphs of networks as JSON text. See precision_oracle.h.
#include <charconv>
#include <cmath>
#include <cstring>

#include "properties/oracles/default_environment.h"
#include "properties/oracles/precision_oracle.h"

namespace packcheck::oracle {
namespace {

template <class Numbers, class One>
void append_list(std::string& text, const char* name, const Numbers& numbers, One one) {
  text.append(",\"").append(name).append("\":[");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) text.push_back(',');
    one(numbers[i]);
  }
  text.push_back(']');
}

double number_of_bits(std::uint64_t bits) {
  double number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

std::string finite_text(std::uint64_t bits) {
  char digits[40];
  return {digits,
          std::to_chars(digits, digits + sizeof digits, number_of_bits(bits), std::chars_format::scientific).ptr};
}

void append_data(std::string& text, const std::vector<std::uint64_t>& data) {
  bool finite = true;
  for (const std::uint64_t bits : data) finite = finite && std::isfinite(number_of_bits(bits));
  append_list(text, finite ? "data" : "data_bits", data, [&](std::uint64_t bits) {
    if (finite) {
      text.append(finite_text(bits));
      return;
    }
    text.append("\"0x");
    for (int shift = 60; shift >= 0; shift -= 4) text.push_back("0123456789abcdef"[bits >> shift & 15]);
    text.push_back('"');
  });
}

}  // namespace

std::string graph_text(const Nodes& nodes) {
  const DefaultEnvironment environment;  // a subnormal is printed as 0 elsewhere
  std::string text = "{\"nodes\":[";
  for (const Node& node : nodes) {
    const auto append_number = [&](std::uint32_t number) { text.append(std::to_string(number)); };
    text.append(node.id == 0 ? "{\"id\":" : ",{\"id\":").append(std::to_string(node.id));
    append_list(text, "shape", node.shape, append_number);
    text.append(",\"op\":\"").append(node.op).append("\"");
    if (node.data) append_data(text, *node.data);
    if (node.scalar) text.append(",\"scalar\":").append(finite_text(*node.scalar));
    if (!node.inputs.empty()) append_list(text, "inputs", node.inputs, append_number);
    text.push_back('}');
  }
  return text.append("]}");
}

}  // namespace packcheck::oracle
