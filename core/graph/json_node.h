// core/graph/json_node.h: one node of JSON text as it is read: each value into its member, and at the end
// the plain members beside their bits members. For the .cc files of the importer alone: json_import.cc
// says where a value is, json_node.cc fills it in, json_join.cc joins. Proved by the graph.* laws and
// tests/core/graph_json_test.cc.
#pragma once

#include <array>
#include <vector>

#include "core/graph/json_place.h"

namespace packcheck {

/// What was read of one member "data" or "data_bits".
struct DataForm {
  std::vector<std::uint64_t> values;
  std::size_t rows = 0;
  std::size_t row_length = 0;  ///< of the first row
  std::size_t ragged_row = 0;  ///< the first row of another length; 0 for none
  std::size_t ragged_length = 0;
  std::size_t outside_rows = 0;  ///< elements of the list that are no rows
};

class NodeReader {
 public:
  NodeReader(const GraphDialect& dialect, const GraphRules& rules, JsonReport& report)
      : dialect_(dialect), rules_(rules), report_(report) {}

  void start(GraphNode& node);
  void start_member(const std::string& name);
  void start_list();
  void start_row() { report_.inner = 0; }
  void finish_row();
  /// Members that must be there, and the members that say one thing twice.
  void finish();

  // A value at the current place; false where no such value belongs, and nothing was done.
  bool null();
  bool number(const NumberToken& token);
  bool string(const std::string& text);
  /// An element of a list that is no element of that list: reported, and its position kept.
  void wrong_element(std::string_view kind);

 private:
  DataForm& form() { return forms_[report_.member == NodeMember::data_bits]; }
  [[nodiscard]] bool saw(NodeMember member) const { return (seen_ & bit_of(member)) != 0; }

  void add_data(std::uint64_t bits);
  void integer_element(const NumberToken& token);
  template <class Integer>
  Integer integer(const NumberToken& token, std::int64_t least, std::int64_t most);
  template <class Integer>
  Integer cast(const NumberToken& token);
  std::uint64_t bits_of(const NumberToken& token);

  // json_join.cc
  void join_number(std::optional<std::uint64_t>& number, NodeMember plain, NodeMember bits_member,
                   const std::optional<std::uint64_t>& bits);
  void join_data();
  void check_rows(NodeMember member, const DataForm& data);
  void disagree(NodeMember plain, NodeMember bits_member);

  const GraphDialect& dialect_;
  const GraphRules& rules_;
  JsonReport& report_;
  GraphNode* node_ = nullptr;
  std::uint16_t seen_ = 0;                            // members of this node, as bit_of
  std::array<std::optional<std::uint64_t>, 2> bits_;  // scalar_bits, param2_bits
  std::array<DataForm, 2> forms_;                     // data, data_bits
};

}  // namespace packcheck
