#include "cli/meant.h"

#include "properties/near_name.h"

namespace packcheck {
namespace {

/// The refusal of a look-up, with the nearest of the names of `rows` in what would be right.
template <class Row, class Rows>
Result<const Row*> with_nearest(Result<const Row*> found, const std::string& name, const Rows& rows) {
  if (found) return found;
  std::vector<std::string> known;
  for (const Row& row : rows) known.emplace_back(row.op);
  for (const Row& row : rows) known.push_back(row.id());
  const std::string meant = near_name(name, known);
  if (meant.empty()) return found;
  std::string right(1, '\'');
  right.append(meant).append("'? ").append(found.error().right);
  return refuse(found.error().what, found.error().where, right);
}

}  // namespace

Result<const Layout*> layout_meant(const std::string& name) {
  return with_nearest<Layout>(layout_named(name), name, all_layouts());
}

Result<const ShapeOperator*> shape_operator_meant(const std::string& name) {
  return with_nearest<ShapeOperator>(shape_operator_named(name), name, all_shape_operators());
}

}  // namespace packcheck
