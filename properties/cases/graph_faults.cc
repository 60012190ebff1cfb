// What is wrong in a nearly valid graph.
#include <array>

#include "properties/cases/graphs.h"

namespace packcheck {
namespace {

std::string filled(std::string_view pattern, std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < pattern.size();) {
    const auto put = [&](std::string_view word, std::size_t id) {
      if (pattern.substr(at, word.size()) != word) return false;
      text.append(std::to_string(id));
      at += word.size();
      return true;
    };
    if (!put("ID", count) && !put("NEXT", count + 1)) text.push_back(pattern[at++]);
  }
  return text;
}

/// "member=value" of the first node, which is a leaf: replaced, or added where it is not there.
void set(GraphDraft& draft, std::string_view value) {
  const std::string name(value.substr(0, value.find('=')));
  const std::string text(value.substr(value.find('=') + 1));
  for (auto& [key, old] : draft.nodes[0])
    if (key == name) {
      old = text;
      return;
    }
  draft.nodes[0].emplace_back(name, text);
}
/// Without the member, whatever it is called with bits.
void without(GraphDraft& draft, std::string_view value) {
  std::erase_if(draft.nodes[0], [&](const auto& member) { return member.first == value; });
}
/// "member=value" once more than it should be there.
void add(GraphDraft& draft, std::string_view value) {
  draft.nodes[0].emplace_back(std::string(value.substr(0, value.find('='))),
                              std::string(value.substr(value.find('=') + 1)));
}
/// Nodes after the last one.
void append(GraphDraft& draft, std::string_view value) {
  draft.after = "," + filled(value, draft.nodes.size()) + draft.after;
}
void append_text(GraphDraft& draft, std::string_view value) { draft.after.append(value); }
void prepend_text(GraphDraft& draft, std::string_view value) { draft.before.insert(0, value); }
void whole(GraphDraft& draft, std::string_view value) {
  draft.nodes.clear();
  draft.before = std::string(value);
  draft.after.clear();
}
void nested(GraphDraft& draft, std::string_view) { whole(draft, std::string(2000, '[') + std::string(2000, ']')); }

constexpr std::string_view kNul("\0", 1);

constexpr auto kFaults = std::to_array<GraphFault>({
    {"id missing", without, "id"},
    {"id as 0.0", set, "id=0.0"},
    {"id as text", set, "id=\"0\""},
    {"id as -0", set, "id=-0"},
    {"id of 2^32", set, "id=4294967296"},
    {"id of 2^64", set, "id=18446744073709551616"},
    {"id null", set, "id=null"},
    {"id taken", append, R"({"id":0,"shape":[1],"op":"leaf","data":[1.0]})"},
    {"id left out", append, R"({"id":NEXT,"shape":[1],"op":"leaf","data":[1.0]})"},
    {"shape missing", without, "shape"},
    {"shape null", set, "shape=null"},
    {"shape as a number", set, "shape=3"},
    {"dimension as 3.0", append, R"({"id":ID,"shape":[3.0],"op":"relu","inputs":[0]})"},
    {"dimension as 3e0", append, R"({"id":ID,"shape":[3e0],"op":"relu","inputs":[0]})"},
    {"dimension as text", append, R"({"id":ID,"shape":["3"],"op":"relu","inputs":[0]})"},
    {"dimension 0", append, R"({"id":ID,"shape":[2,0],"op":"relu","inputs":[0]})"},
    {"dimension negative", append, R"({"id":ID,"shape":[-1,3],"op":"relu","inputs":[0]})"},
    {"dimension of 2^31", append, R"({"id":ID,"shape":[2147483648],"op":"relu","inputs":[0]})"},
    {"dimension of 2^32+3", append, R"({"id":ID,"shape":[4294967299],"op":"relu","inputs":[0]})"},
    {"product overflows", append, R"({"id":ID,"shape":[2147483647,2147483647,2147483647],"op":"relu","inputs":[0]})"},
    {"op missing", without, "op"},
    {"op a number", set, "op=7"},
    {"op empty", set, "op=\"\""},
    {"op with an unpaired surrogate", set, "op=\"\\ud800\""},
    {"op that is no UTF-8", set, "op=\"\xC0\xAF\""},
    {"op with a bare newline", set, "op=\"a\nb\""},
    {"leaf without data", append, R"({"id":ID,"shape":[1],"op":"leaf","inputs":[0]})"},
    {"data on an operator", append, R"({"id":ID,"shape":[1],"op":"relu","data":[1.0],"inputs":[0]})"},
    {"data too short", append, R"({"id":ID,"shape":[3],"op":"leaf","data":[1.0,2.0]})"},
    {"data too long", append, R"({"id":ID,"shape":[3],"op":"leaf","data":[1.0,2.0,3.0,4.0]})"},
    {"data empty", append, R"({"id":ID,"shape":[1],"op":"leaf","data":[]})"},
    {"data null", append, R"({"id":ID,"shape":[1],"op":"leaf","data":null})"},
    {"data with null", append, R"({"id":ID,"shape":[2],"op":"leaf","data":[1.0,null]})"},
    {"data with NaN", append, R"({"id":ID,"shape":[2],"op":"leaf","data":[1.0,NaN]})"},
    {"data with Infinity", append, R"({"id":ID,"shape":[2],"op":"leaf","data":[-Infinity,1.0]})"},
    {"data with 1e999", append, R"({"id":ID,"shape":[2],"op":"leaf","data":[1e999,1.0]})"},
    {"data with text", append, R"({"id":ID,"shape":[2],"op":"leaf","data":["1.0",1.0]})"},
    {"rows of two lengths", append, R"({"id":ID,"shape":[2,2],"op":"leaf","data":[[1.0,2.0,3.0],[4.0]]})"},
    {"rows of a vector", append, R"({"id":ID,"shape":[4],"op":"leaf","data":[[1.0,2.0],[3.0,4.0]]})"},
    {"rows and numbers mixed", append, R"({"id":ID,"shape":[2,2],"op":"leaf","data":[[1.0,2.0],3.0,4.0]})"},
    {"numbers and rows mixed", append, R"({"id":ID,"shape":[2,2],"op":"leaf","data":[1.0,2.0,[3.0,4.0]]})"},
    {"rows transposed", append, R"({"id":ID,"shape":[2,3],"op":"leaf","data":[[1,2],[3,4],[5,6]]})"},
    {"rows of rows", append, R"({"id":ID,"shape":[1,1],"op":"leaf","data":[[[1.0]]]})"},
    {"scalar null", set, "scalar=null"},
    {"scalar as text", set, "scalar=\"1.0\""},
    {"scalar true", set, "scalar=true"},
    {"scalar NaN", set, "scalar=NaN"},
    {"scalar Infinity", set, "scalar=Infinity"},
    {"scalar -Infinity", set, "scalar=-Infinity"},
    {"scalar 1e999", set, "scalar=1e999"},
    {"scalar with a leading zero", set, "scalar=01.5"},
    {"scalar with a comma", set, "scalar=1,5"},
    {"scalar in hex", set, "scalar=0x10"},
    {"param2 a list", set, "param2=[1.0]"},
    {"param2 Infinity", set, "param2=Infinity"},
    {"bits too short", set, "scalar_bits=\"0x3ff\""},
    {"bits without 0x", set, "scalar_bits=\"003ff0000000000000\""},
    {"bits as a number", set, "param2_bits=4607182418800017408"},
    {"bits that disagree", append,
     R"({"id":ID,"shape":[1],"op":"relu","scalar":1.0,"scalar_bits":"0x3ff0000000000001","inputs":[0]})"},
    {"bits of another zero", append,
     R"({"id":ID,"shape":[1],"op":"relu","scalar":0.0,"scalar_bits":"0x8000000000000000","inputs":[0]})"},
    {"data bits that disagree", append,
     R"({"id":ID,"shape":[1],"op":"leaf","data":[1.0],"data_bits":["0x3ff0000000000001"]})"},
    {"indices null", set, "indices=null"},
    {"index of 2^31", set, "indices=[2147483648]"},
    {"index 1.5", set, "indices=[1.5]"},
    {"index null", set, "indices=[0,null]"},
    {"inputs null", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":null})"},
    {"inputs as an object", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":{"0":0}})"},
    {"input null", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":[null]})"},
    {"input null before another", append, R"({"id":ID,"shape":[1],"op":"custom","inputs":[null,0]})"},
    {"input null after another", append, R"({"id":ID,"shape":[1],"op":"conv2d","inputs":[0,0,null]})"},
    {"input of 2^32-1", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":[4294967295]})"},
    {"input negative", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":[-1]})"},
    {"input as 0.0", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":[0.0]})"},
    {"input unknown", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":[99999]})"},
    {"input itself", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":[ID]})"},
    {"forward reference", append,
     R"({"id":ID,"shape":[1],"op":"relu","inputs":[NEXT]},{"id":NEXT,"shape":[1],"op":"leaf","data":[1.0]})"},
    {"cycle", append,
     R"({"id":ID,"shape":[1],"op":"relu","inputs":[NEXT]},{"id":NEXT,"shape":[1],"op":"relu","inputs":[ID]})"},
    {"input dropped", append, R"({"id":ID,"shape":[1],"op":"add","inputs":[0]})"},
    {"input too many", append, R"({"id":ID,"shape":[1],"op":"relu","inputs":[0,0]})"},
    {"all inputs dropped", append, R"({"id":ID,"shape":[1],"op":"custom","inputs":[]})"},
    {"neither data nor inputs", append, R"({"id":ID,"shape":[1],"op":"custom"})"},
    {"member unknown", set, "scalar2=1.0"},
    {"member in capitals", set, "Scalar=1.0"},
    {"key twice", add, "op=\"leaf\""},
    {"key twice, escaped", add, "\\u006fp=\"leaf\""},
    {"id twice", add, "id=0"},
    {"node a number", append, "7"},
    {"node null", append, "null"},
    {"node a list", append, "[]"},
    {"node empty", append, "{}"},
    {"comma at the end", append, ""},
    {"text after the end", append_text, " x"},
    {"second document", append_text, "{}"},
    {"NUL after the end", append_text, kNul},
    {"byte order mark", prepend_text, "\xEF\xBB\xBF"},
    {"comment", prepend_text, "/* graph */"},
    {"nodes missing", whole, "{}"},
    {"nodes empty", whole, R"({"nodes":[]})"},
    {"nodes null", whole, R"({"nodes":null})"},
    {"nodes an object", whole, R"({"nodes":{"0":{"id":0,"shape":[1],"op":"leaf","data":[1.0]}}})"},
    {"nodes twice", whole, R"({"nodes":[],"nodes":[{"id":0,"shape":[1],"op":"leaf","data":[1.0]}]})"},
    {"another member beside nodes", whole, R"({"nodes":[{"id":0,"shape":[1],"op":"leaf","data":[1.0]}],"version":1})"},
    {"list without its object", whole, R"([{"id":0,"shape":[1],"op":"leaf","data":[1.0]}])"},
    {"nothing", whole, ""},
    {"half", whole, R"({"nodes":[{"id":0,"shape":[1],"op":"le)"},
    {"nested too deep", nested, ""},
});

oracle::Node operation(std::size_t id, std::string op, std::vector<std::uint32_t> inputs) {
  oracle::Node node;
  node.id = static_cast<std::uint32_t>(id);
  node.shape = {1};
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  return node;
}
oracle::Node leaf(std::size_t id) {
  oracle::Node node = operation(id, "leaf", {});
  node.data = std::vector<std::uint64_t>{0};
  return node;
}
constexpr std::uint32_t kMissing = 0xFFFFFFFF;

constexpr auto kBytesFaults = std::to_array<GraphBytesFault>({
    {"missing input", [](oracle::Nodes& n) { n.push_back(operation(n.size(), "relu", {kMissing})); }},
    {"missing input before another", [](oracle::Nodes& n) { n.push_back(operation(n.size(), "custom", {kMissing, 0})); }},
    {"missing input after another", [](oracle::Nodes& n) { n.push_back(operation(n.size(), "conv2d", {0, 0, kMissing})); }},
    {"forward reference",
     [](oracle::Nodes& n) {
       n.push_back(operation(n.size(), "relu", {static_cast<std::uint32_t>(n.size() + 1)}));
       n.push_back(leaf(n.size()));
     }},
    {"input itself",
     [](oracle::Nodes& n) { n.push_back(operation(n.size(), "relu", {static_cast<std::uint32_t>(n.size())})); }},
    {"input unknown", [](oracle::Nodes& n) { n.push_back(operation(n.size(), "relu", {99999})); }},
    {"input dropped", [](oracle::Nodes& n) { n.push_back(operation(n.size(), "add", {0})); }},
    {"all inputs dropped", [](oracle::Nodes& n) { n.push_back(operation(n.size(), "custom", {})); }},
    {"id taken", [](oracle::Nodes& n) { n.push_back(leaf(0)); }},
    {"id left out", [](oracle::Nodes& n) { n.push_back(leaf(n.size() + 1)); }},
    {"dimension 0", [](oracle::Nodes& n) { n[0].shape.push_back(0); }},
    {"dimension of 2^31", [](oracle::Nodes& n) { n[0].shape.push_back(0x80000000); }},
    {"product overflows", [](oracle::Nodes& n) { n[0].shape = {0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF}; }},
    {"op empty", [](oracle::Nodes& n) { n[0].op.clear(); }},
    {"op that is no UTF-8", [](oracle::Nodes& n) { n[0].op = "\xC0\xAF"; }},
    {"data too long", [](oracle::Nodes& n) { n[0].data->push_back(0); }},
    {"data too short", [](oracle::Nodes& n) { n[0].data->pop_back(); }},
    {"data on an operator",
     [](oracle::Nodes& n) {
       n.push_back(operation(n.size(), "relu", {0}));
       n.back().data = std::vector<std::uint64_t>{0};
     }},
    {"leaf without data", [](oracle::Nodes& n) { n.push_back(operation(n.size(), "leaf", {0})); }},
    {"no nodes", [](oracle::Nodes& n) { n.clear(); }},
});

}  // namespace

std::span<const GraphFault> graph_faults() { return kFaults; }
std::span<const GraphBytesFault> graph_bytes_faults() { return kBytesFaults; }

}  // namespace packcheck
