// subjects/reference/twin_families.h: one list of twins a family, in files of their own; gathered by twins.cc.
#pragma once

#include <vector>

#include "subjects/reference/twins.h"

namespace packcheck {

[[nodiscard]] std::vector<Twin> params_twins();
[[nodiscard]] std::vector<Twin> text_twins();
[[nodiscard]] std::vector<Twin> affine_twins();
[[nodiscard]] std::vector<Twin> product_twins();
[[nodiscard]] std::vector<Twin> storage_twins();
[[nodiscard]] std::vector<Twin> file_twins();
[[nodiscard]] std::vector<Twin> format_twins();
[[nodiscard]] std::vector<Twin> encoding_twins();
[[nodiscard]] std::vector<Twin> graph_twins();
[[nodiscard]] std::vector<Twin> operator_twins();
[[nodiscard]] std::vector<Twin> precision_twins();
[[nodiscard]] std::vector<Twin> subject_twins();

}  // namespace packcheck
