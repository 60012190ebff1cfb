// properties/laws/network_export_laws.h: the part of precision_laws() about networks as text, in files of its own:
// network_export_laws.cc (graphs in JSON), stablehlo_law.cc, network_import_laws.cc.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "properties/law.h"
#include "properties/oracles/precision_oracle.h"

namespace packcheck {

[[nodiscard]] std::vector<Law> network_export_laws();  ///< all of them
[[nodiscard]] Law stablehlo_law();
[[nodiscard]] Law import_law();
[[nodiscard]] Law inversion_law();
[[nodiscard]] Law refusal_of_graphs_law();

/// The format behind an operator's name, "linear:f16"; f32 where there is none.
[[nodiscard]] oracle::LayerFormat format_of(std::string_view op);
/// NaN payloads go through conversions of which nothing is asked: any NaN is one.
void unify_nans(oracle::Nodes& nodes);
/// This form of export_network, where it is declared.
[[nodiscard]] std::function<std::vector<std::string>(const SubjectInfo&)> in_form(std::string_view name);

}  // namespace packcheck
