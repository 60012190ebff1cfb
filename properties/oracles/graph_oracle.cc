#include "properties/oracles/graph_oracle.h"

#include <cstdio>
#include <map>
#include <utility>

#include "properties/oracles/default_environment.h"
#include "properties/oracles/json_tree.h"
#include "properties/oracles/text_oracle.h"

namespace packcheck::oracle {
namespace {

bool non_finite(std::uint64_t bits) { return (bits & 0x7FF0000000000000) == 0x7FF0000000000000; }
bool not_a_number(std::uint64_t bits) { return (bits << 1) > 0xFFE0000000000000; }

/// Least and most inputs of the operators that are known.
const std::map<std::string_view, std::pair<std::size_t, std::size_t>>& inputs_of_operators() {
  static const std::map<std::string_view, std::pair<std::size_t, std::size_t>> table = [] {
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> all;
    for (const char* one : {"relu",      "flatten",  "reshape",   "sigmoid",   "tanh",
                            "softmax",   "softplus", "leakyRelu", "exp",       "log",
                            "neg",       "pow",      "sum",       "mean",      "addScalar",
                            "mulScalar", "dropout",  "maxpool2d", "avgpool2d", "adaptiveAvgPool2d"})
      all[one] = {1, 1};
    for (const char* two : {"add", "sub", "mul", "div", "matmul"}) all[two] = {2, 2};
    for (const char* biased : {"conv2d", "linear"}) all[biased] = {2, 3};
    all["cat"] = {1, 65535};
    return all;
  }();
  return table;
}

bool inputs_fit(const Node& node, GraphForm form) {
  const std::size_t count = node.inputs.size();
  if (node.op == "softmaxCrossEntropy") return count == 2 || (count == 1 && form == GraphForm::yishape);
  const auto row = inputs_of_operators().find(node.op);
  return row == inputs_of_operators().end() || (count >= row->second.first && count <= row->second.second);
}

/// The number of elements, or 0 where a dimension or the product is out of range.
std::uint64_t elements(const Node& node) {
  unsigned __int128 product = 1;
  for (const std::uint32_t dimension : node.shape) {
    product *= dimension;
    if (dimension > 2147483647 || product >> 60 != 0) return 0;
  }
  return static_cast<std::uint64_t>(product);
}

bool node_is_sound(const Node& node, std::size_t position, GraphForm form) {
  if (node.id != position || node.op.empty() || node.op.size() > 65535 || !is_utf8_text(node.op)) return false;
  if (node.shape.size() > 65535 || elements(node) == 0) return false;
  for (const std::uint32_t input : node.inputs)
    if (input >= position) return false;
  if (node.data ? !node.inputs.empty() || node.data->size() != elements(node)
                : node.inputs.empty() || node.inputs.size() > 65535 || node.op == "leaf" || !inputs_fit(node, form))
    return false;
  if (form == GraphForm::lossless) return true;
  const auto absent = [](const std::optional<std::uint64_t>& bits) { return bits && not_a_number(*bits); };
  return !absent(node.scalar) && !absent(node.param2) && !(node.indices && node.indices->empty());
}

// ---- JSON -----------------------------------------------------------------------------------------------------

bool read_integer(const JsonNode* value, std::int64_t least, std::int64_t most, std::int64_t& out) {
  if (value == nullptr || value->kind != JsonNode::number) return false;
  std::string_view digits = value->text;
  const bool negative = digits[0] == '-';
  if (negative) digits.remove_prefix(1);
  if (digits.size() > 15 || (negative && digits == "0")) return false;
  std::int64_t magnitude = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    magnitude = magnitude * 10 + (c - '0');
  }
  out = negative ? -magnitude : magnitude;
  return out >= least && out <= most;
}

template <class Integer>
bool read_integers(const JsonNode* value, std::int64_t least, std::int64_t most, std::vector<Integer>& out) {
  if (value == nullptr || value->kind != JsonNode::array) return false;
  for (const JsonNode& element : value->elements) {
    std::int64_t integer = 0;
    if (!read_integer(&element, least, most, integer)) return false;
    out.push_back(static_cast<Integer>(integer));
  }
  return true;
}

bool read_double(const JsonNode& value, std::uint64_t& out) {
  if (value.kind != JsonNode::number) return false;
  const std::optional<ParsedNumber> parsed = parse(value.text);
  if (!parsed || parsed->overflow) return false;
  out = parsed->bits;
  return true;
}

bool read_hex(const JsonNode& value, std::uint64_t& out) {
  if (value.kind != JsonNode::string || value.text.size() != 18 || value.text.compare(0, 2, "0x") != 0) return false;
  if (value.text.find_first_not_of("0123456789abcdefABCDEF", 2) != std::string::npos) return false;
  unsigned long long bits = 0;
  std::sscanf(value.text.c_str() + 2, "%llx", &bits);
  out = bits;
  return true;
}

using ReadOne = bool (*)(const JsonNode&, std::uint64_t&);

/// A number in a plain member, its bits in another, or both where they agree.
bool read_either(const JsonNode& node, const char* plain, const char* bits, std::optional<std::uint64_t>& out) {
  std::optional<std::uint64_t> read[2];
  const JsonNode* const values[] = {node.member(plain), node.member(bits)};
  const ReadOne readers[] = {read_double, read_hex};
  for (int i = 0; i < 2; ++i)
    if (values[i] != nullptr && !readers[i](*values[i], read[i].emplace())) return false;
  if (read[0] && read[1] && *read[0] != *read[1]) return false;
  out = read[0] ? read[0] : read[1];
  return true;
}

bool read_data_list(const JsonNode& value, const std::vector<std::uint32_t>& shape, ReadOne read_one,
                    std::vector<std::uint64_t>& out) {
  if (value.kind != JsonNode::array) return false;
  const bool rows = !value.elements.empty() && value.elements[0].kind == JsonNode::array;
  if (!rows) {
    for (const JsonNode& element : value.elements)
      if (!read_one(element, out.emplace_back())) return false;
    return true;
  }
  if (shape.size() != 2 || value.elements.size() != shape[0]) return false;
  for (const JsonNode& row : value.elements) {
    if (row.kind != JsonNode::array || row.elements.size() != shape[1]) return false;
    for (const JsonNode& element : row.elements)
      if (!read_one(element, out.emplace_back())) return false;
  }
  return true;
}

bool read_data(const JsonNode& node, Node& out) {
  std::vector<std::uint64_t> read[2];
  const JsonNode* const values[] = {node.member("data"), node.member("data_bits")};
  const ReadOne readers[] = {read_double, read_hex};
  for (int i = 0; i < 2; ++i)
    if (values[i] != nullptr && !read_data_list(*values[i], out.shape, readers[i], read[i])) return false;
  if (values[0] != nullptr && values[1] != nullptr && read[0] != read[1]) return false;
  if (values[0] != nullptr)
    out.data = std::move(read[0]);
  else if (values[1] != nullptr)
    out.data = std::move(read[1]);
  return true;
}

bool members_are_known(const JsonNode& node, GraphForm form) {
  for (const JsonNode& element : node.elements) {
    const std::string& key = element.key;
    bool known = false;
    for (const char* name : {"id", "shape", "op", "data", "scalar", "param2", "indices", "inputs"})
      known |= key == name;
    if (form == GraphForm::lossless)
      for (const char* name : {"data_bits", "scalar_bits", "param2_bits"}) known |= key == name;
    if (!known) return false;
  }
  return true;
}

bool read_node(const JsonNode& value, GraphForm form, Node& out) {
  if (value.kind != JsonNode::object || !members_are_known(value, form)) return false;
  std::int64_t id = 0;
  if (!read_integer(value.member("id"), 0, 4294967294, id)) return false;
  out.id = static_cast<std::uint32_t>(id);
  if (!read_integers(value.member("shape"), 1, 2147483647, out.shape)) return false;
  const JsonNode* const op = value.member("op");
  if (op == nullptr || op->kind != JsonNode::string) return false;
  out.op = op->text;
  const JsonNode* const indices = value.member("indices");
  if (indices != nullptr && !read_integers(indices, -2147483648LL, 2147483647, out.indices.emplace())) return false;
  const JsonNode* const inputs = value.member("inputs");
  if (inputs != nullptr && !read_integers(inputs, 0, 4294967294, out.inputs)) return false;
  return read_either(value, "scalar", "scalar_bits", out.scalar) &&
         read_either(value, "param2", "param2_bits", out.param2) && read_data(value, out);
}

// ---- bytes ----------------------------------------------------------------------------------------------------

/// Reads from the front; after the end everything is 0 and `ended` says so.
struct Cursor {
  std::span<const std::uint8_t> rest;
  bool ended = false;

  std::uint64_t take(std::size_t size) {
    if (rest.size() < size) {
      ended = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value * 256 + rest[i];
    rest = rest.subspan(size);
    return value;
  }
  template <class Element>
  void take_list(std::vector<Element>& out, std::uint64_t count, std::size_t size) {
    for (std::uint64_t i = 0; i < count && !ended; ++i) out.push_back(static_cast<Element>(take(size)));
  }
};

bool take_node(Cursor& bytes, Node& node) {
  const std::uint64_t flags = bytes.take(2);
  const std::uint64_t op_size = bytes.take(2);
  node.id = static_cast<std::uint32_t>(bytes.take(4));
  for (std::uint64_t i = 0; i < op_size; ++i) node.op.push_back(static_cast<char>(bytes.take(1)));
  bytes.take_list(node.shape, bytes.take(2), 4);
  bytes.take_list(node.inputs, bytes.take(2), 4);
  if (flags > 31 || flags % 2 != flags / 16) return false;
  if (flags / 2 % 2 == 1) node.scalar = bytes.take(8);
  if (flags / 4 % 2 == 1) node.param2 = bytes.take(8);
  if (flags % 2 == 1) bytes.take_list(node.data.emplace(), bytes.take(4), 8);
  if (flags / 8 % 2 == 1) bytes.take_list(node.indices.emplace(), bytes.take(4), 4);
  return !bytes.ended;
}

void put(std::vector<std::uint8_t>& bytes, std::uint64_t value, int size) {
  for (; size > 0; --size, value /= 256) bytes.push_back(static_cast<std::uint8_t>(value % 256));
}

template <class Element>
void put_list(std::vector<std::uint8_t>& bytes, const std::vector<Element>& list, int count_size, int size) {
  put(bytes, list.size(), count_size);
  for (const Element element : list) put(bytes, static_cast<std::uint64_t>(element), size);
}

// ---- differences ----------------------------------------------------------------------------------------------

std::string told(std::uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%016llx", static_cast<unsigned long long>(bits));
  return text;
}
std::string told(std::uint32_t value) { return std::to_string(value); }
std::string told(std::int32_t value) { return std::to_string(value); }
template <class T>
std::string told(const std::vector<T>& list) {
  std::string text(1, '[');
  for (std::size_t i = 0; i < list.size() && i < 16; ++i) text.append(i == 0 ? "" : ", ").append(told(list[i]));
  return text.append(list.size() > 16 ? ", …]" : "]");
}
template <class T>
std::string told(const std::optional<T>& value) {
  return value ? told(*value) : "absent";
}
std::string told(const std::string& text) { return text; }

}  // namespace

std::optional<GraphForm> graph_form(std::string_view dialect) {
  if (dialect == "ysgp:lossless") return GraphForm::lossless;
  if (dialect == "ysgp:yishape") return GraphForm::yishape;
  return std::nullopt;
}

bool is_sound(const Nodes& nodes, GraphForm form) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!node_is_sound(nodes[i], i, form)) return false;
  return !nodes.empty();
}

bool has_json(const Nodes& nodes, GraphForm form) {
  if (form == GraphForm::lossless) return true;
  for (const Node& node : nodes) {
    if ((node.scalar && non_finite(*node.scalar)) || (node.param2 && non_finite(*node.param2))) return false;
    if (!node.data) continue;
    for (const std::uint64_t bits : *node.data)
      if (non_finite(bits)) return false;
  }
  return true;
}

std::optional<Nodes> read_graph_text(std::string_view text, GraphForm form) {
  const DefaultEnvironment environment;  // of all numbers
  const std::optional<JsonNode> document = read_tree(text);
  if (!document || document->kind != JsonNode::object || document->elements.size() != 1) return std::nullopt;
  const JsonNode* const list = document->member("nodes");
  if (list == nullptr || list->kind != JsonNode::array) return std::nullopt;
  Nodes nodes;
  for (const JsonNode& value : list->elements)
    if (!read_node(value, form, nodes.emplace_back())) return std::nullopt;
  if (!is_sound(nodes, form)) return std::nullopt;
  return nodes;
}

std::optional<Nodes> read_graph_bytes(std::span<const std::uint8_t> bytes, GraphForm form) {
  Cursor cursor{bytes};
  if (cursor.take(4) != 0x50535359 || cursor.take(4) != 1) return std::nullopt;
  const std::uint64_t count = cursor.take(4);
  Nodes nodes;
  for (std::uint64_t i = 0; i < count; ++i)
    if (!take_node(cursor, nodes.emplace_back())) return std::nullopt;
  if (cursor.ended || !cursor.rest.empty() || !is_sound(nodes, form)) return std::nullopt;
  return nodes;
}

std::vector<std::uint8_t> graph_bytes(const Nodes& nodes) {
  std::vector<std::uint8_t> bytes;
  put(bytes, 0x50535359, 4);
  put(bytes, 1, 4);
  put(bytes, nodes.size(), 4);
  for (const Node& node : nodes) {
    int flags = 0;
    if (node.data) flags += node.inputs.empty() ? 17 : 1;
    if (node.scalar) flags += 2;
    if (node.param2) flags += 4;
    if (node.indices) flags += 8;
    put(bytes, static_cast<std::uint64_t>(flags), 2);
    put(bytes, node.op.size(), 2);
    put(bytes, node.id, 4);
    bytes.insert(bytes.end(), node.op.begin(), node.op.end());
    put_list(bytes, node.shape, 2, 4);
    put_list(bytes, node.inputs, 2, 4);
    if (node.scalar) put(bytes, *node.scalar, 8);
    if (node.param2) put(bytes, *node.param2, 8);
    if (node.data) put_list(bytes, *node.data, 4, 8);
    if (node.indices) put_list(bytes, *node.indices, 4, 4);
  }
  return bytes;
}

std::optional<GraphDifference> difference(const Nodes& one, const Nodes& other) {
  if (one.size() != other.size())
    return GraphDifference{"nodes", "number of nodes", std::to_string(one.size()), std::to_string(other.size())};
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto differs = [&](const char* member, const auto& a, const auto& b) -> std::optional<GraphDifference> {
      if (a == b) return std::nullopt;
      return GraphDifference{member, "node " + std::to_string(i) + ", " + member, told(a), told(b)};
    };
    const Node& a = one[i];
    const Node& b = other[i];
    for (const std::optional<GraphDifference>& found :
         {differs("id", a.id, b.id), differs("shape", a.shape, b.shape), differs("op", a.op, b.op),
          differs("data", a.data, b.data), differs("scalar", a.scalar, b.scalar), differs("param2", a.param2, b.param2),
          differs("indices", a.indices, b.indices), differs("inputs", a.inputs, b.inputs)})
      if (found) return found;
  }
  return std::nullopt;
}

}  // namespace packcheck::oracle
