// YSGP bytes: nodes and their fields, written again with counts that fit, and now and then one that does not.
#include <algorithm>

#include "properties/mutators/fields.h"
#include "properties/mutators/numbers.h"

namespace packcheck {
namespace {

constexpr std::uint32_t kMagic = 0x50535359;
constexpr std::size_t kMostNodes = 64;
enum Flag : std::uint16_t { kData = 1, kScalar = 2, kParam2 = 4, kIndices = 8, kLeaf = 16 };
constexpr std::string_view kOperators[] = {"relu", "add",  "conv2d", "maxpool2d", "softmaxCrossEntropy",
                                           "cat",  "leaf", "linear", "custom",    "dropout"};

/// A node as it is in the bytes, sound or not. Data, where there is some, is what the flag says.
struct RawNode {
  std::uint16_t flags = 0;
  std::uint32_t id = 0;
  std::string op;
  std::vector<std::uint32_t> shape;
  std::vector<std::uint32_t> inputs;
  std::uint64_t scalar = 0;
  std::uint64_t param2 = 0;
  std::vector<std::uint64_t> data;
  std::vector<std::uint32_t> indices;
};
using RawNodes = std::vector<RawNode>;

template <class T>
void read_list(FieldReader& reader, std::vector<T>& list, std::uint64_t count) {
  if (count > reader.left() / sizeof(T)) {
    (void)reader.skip(reader.left() + 1);
    return;
  }
  for (; count > 0; --count) list.push_back(static_cast<T>(reader.number(sizeof(T))));
}

std::optional<RawNodes> read_nodes(const Bytes& bytes) {
  FieldReader reader(bytes);
  const std::uint64_t magic = reader.number(4);
  (void)reader.number(4);
  const std::uint64_t count = reader.number(4);
  if (magic != kMagic || reader.failed() || count > kMostNodes) return std::nullopt;
  RawNodes nodes;
  while (nodes.size() < count && !reader.failed()) {
    RawNode& node = nodes.emplace_back();
    node.flags = static_cast<std::uint16_t>(reader.number(2));
    const std::uint64_t op_bytes = reader.number(2);
    node.id = static_cast<std::uint32_t>(reader.number(4));
    const std::size_t op = reader.at();
    if (!reader.skip(op_bytes)) break;
    node.op.assign(bytes.begin() + static_cast<std::ptrdiff_t>(op),
                   bytes.begin() + static_cast<std::ptrdiff_t>(reader.at()));
    read_list(reader, node.shape, reader.number(2));
    read_list(reader, node.inputs, reader.number(2));
    if ((node.flags & kScalar) != 0) node.scalar = reader.number(8);
    if ((node.flags & kParam2) != 0) node.param2 = reader.number(8);
    if ((node.flags & kData) != 0) read_list(reader, node.data, reader.number(4));
    if ((node.flags & kIndices) != 0) read_list(reader, node.indices, reader.number(4));
  }
  if (reader.failed() || nodes.empty()) return std::nullopt;
  return nodes;
}

template <class T>
void write_list(Bytes& out, const std::vector<T>& list, std::size_t count_bytes) {
  append_number(out, list.size(), count_bytes);
  for (const T value : list) append_number(out, value, sizeof(T));
}

Bytes written(const RawNodes& nodes) {
  Bytes out;
  append_number(out, kMagic, 4);
  append_number(out, 1, 4);
  append_number(out, nodes.size(), 4);
  for (const RawNode& node : nodes) {
    append_number(out, node.flags, 2);
    append_number(out, node.op.size(), 2);
    append_number(out, node.id, 4);
    out.insert(out.end(), node.op.begin(), node.op.end());
    write_list(out, node.shape, 2);
    write_list(out, node.inputs, 2);
    if ((node.flags & kScalar) != 0) append_number(out, node.scalar, 8);
    if ((node.flags & kParam2) != 0) append_number(out, node.param2, 8);
    if ((node.flags & kData) != 0) write_list(out, node.data, 4);
    if ((node.flags & kIndices) != 0) write_list(out, node.indices, 4);
  }
  return out;
}

/// Ids are positions again, and inputs that pointed nowhere point to an earlier node.
void renumber(RawNodes& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].id = static_cast<std::uint32_t>(i);
    for (std::uint32_t& input : nodes[i].inputs)
      if (input >= i) input = static_cast<std::uint32_t>(i == 0 ? 0 : i - 1);
  }
}

/// Data as long as the shape says, where that is little.
void fill(RawNode& node) {
  std::uint64_t count = 1;
  for (const std::uint32_t dimension : node.shape) count = std::min<std::uint64_t>(count * dimension, 4096);
  if ((node.flags & kData) != 0 && count <= 64) node.data.resize(static_cast<std::size_t>(count));
}

std::uint32_t interesting_input(std::size_t position, std::size_t count, Dice& dice) {
  switch (dice.below(6)) {
    case 0: return 0xFFFFFFFF;  // not found
    case 1: return static_cast<std::uint32_t>(position + dice.below(2));
    case 2: return static_cast<std::uint32_t>(count);
    default: return static_cast<std::uint32_t>(dice.below(position));
  }
}

void change_inputs(RawNode& node, std::size_t position, std::size_t count, Dice& dice) {
  const std::uint32_t input = interesting_input(position, count, dice);
  const auto at = static_cast<std::ptrdiff_t>(dice.below(node.inputs.size() + 1));
  if (node.inputs.empty() || dice.once_in(3))
    node.inputs.insert(node.inputs.begin() + at, input);
  else if (dice.once_in(3))
    node.inputs.erase(node.inputs.begin() + static_cast<std::ptrdiff_t>(dice.below(node.inputs.size())));
  else
    node.inputs[dice.below(node.inputs.size())] = input;
}

void change_shape(RawNode& node, Dice& dice) {
  if (node.shape.empty() || dice.once_in(4))
    node.shape.insert(node.shape.begin(), static_cast<std::uint32_t>(1 + dice.below(4)));
  else if (dice.once_in(4))
    node.shape.pop_back();
  else
    node.shape[dice.below(node.shape.size())] =
        static_cast<std::uint32_t>(dice.once_in(2) ? 1 + dice.below(4) : interesting_field(node.shape[0], 4, dice));
  if (!dice.once_in(4)) fill(node);
}

void change_member(RawNode& node, Dice& dice) {
  switch (dice.below(7)) {
    case 0:
      node.flags ^= kScalar;
      node.scalar = interesting_double(dice);
      break;
    case 1:
      node.flags ^= kParam2;
      node.param2 = interesting_double(dice);
      break;
    case 2: {
      node.flags ^= kIndices;
      const std::size_t count = dice.below(3);
      node.indices.assign(count, static_cast<std::uint32_t>(interesting_field(0, 4, dice)));
      break;
    }
    case 3: (dice.once_in(2) ? node.scalar : node.param2) = interesting_double(dice); break;
    case 4: node.op = dice.pick(kOperators); break;
    case 5:
      if (!node.data.empty()) node.data[dice.below(node.data.size())] = interesting_double(dice);
      break;
    default: node.flags ^= static_cast<std::uint16_t>(1U << dice.below(6)); break;
  }
}

void change_nodes(RawNodes& nodes, std::size_t at, Dice& dice) {
  const auto place = nodes.begin() + static_cast<std::ptrdiff_t>(at);
  switch (dice.below(3)) {
    case 0: nodes.insert(place, nodes[dice.below(nodes.size())]); break;
    case 1:
      if (nodes.size() > 1) nodes.erase(place);
      break;
    default: std::swap(nodes[at], nodes[dice.below(nodes.size())]); break;
  }
  if (!dice.once_in(4)) renumber(nodes);
}

}  // namespace

std::optional<Bytes> mutate_ysgp(const Bytes& bytes, Dice& dice) {
  std::optional<RawNodes> nodes = read_nodes(bytes);
  if (!nodes) return std::nullopt;
  const std::size_t at = dice.below(nodes->size());
  RawNode& node = (*nodes)[at];
  switch (dice.below(8)) {
    case 0: change_nodes(*nodes, at, dice); break;
    case 1:
    case 2: change_inputs(node, at, nodes->size(), dice); break;
    case 3: change_shape(node, dice); break;
    case 4:
      node.id =
          static_cast<std::uint32_t>(dice.once_in(2) ? dice.below(nodes->size()) : interesting_field(node.id, 4, dice));
      break;
    default: change_member(node, dice); break;
  }
  Bytes out = written(*nodes);
  if (dice.once_in(16)) set_number(out, 8, interesting_field(nodes->size(), 4, dice), 4);
  if (dice.once_in(16)) out.resize(out.size() - 1 + dice.below(3));
  return out;
}

std::optional<Bytes> cross_ysgp(const Bytes& bytes, const Bytes& other, Dice& dice) {
  std::optional<RawNodes> nodes = read_nodes(bytes);
  const std::optional<RawNodes> others = read_nodes(other);
  if (!nodes || !others) return std::nullopt;
  const RawNode& donor = dice.pick(*others);
  if (dice.once_in(2))
    nodes->push_back(donor);
  else
    (*nodes)[dice.below(nodes->size())] = donor;
  renumber(*nodes);
  return written(*nodes);
}

}  // namespace packcheck
