#include "core/graph/json_place.h"

namespace packcheck {

std::string JsonReport::pointer() const {
  const JsonPlace in = place == JsonPlace::skipped ? before_skip : place;
  if (in == JsonPlace::outside) return {};
  std::string result = "/nodes";
  if (in == JsonPlace::document) return result;
  const bool in_node = in != JsonPlace::nodes;
  result.append("/").append(std::to_string(reported.size() - (in_node ? 1 : 0)));
  if (!in_node || !has_member) return result;
  result.append("/").append(member == NodeMember::unknown ? unknown_name : row_of(member).name);
  if (in == JsonPlace::list || in == JsonPlace::row) result.append("/").append(std::to_string(index));
  if (in == JsonPlace::row) result.append("/").append(std::to_string(inner));
  return result;
}

void JsonReport::problem(std::string what, std::string_view right) {
  errors.add(std::move(what), pointer(), std::string(right));
  if (!reported.empty() && has_member && member != NodeMember::unknown) reported.back() |= row_of(member).reported;
}

void JsonReport::missing(NodeMember missed) {
  const NodeMemberRow& row = row_of(missed);
  errors.add("no " + std::string(row.name), pointer(), std::string(row.right));
  reported.back() |= row.reported;
}

std::string pointer_escaped(std::string_view key) {
  std::string result;
  for (const char c : key.substr(0, 80)) {
    if (c == '~')
      result.append("~0");
    else if (c == '/')
      result.append("~1");
    else
      result.push_back(c);
  }
  return result;
}

}  // namespace packcheck
