#include "core/graph/json_members.h"

#include <array>

namespace packcheck {
namespace {

constexpr auto kMembers = std::to_array<NodeMemberRow>({
    {"id", kIdMember, false, "an integer"},
    {"shape", kShapeMember, true, "a list of integers"},
    {"op", kOpMember, false, "a string"},
    {"data", kDataMember, true, "a list of numbers, or a list of rows"},
    {"data_bits", kDataMember, true, "a list of hex strings, or a list of rows"},
    {"scalar", kScalarMember, false, "a number"},
    {"scalar_bits", kScalarMember, false, "a hex string"},
    {"param2", kParam2Member, false, "a number"},
    {"param2_bits", kParam2Member, false, "a hex string"},
    {"indices", kIndicesMember, true, "a list of integers"},
    {"inputs", kInputsMember, true, "a list of integers"},
});
static_assert(kMembers.size() == static_cast<std::size_t>(NodeMember::unknown));

}  // namespace

const NodeMemberRow& row_of(NodeMember member) { return kMembers[static_cast<std::size_t>(member)]; }

NodeMember member_named(std::string_view name, const GraphDialect& dialect) {
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    if (kMembers[i].name != name) continue;
    const auto member = static_cast<NodeMember>(i);
    const bool bits =
        member == NodeMember::data_bits || member == NodeMember::scalar_bits || member == NodeMember::param2_bits;
    return bits && !dialect.has_bits_members ? NodeMember::unknown : member;
  }
  return NodeMember::unknown;
}

std::string NumberToken::written() const {
  if (!is_integer) return std::string(text.substr(0, 40));
  return (is_negative ? "-" : "") + std::to_string(magnitude);
}

}  // namespace packcheck
