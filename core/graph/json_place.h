// core/graph/json_place.h: where the importer is in the text, and what it found wrong there. For the .cc
// files of the importer alone. Proved by tests/core/graph_json_test.cc, which holds every pointer.
#pragma once

#include <vector>

#include "core/graph/json_members.h"

namespace packcheck {

/// What the current value is an element of.
enum class JsonPlace : std::uint8_t { outside, document, nodes, node, list, row, skipped };

/// The place, and the problems so far. The importer moves it; every room of the importer reports to it.
class JsonReport {
 public:
  JsonPlace place = JsonPlace::outside;
  JsonPlace before_skip = JsonPlace::outside;
  NodeMember member = NodeMember::unknown;
  bool has_member = false;   ///< the place is in a member
  std::string unknown_name;  ///< of an unknown member, as it stands in a pointer
  std::size_t index = 0;     ///< in the member's list
  std::size_t inner = 0;     ///< in the list's row
  GraphErrors errors;
  std::vector<std::uint16_t> reported;  ///< one per node so far: members that need no second report

  /// The current value as a JSON pointer; empty for the document.
  [[nodiscard]] std::string pointer() const;
  /// Reports the current value, and keeps check_graph from reporting its member again.
  void problem(std::string what, std::string_view right);
  /// The current node is without a member that it needs.
  void missing(NodeMember missed);
  [[nodiscard]] bool is_reported(std::uint16_t members) const { return (reported.back() & members) != 0; }
};

/// A key as it stands in a JSON pointer; a long one is cut.
[[nodiscard]] std::string pointer_escaped(std::string_view key);

}  // namespace packcheck
