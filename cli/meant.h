// cli/meant.h: layouts and shape rules by the names that people type; a name that is none is refused with the nearest.
#pragma once

#include <string>

#include "core/graph/shape_infer.h"
#include "core/params/layout.h"

namespace packcheck {

/// "conv2d" or "conv2d:gen3". Refuses others: the nearest name first, then all.
[[nodiscard]] Result<const Layout*> layout_meant(const std::string& name);
/// "conv2d" or an id of `packcheck ask shape`. Refuses others: the nearest name first, then all.
[[nodiscard]] Result<const ShapeOperator*> shape_operator_meant(const std::string& name);

}  // namespace packcheck
