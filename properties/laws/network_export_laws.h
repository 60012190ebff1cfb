// properties/laws/network_export_laws.h: the part of precision_laws() about exported text, in a file of its own.
#pragma once

#include <string_view>
#include <vector>

#include "properties/law.h"
#include "properties/oracles/precision_oracle.h"

namespace packcheck {

[[nodiscard]] std::vector<Law> network_export_laws();
/// The format behind an operator's name, "linear:f16"; f32 where there is none.
[[nodiscard]] oracle::LayerFormat format_of(std::string_view op);

}  // namespace packcheck
