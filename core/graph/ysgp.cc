#include "core/graph/ysgp.h"

#include <algorithm>
#include <utility>

namespace packcheck {
namespace {

constexpr std::uint32_t kMagic = 0x50535359;
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kLeastNode = 12;  // flags, bytes of op, id, rank, number of inputs
enum Flag : std::uint16_t { kData = 1, kScalar = 2, kParam2 = 4, kIndices = 8, kLeaf = 16, kAllFlags = 31 };

template <class T>
T load(const std::uint8_t* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | static_cast<T>(T{from[i]} << 8 * i));
  return value;
}

/// Takes numbers off the front; what reaches past the end is an error, after which all is 0.
class ByteReader {
 public:
  ByteReader(std::span<const std::uint8_t> bytes, GraphErrors& errors) : bytes_(bytes), errors_(errors) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] std::string place() const { return "byte " + std::to_string(at_); }

  /// Whether `count` elements of `size` bytes are there; an error if not.
  bool has(std::uint64_t count, std::size_t size, std::string_view of_what) {
    if (failed_) return false;
    if (count <= left() / size) return true;
    failed_ = true;
    std::string what(of_what);
    what.append(" needs ").append(std::to_string(count));
    if (size != 1) what.append(" times ").append(std::to_string(size));
    errors_.add(what.append(" bytes where ").append(std::to_string(left())).append(" are left"), place(),
                "a whole graph");
    return false;
  }
  template <class T>
  T number(std::string_view of_what) {
    if (!has(1, sizeof(T), of_what)) return 0;
    const T value = load<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }
  template <class T, class List>
  void numbers(List& values, std::uint64_t count, std::string_view of_what) {
    if (!has(count, sizeof(T), of_what)) return;
    values.resize(static_cast<std::size_t>(count));
    for (auto& value : values) {
      value = static_cast<typename List::value_type>(load<T>(bytes_.data() + at_));
      at_ += sizeof(T);
    }
  }
  std::string text(std::uint16_t size, std::string_view of_what) {
    if (!has(size, 1, of_what)) return {};
    std::string result(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return result;
  }
  void fail(std::string what, std::string right) {
    if (!std::exchange(failed_, true)) errors_.add(std::move(what), place(), std::move(right));
  }

 private:
  std::span<const std::uint8_t> bytes_;
  GraphErrors& errors_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

std::string flags_pointer(std::size_t node) { return "/nodes/" + std::to_string(node) + " flags"; }

void drop(ShortList& list, std::uint32_t value) {
  list.resize(static_cast<std::size_t>(std::remove(list.begin(), list.end(), value) - list.begin()));
}

GraphNode read_node(ByteReader& reader, std::size_t position, const GraphRules& rules, GraphErrors& errors) {
  GraphNode node;
  const auto flags = reader.number<std::uint16_t>("a node's flags");
  const auto op_bytes = reader.number<std::uint16_t>("the size of an operator's name");
  node.id = reader.number<std::uint32_t>("an id");
  node.op = reader.text(op_bytes, "an operator's name");
  reader.numbers<std::uint32_t>(node.shape, reader.number<std::uint16_t>("a rank"), "a shape");
  reader.numbers<std::uint32_t>(node.inputs, reader.number<std::uint16_t>("a number of inputs"), "the inputs");
  if (reader.failed()) return node;
  if ((flags & ~kAllFlags) != 0) reader.fail("unknown flags " + std::to_string(flags), "bits 0 to 4 only");
  if (((flags & kData) != 0) != ((flags & kLeaf) != 0) && rules.data_of_operator == DataOfOperator::refuse)
    errors.add((flags & kData) != 0 ? "data on what is no leaf" : "a leaf without data", flags_pointer(position),
               "the flags of data and leaf both set or both clear");
  if ((flags & kScalar) != 0) node.scalar = reader.number<std::uint64_t>("a scalar");
  if ((flags & kParam2) != 0) node.param2 = reader.number<std::uint64_t>("a param2");
  if (rules.flags == FlagReading::scalar_and_param2_swapped) std::swap(node.scalar, node.param2);
  if ((flags & kData) != 0)
    reader.numbers<std::uint64_t>(node.data.emplace(), reader.number<std::uint32_t>("a count of data"), "data");
  if ((flags & kIndices) != 0)
    reader.numbers<std::uint32_t>(node.indices.emplace(), reader.number<std::uint32_t>("a count of indices"),
                                  "indices");
  if (rules.missing_input == MissingInputRule::drop) drop(node.inputs, kMissingInput);
  return node;
}

class ByteWriter {
 public:
  template <class T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  std::vector<std::uint8_t> bytes;
};

void write_node(ByteWriter& writer, const GraphNode& node) {
  const bool leaf = node.is_leaf() && node.inputs.empty();
  writer.number(static_cast<std::uint16_t>((node.data ? kData : 0) | (node.scalar ? kScalar : 0) |
                                           (node.param2 ? kParam2 : 0) | (node.indices ? kIndices : 0) |
                                           (leaf ? kLeaf : 0)));
  writer.number(static_cast<std::uint16_t>(node.op.size()));
  writer.number(node.id);
  writer.bytes.insert(writer.bytes.end(), node.op.begin(), node.op.end());
  writer.number(static_cast<std::uint16_t>(node.shape.size()));
  for (const std::uint32_t dimension : node.shape) writer.number(dimension);
  writer.number(static_cast<std::uint16_t>(node.inputs.size()));
  for (const std::uint32_t input : node.inputs) writer.number(input);
  if (node.scalar) writer.number(*node.scalar);
  if (node.param2) writer.number(*node.param2);
  if (node.data) {
    writer.number(static_cast<std::uint32_t>(node.data->size()));
    for (const std::uint64_t bits : *node.data) writer.number(bits);
  }
  if (node.indices) {
    writer.number(static_cast<std::uint32_t>(node.indices->size()));
    for (const std::int32_t index : *node.indices) writer.number(static_cast<std::uint32_t>(index));
  }
}

}  // namespace

GraphResult<Graph> read_ysgp(std::span<const std::uint8_t> bytes, const GraphDialect& dialect,
                             const GraphRules& rules) {
  GraphErrors errors;
  ByteReader reader(bytes, errors);
  if (reader.number<std::uint32_t>("the magic number") != kMagic) reader.fail("no YSGP", "0x50535359 first");
  if (reader.number<std::uint32_t>("the version") != kVersion) reader.fail("an unknown version", "version 1");
  const auto count = reader.number<std::uint32_t>("the number of nodes");
  Graph graph;
  if (reader.has(count, kLeastNode, "the nodes")) graph.nodes.reserve(count);
  while (!reader.failed() && graph.nodes.size() < count)
    graph.nodes.push_back(read_node(reader, graph.nodes.size(), rules, errors));
  if (!reader.failed() && reader.left() != 0)
    reader.fail(std::to_string(reader.left()) + " bytes after the last node", "nothing");
  if (!reader.failed()) check_graph(graph, dialect, rules, {}, errors);
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return graph;
}

std::vector<std::uint8_t> write_ysgp(const Graph& graph) {
  ByteWriter writer;
  writer.number(kMagic);
  writer.number(kVersion);
  writer.number(static_cast<std::uint32_t>(graph.nodes.size()));
  for (const GraphNode& node : graph.nodes) write_node(writer, node);
  return std::move(writer.bytes);
}

}  // namespace packcheck
