// The end of a node: what must be there, and the members that say one thing twice.
#include "core/graph/json_node.h"

namespace packcheck {

void NodeReader::finish() {
  report_.has_member = false;
  for (const NodeMember member : {NodeMember::id, NodeMember::shape, NodeMember::op})
    if (!saw(member)) report_.missing(member);
  join_number(node_->scalar, NodeMember::scalar, NodeMember::scalar_bits, bits_[0]);
  join_number(node_->param2, NodeMember::param2, NodeMember::param2_bits, bits_[1]);
  join_data();
  if (rules_.absent == AbsentScalar::zero && !node_->data && !node_->scalar) node_->scalar = 0;
}

/// A number and its bits: whichever is there; where both are, they must be the same double.
void NodeReader::join_number(std::optional<std::uint64_t>& number, NodeMember plain, NodeMember bits_member,
                             const std::optional<std::uint64_t>& bits) {
  if (!saw(bits_member) || report_.is_reported(row_of(plain).reported)) return;
  if (!saw(plain))
    number = bits;
  else if (number != bits)
    disagree(plain, bits_member);
}

void NodeReader::disagree(NodeMember plain, NodeMember bits_member) {
  report_.member = plain;
  report_.has_member = true;
  std::string what = "not the number whose bits are in ";
  report_.problem(what.append(row_of(bits_member).name), "one number, or only one of the two members");
  report_.has_member = false;
}

void NodeReader::join_data() {
  const bool has_plain = saw(NodeMember::data);
  const bool has_bits = saw(NodeMember::data_bits);
  if (!has_plain && !has_bits) return;
  if (has_plain) check_rows(NodeMember::data, forms_[0]);
  if (has_bits) check_rows(NodeMember::data_bits, forms_[1]);
  node_->data.emplace();
  if (report_.is_reported(kDataMember)) return;  // a form may hold what an earlier node had
  if (has_plain && has_bits && forms_[0].values != forms_[1].values)
    return disagree(NodeMember::data, NodeMember::data_bits);
  node_->data = forms_[has_plain ? 0 : 1].values;
}

/// Rows are for rank 2, each as long as the second dimension.
void NodeReader::check_rows(NodeMember member, const DataForm& data) {
  if (data.rows == 0 || report_.is_reported(kDataMember | kShapeMember)) return;
  report_.member = member;
  report_.has_member = true;
  const ShortList& shape = node_->shape;
  if (shape.size() != 2) {
    report_.problem("rows, where the rank is " + std::to_string(shape.size()), "one list of numbers");
  } else if (data.outside_rows != 0) {
    report_.problem("numbers between rows", "rows only, or one list of numbers");
  } else if (data.ragged_row != 0 || data.row_length != shape[1]) {
    const bool ragged = data.row_length == shape[1];
    std::string what = std::to_string(ragged ? data.ragged_length : data.row_length);
    what.append(" numbers in row ").append(std::to_string(ragged ? data.ragged_row : 0));
    report_.problem(std::move(what), std::to_string(shape[1]) + " numbers in each row");
  } else if (data.rows != shape[0]) {
    report_.problem(std::to_string(data.rows) + " rows", std::to_string(shape[0]) + " rows");
  }
  report_.has_member = false;
}

}  // namespace packcheck
