// Graphs as bytes and as texts: sound, nearly sound, hostile.
#include "properties/cases/graphs.h"

#include <bit>
#include <charconv>

#include "properties/cases/case_type.h"
#include "properties/oracles/default_environment.h"
#include "properties/oracles/json_tree.h"

namespace packcheck {
namespace {

using oracle::GraphForm;
using oracle::Node;
using oracle::Nodes;

struct DrawnOperator {
  std::string_view name;
  std::size_t least;
  std::size_t most;
};
constexpr DrawnOperator kOperators[] = {{"relu", 1, 1},    {"add", 2, 2},       {"conv2d", 2, 3},
                                        {"linear", 2, 3},  {"maxpool2d", 1, 1}, {"softmaxCrossEntropy", 2, 2},
                                        {"flatten", 1, 1}, {"cat", 1, 4},       {"dropout", 1, 1},
                                        {"custom", 1, 3}};
constexpr std::string_view kLeafNames[] = {"leaf", "weight", "gewicht_\xC3\xA4", "a\"b\\c/\n\x01", "\xF0\x9F\x98\x80"};

bool is_finite_bits(std::uint64_t bits) { return (bits >> 52 & 0x7FF) != 0x7FF; }
bool is_nan_bits(std::uint64_t bits) { return (bits << 1) > 0xFFE0000000000000; }

std::vector<std::uint32_t> draw_shape(Source& source) {
  std::vector<std::uint32_t> shape;
  for (std::uint64_t rank = source.below(5); rank > 0; --rank)
    shape.push_back(1 + static_cast<std::uint32_t>(source.below(3)));
  return shape;
}

class Drawer {
 public:
  Drawer(Source& source, GraphForm form) : source_(source), form_(form), finite_(source.below(2) == 0) {}

  Node node(std::size_t position) {
    Node node;
    node.id = static_cast<std::uint32_t>(position);
    node.shape = draw_shape(source_);
    if (position == 0 || source_.once_in(3)) {
      leaf(node);
    } else {
      const DrawnOperator& row = source_.pick(kOperators);
      node.op = row.name;
      for (std::uint64_t count = row.least + source_.below(row.most - row.least + 1); count > 0; --count)
        node.inputs.push_back(static_cast<std::uint32_t>(source_.below(position)));
    }
    if (source_.bits(1) != 0) node.scalar = parameter();
    if (source_.bits(1) != 0) node.param2 = parameter();
    if (source_.once_in(3)) indices(node.indices.emplace());
    if (node.indices && node.indices->empty() && form_ == GraphForm::yishape) node.indices.reset();
    return node;
  }

 private:
  void leaf(Node& node) {
    node.op = source_.pick(kLeafNames);
    std::uint64_t count = 1;
    for (const std::uint32_t dimension : node.shape) count *= dimension;
    node.data.emplace();
    for (; count > 0; --count) node.data->push_back(number());
  }
  void indices(std::vector<std::int32_t>& list) {
    for (std::uint64_t count = source_.below(4); count > 0; --count)
      list.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(source_.bits(source_.once_in(3) ? 32 : 4))));
  }
  std::uint64_t number() {
    const std::uint64_t bits = source_.float_in(Format::f64);
    return finite_ && !is_finite_bits(bits) ? 0 : bits;
  }
  /// Packed integers, or any number; no NaN where that means that there is none.
  std::uint64_t parameter() {
    if (source_.below(2) == 0) return source_.bits(source_.once_in(3) ? 47 : 24);
    const std::uint64_t bits = number();
    return form_ == GraphForm::yishape && is_nan_bits(bits) ? 0 : bits;
  }

  Source& source_;
  GraphForm form_;
  bool finite_;
};

/// A finite number: shortest (an integer without a point where it is one), or with 17 digits.
std::string spell(Source& source, std::uint64_t bits) {
  const oracle::DefaultEnvironment environment;
  char text[40];
  const auto value = std::bit_cast<double>(bits);
  char* const end = text + sizeof(text);
  char* const last = source.below(3) == 2 ? std::to_chars(text, end, value, std::chars_format::scientific, 16).ptr
                                          : std::to_chars(text, end, value).ptr;
  std::string spelt(text, last);
  if (source.below(4) == 3)
    for (char& letter : spelt)
      if (letter == 'e') letter = 'E';
  return spelt;
}
std::string spell_bits(std::uint64_t bits) { return "\"" + hex_of(bits, 64) + "\""; }

template <class T, class Spell>
std::string spell_list(const std::vector<T>& list, std::size_t row, Spell one) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) text.push_back(',');
    if (row != 0 && i % row == 0) text.push_back('[');
    text.append(one(list[i]));
    if (row != 0 && i % row == row - 1) text.push_back(']');
  }
  return text.append("]");
}

/// One of the two members that say a number, or both.
template <class Plain, class InBits>
void put_number(Source& source, GraphDraft::Members& members, const char* name, bool finite, GraphForm form,
                Plain plain, InBits in_bits) {
  const std::uint64_t way = form == GraphForm::yishape ? 0 : source.below(4);
  if (finite && way != 3) members.emplace_back(name, plain());
  if (!finite || way >= 2) members.emplace_back(std::string(name).append("_bits"), in_bits());
}

std::string spell_text(std::string_view text) { return nlohmann::json(std::string(text)).dump(); }

GraphDraft::Members draw_members(Source& source, const Node& node, GraphForm form) {
  GraphDraft::Members members;
  const auto decimal = [](auto value) { return std::to_string(value); };
  members.emplace_back("id", std::to_string(node.id));
  members.emplace_back("shape", spell_list(node.shape, 0, decimal));
  members.emplace_back("op", spell_text(node.op));
  if (node.data) {
    const std::size_t row = node.shape.size() == 2 && source.below(4) != 3 ? node.shape[1] : 0;
    bool finite = true;
    for (const std::uint64_t bits : *node.data) finite &= is_finite_bits(bits);
    put_number(
        source, members, "data", finite, form,
        [&] { return spell_list(*node.data, row, [&](std::uint64_t bits) { return spell(source, bits); }); },
        [&] { return spell_list(*node.data, row, spell_bits); });
  }
  const auto put_parameter = [&](const char* name, std::uint64_t bits) {
    put_number(
        source, members, name, is_finite_bits(bits), form, [&] { return spell(source, bits); },
        [&] { return spell_bits(bits); });
  };
  if (node.scalar) put_parameter("scalar", *node.scalar);
  if (node.param2) put_parameter("param2", *node.param2);
  if (node.indices) members.emplace_back("indices", spell_list(*node.indices, 0, decimal));
  if (!node.inputs.empty() || source.once_in(4)) members.emplace_back("inputs", spell_list(node.inputs, 0, decimal));
  if (source.once_in(4)) {
    const std::uint64_t first = source.below(members.size());
    std::swap(members[first], members[source.below(members.size())]);
  }
  return members;
}

GraphForm form_of(std::string_view dialect) { return oracle::graph_form(dialect).value_or(GraphForm::lossless); }

Nodes draw_sayable(Source& source, GraphForm form) {
  Nodes nodes = draw_graph(source, form);
  if (oracle::has_json(nodes, form)) return nodes;
  for (Node& node : nodes) {
    const auto clear = [](std::uint64_t& bits) {
      if (!is_finite_bits(bits)) bits = 0;
    };
    if (node.scalar) clear(*node.scalar);
    if (node.param2) clear(*node.param2);
    if (node.data)
      for (std::uint64_t& bits : *node.data) clear(bits);
  }
  return nodes;
}

/// Some bytes changed, lost or added.
template <class Text>
void damage(Source& source, Text& text) {
  using Letter = typename Text::value_type;
  for (std::uint64_t count = 1 + source.below(3); count > 0; --count) {
    const auto at = static_cast<std::ptrdiff_t>(source.below(text.size() + 1));
    constexpr unsigned char kLetters[] = {0, 1, 0xFF, '0', '9', '-', '.', 'e', '"', ',', ':', '[', ']', '{', '}', '\\'};
    const auto letter = static_cast<Letter>(source.once_in(4) ? source.bits(8) : source.pick(kLetters));
    switch (source.below(4)) {
      case 0:
        if (at < static_cast<std::ptrdiff_t>(text.size())) text[static_cast<std::size_t>(at)] = letter;
        break;
      case 1: text.insert(text.begin() + at, letter); break;
      case 2:
        if (at < static_cast<std::ptrdiff_t>(text.size())) text.erase(text.begin() + at);
        break;
      default: text.resize(static_cast<std::size_t>(at)); break;
    }
  }
}

std::string read_dialect(MemberReader& members) {
  std::string dialect = members.text("dialect");
  if (!oracle::graph_form(dialect))
    members.fail({"unknown dialect '" + dialect + "'", "graph", "ysgp:lossless or ysgp:yishape"});
  return dialect;
}

class GraphBytesType final : public TypedCaseType<GraphBytesCase> {
 public:
  using TypedCaseType::TypedCaseType;

  GraphBytesCase draw_value(Source& source, std::string_view variant) const override {
    const GraphForm form = form_of(variant);
    Nodes nodes = draw_graph(source, form);
    const std::uint64_t kind = source.below(4);
    if (kind == 2) graph_bytes_faults()[source.below(graph_bytes_faults().size())].apply(nodes);
    GraphBytesCase c{std::string(variant), oracle::graph_bytes(nodes)};
    if (kind == 3) damage(source, c.ysgp);
    return c;
  }
  std::string variant_of(const GraphBytesCase& c) const override { return c.dialect; }
  std::size_t payload(const GraphBytesCase& c) const override { return c.ysgp.size(); }
  Json write(const GraphBytesCase& c) const override {
    return {{"dialect", c.dialect}, {"ysgp", hex_of_bytes(c.ysgp)}};
  }
  Result<GraphBytesCase> read(MemberReader& members) const override {
    std::string dialect = read_dialect(members);
    return GraphBytesCase{std::move(dialect), members.bytes("ysgp")};
  }
  std::optional<Case> from_wire(std::span<const std::uint8_t> bytes, std::string_view variant) const override {
    return wrap({std::string(variant), Bytes(bytes.begin(), bytes.end())});
  }
  std::optional<Bytes> wire_bytes(const Case& c) const override { return c.as<GraphBytesCase>().ysgp; }
};

class GraphTextType final : public TypedCaseType<GraphTextCase> {
 public:
  using TypedCaseType::TypedCaseType;

  GraphTextCase draw_value(Source& source, std::string_view variant) const override {
    const GraphForm form = form_of(variant);
    GraphDraft draft = draw_draft(source, draw_sayable(source, form), form);
    const std::uint64_t kind = source.below(4);
    if (kind >= 1 && kind <= 2) {
      const GraphFault& fault = graph_faults()[source.below(graph_faults().size())];
      fault.apply(draft, fault.value);
    }
    constexpr std::string_view kSpaces[] = {"", " ", "\n\t", "\r\n  "};
    GraphTextCase c{std::string(variant), draft.text(source.pick(kSpaces))};
    if (kind == 3) damage(source, c.text);
    return c;
  }
  std::string variant_of(const GraphTextCase& c) const override { return c.dialect; }
  std::size_t payload(const GraphTextCase& c) const override { return c.text.size(); }
  Json write(const GraphTextCase& c) const override {
    // Text that is no UTF-8 has no JSON form: it is written as bytes.
    if (oracle::is_utf8_text(c.text)) return {{"dialect", c.dialect}, {"text", c.text}};
    return {{"dialect", c.dialect}, {"bytes", hex_of_bytes(string_to_bytes(c.text))}};
  }
  Result<GraphTextCase> read(MemberReader& members) const override {
    std::string dialect = read_dialect(members);
    if (!members.has("bytes")) return GraphTextCase{std::move(dialect), members.text("text")};
    return GraphTextCase{std::move(dialect), bytes_to_string(members.bytes("bytes"))};
  }
  std::optional<Case> from_wire(std::span<const std::uint8_t> bytes, std::string_view variant) const override {
    return wrap({std::string(variant), bytes_to_string(bytes)});
  }
  std::optional<Bytes> wire_bytes(const Case& c) const override { return string_to_bytes(c.as<GraphTextCase>().text); }
};

const GraphBytesType kGraphBytes("graph_bytes");
const GraphTextType kGraphTexts("graph_text");

}  // namespace

const CaseType& graph_bytes_cases = kGraphBytes;
const CaseType& graph_text_cases = kGraphTexts;

Nodes draw_graph(Source& source, GraphForm form) {
  Nodes nodes;
  Drawer drawer(source, form);
  for (std::uint64_t count = 1 + source.below(6); count > 0; --count) nodes.push_back(drawer.node(nodes.size()));
  return nodes;
}

GraphDraft draw_draft(Source& source, const Nodes& nodes, GraphForm form) {
  GraphDraft draft;
  for (const Node& node : nodes) draft.nodes.push_back(draw_members(source, node, form));
  return draft;
}

std::string GraphDraft::text(std::string_view space) const {
  std::string result = before;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    result.append(i == 0 ? "" : ",").append(space).append("{");
    for (std::size_t k = 0; k < nodes[i].size(); ++k) {
      result.append(k == 0 ? "\"" : ",\"").append(nodes[i][k].first).append("\":").append(space);
      result.append(nodes[i][k].second);
    }
    result.append(space).append("}");
  }
  return result.append(after);
}

}  // namespace packcheck
