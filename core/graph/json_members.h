// core/graph/json_members.h: the members of a node in JSON text, and the numbers in them as they are
// written. For the .cc files of the importer alone. Add a member: its name in NodeMember and its row in
// json_members.cc. Proved by tests/core/graph_json_test.cc.
#pragma once

#include "core/graph/graph.h"

namespace packcheck {

enum class NodeMember : std::uint8_t {
  id,
  shape,
  op,
  data,
  data_bits,
  scalar,
  scalar_bits,
  param2,
  param2_bits,
  indices,
  inputs,
  unknown
};

struct NodeMemberRow {
  std::string_view name;
  GraphMember reported;  ///< which member of the model it fills
  bool is_list;
  std::string_view right;  ///< what belongs there
};
/// Of any member but `unknown`.
[[nodiscard]] const NodeMemberRow& row_of(NodeMember member);
/// `unknown` also for a bits member in a dialect that has none.
[[nodiscard]] NodeMember member_named(std::string_view name, const GraphDialect& dialect);

[[nodiscard]] constexpr std::uint16_t bit_of(NodeMember member) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(member));
}
[[nodiscard]] constexpr bool is_data(NodeMember member) {
  return member == NodeMember::data || member == NodeMember::data_bits;
}

/// A number token: an integer as such, or the text of anything with a point or an exponent.
struct NumberToken {
  bool is_integer = false;
  bool is_negative = false;     ///< an integer with a minus; -0 is one
  std::uint64_t magnitude = 0;  ///< of an integer
  std::string_view text;        ///< of any other number

  [[nodiscard]] std::string written() const;
};

}  // namespace packcheck
