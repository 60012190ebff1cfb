#include "subjects/network_document.h"

#include <charconv>

namespace packcheck {
namespace {

void append_numbers(std::string& text, const std::vector<std::uint64_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) text.push_back(',');
    for (int shift = 60; shift >= 0; shift -= 4) text.push_back("0123456789abcdef"[numbers[i] >> shift & 15]);
  }
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

bool read_numbers(std::string_view text, std::vector<std::uint64_t>& numbers) {
  for (const std::string_view one : split(text, ','))
    if (one.size() != 16 || !read_number(one, numbers.emplace_back(), 16)) return false;
  return true;
}

bool read_node(const std::vector<std::string_view>& words, NodeRun& node) {
  if (words.size() != 5 || words[1].empty() || (words[2] != "0" && words[2] != "1")) return false;
  node.op = words[1];
  node.claims_gradient = words[2] == "1";
  if (!read_numbers(words[3], node.values)) return false;
  return words[4] == "-" || read_numbers(words[4], node.gradient.emplace());
}

bool read_boundary(const std::vector<std::string_view>& words, BoundaryRow& row) {
  if (words.size() != 7 || words[1].empty()) return false;
  const std::optional<Format> outer = format_named(words[2]);
  const std::optional<Format> inner = format_named(words[3]);
  if (!outer || !inner) return false;
  row.name = words[1];
  row.outer = *outer;
  row.inner = *inner;
  return read_number(words[4], row.inputs) && read_number(words[5], row.outputs) && read_number(words[6], row.bytes);
}

}  // namespace

std::string write_network_answer(const NetworkAnswer& answer) {
  std::string text;
  for (const NodeRun& node : answer.nodes) {
    text.append("node ").append(node.op).append(node.claims_gradient ? " 1 " : " 0 ");
    append_numbers(text, node.values);
    text.push_back(' ');
    if (node.gradient)
      append_numbers(text, *node.gradient);
    else
      text.push_back('-');
    text.push_back('\n');
  }
  for (const BoundaryRow& row : answer.boundaries) {
    text.append("boundary ").append(row.name);
    for (const Format format : {row.outer, row.inner}) text.append(" ").append(spec(format).name);
    for (const std::uint64_t number : {row.inputs, row.outputs, row.bytes})
      text.append(" ").append(std::to_string(number));
    text.push_back('\n');
  }
  return text;
}

Result<NetworkAnswer> read_network_answer(std::string_view document) {
  NetworkAnswer answer;
  std::size_t line = 0;
  while (!document.empty()) {
    ++line;
    const std::size_t end = document.find('\n');
    const std::vector<std::string_view> words = split(document.substr(0, end), ' ');
    const bool read =
        end != std::string_view::npos &&
        (words[0] == "node" ? answer.boundaries.empty() && read_node(words, answer.nodes.emplace_back())
                            : words[0] == "boundary" && read_boundary(words, answer.boundaries.emplace_back()));
    if (!read)
      return refuse("not understood", "line " + std::to_string(line) + " of the answer",
                    "a node with operator, claim, numbers and gradient, or after all of them a boundary");
    document.remove_prefix(end + 1);
  }
  return answer;
}

}  // namespace packcheck
