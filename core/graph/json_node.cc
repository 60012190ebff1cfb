#include "core/graph/json_node.h"

#include <bit>

#include "core/text/number_form.h"

namespace packcheck {

void NodeReader::start(GraphNode& node) {
  node_ = &node;
  seen_ = 0;
  report_.has_member = false;
  bits_ = {};
}

void NodeReader::start_member(const std::string& name) {
  const NodeMember member = member_named(name, dialect_);
  report_.member = member;
  report_.has_member = true;
  if (member == NodeMember::unknown) {
    report_.unknown_name = pointer_escaped(name);
    report_.problem("unknown member", dialect_.has_bits_members
                                          ? "id, shape, op, data, scalar, param2, indices, inputs, or a bits member"
                                          : "id, shape, op, data, scalar, param2, indices, inputs");
    return;
  }
  if (saw(member) && rules_.duplicate_key == DuplicateKeyRule::refuse) {
    report_.problem("a second member of this name", "each member once: readers differ in which one they take");
    report_.unknown_name = std::string(row_of(member).name);
    report_.member = NodeMember::unknown;  // the second value is passed over
    return;
  }
  seen_ |= bit_of(member);
}

void NodeReader::start_list() {
  report_.index = 0;
  switch (report_.member) {
    case NodeMember::shape: node_->shape.clear(); break;
    case NodeMember::inputs: node_->inputs.clear(); break;
    case NodeMember::indices: node_->indices.emplace(); break;
    default: {
      // The buffer is kept from node to node.
      std::vector<std::uint64_t> buffer = std::move(form().values);
      buffer.clear();
      form() = {};
      form().values = std::move(buffer);
    }
  }
}

void NodeReader::finish_row() {
  DataForm& data = form();
  if (data.rows == 0) data.row_length = report_.inner;
  if (report_.inner != data.row_length && data.ragged_row == 0) {
    data.ragged_row = data.rows;
    data.ragged_length = report_.inner;
  }
  ++data.rows;
  ++report_.index;
}

void NodeReader::add_data(std::uint64_t bits) {
  DataForm& data = form();
  data.values.push_back(bits);
  if (report_.place == JsonPlace::row) {
    ++report_.inner;
  } else {
    ++data.outside_rows;
    ++report_.index;
  }
}

bool NodeReader::null() {
  if (report_.place != JsonPlace::list || report_.member != NodeMember::inputs) return false;
  if (rules_.missing_input == MissingInputRule::refuse)
    report_.problem("null where an input belongs", "the id of an earlier node: a dropped input shifts those after it");
  if (rules_.missing_input == MissingInputRule::write_null) node_->inputs.push_back(kMissingInput);
  ++report_.index;
  return true;
}

bool NodeReader::string(const std::string& text) {
  const NodeMember member = report_.member;
  const bool is_element = report_.place == JsonPlace::row || report_.place == JsonPlace::list;
  if (!is_element && report_.place != JsonPlace::node) return false;
  if (!is_element && member == NodeMember::op) {
    node_->op = text;
    return true;
  }
  const bool wants_bits = is_element ? member == NodeMember::data_bits
                                     : member == NodeMember::scalar_bits || member == NodeMember::param2_bits;
  if (!wants_bits) return false;
  Result<std::uint64_t> bits = parse_bits(text);
  if (!bits) report_.problem(std::move(bits.error().what), "0x and 16 hex digits: the bits of a double");
  if (is_element)
    add_data(bits.value_or(0));
  else if (bits)
    bits_[member == NodeMember::param2_bits] = *bits;
  else
    bits_[member == NodeMember::param2_bits].reset();
  return true;
}

void NodeReader::wrong_element(std::string_view kind) {
  if (is_data(report_.member)) {
    report_.problem(std::string(kind), report_.member == NodeMember::data ? "a number" : "a hex string");
    add_data(0);
  } else {
    report_.problem(std::string(kind), "an integer");
    ++report_.index;
  }
}

bool NodeReader::number(const NumberToken& token) {
  const NodeMember member = report_.member;
  if (report_.place == JsonPlace::list || report_.place == JsonPlace::row) {
    if (member == NodeMember::data)
      add_data(bits_of(token));
    else if (report_.place == JsonPlace::list && !is_data(member))
      integer_element(token);
    else
      return false;
    return true;
  }
  if (report_.place != JsonPlace::node) return false;
  switch (member) {
    case NodeMember::id: node_->id = integer<std::uint32_t>(token, 0, kMissingInput - 1); return true;
    case NodeMember::scalar: node_->scalar = bits_of(token); return true;
    case NodeMember::param2: node_->param2 = bits_of(token); return true;
    default: return false;
  }
}

void NodeReader::integer_element(const NumberToken& token) {
  switch (report_.member) {
    case NodeMember::shape: node_->shape.push_back(integer<std::uint32_t>(token, 1, 0x7FFFFFFF)); break;
    case NodeMember::inputs: node_->inputs.push_back(integer<std::uint32_t>(token, 0, kMissingInput - 1)); break;
    default: node_->indices->push_back(integer<std::int32_t>(token, INT32_MIN, INT32_MAX));
  }
  ++report_.index;
}

/// Exact; 3.0, -0 and what is out of range is an error, which gives `least`.
template <class Integer>
Integer NodeReader::integer(const NumberToken& token, std::int64_t least, std::int64_t most) {
  if (rules_.integers == IntegerReading::cast_from_double) return cast<Integer>(token);
  const bool fits_i64 = token.magnitude <= static_cast<std::uint64_t>(INT64_MAX);
  const std::int64_t value = !fits_i64           ? 0
                             : token.is_negative ? -static_cast<std::int64_t>(token.magnitude)
                                                 : static_cast<std::int64_t>(token.magnitude);
  const bool negative_zero = token.is_negative && token.magnitude == 0;
  if (token.is_integer && fits_i64 && !negative_zero && value >= least && value <= most)
    return static_cast<Integer>(value);
  report_.problem(token.written(), "an integer in " + std::to_string(least) + ".." + std::to_string(most) +
                                       ", without fraction or exponent");
  return static_cast<Integer>(least);
}

/// What a DOM's get<int> and a C cast make of a number: the faulty reading.
template <class Integer>
Integer NodeReader::cast(const NumberToken& token) {
  const auto value = std::bit_cast<double>(bits_of(token));
  if (!(value > -0x1p63 && value < 0x1p63)) return 0;
  return static_cast<Integer>(static_cast<std::int64_t>(value));
}

std::uint64_t NodeReader::bits_of(const NumberToken& token) {
  if (token.is_integer) {
    // Nearest double, ties to even: the environment is exact while the importer runs.
    const auto magnitude = std::bit_cast<std::uint64_t>(static_cast<double>(token.magnitude));
    if (token.magnitude == 0 && rules_.negative_zero == NegativeZeroRule::becomes_integer_zero) return 0;
    return magnitude | static_cast<std::uint64_t>(token.is_negative) << 63;
  }
  Result<std::uint64_t> bits = parse_number(token.text);
  if (bits) return *bits;
  report_.problem(std::move(bits.error().what), bits.error().right);
  return 0;
}

}  // namespace packcheck
