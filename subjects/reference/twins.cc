#include "subjects/reference/twins.h"

#include <string>

#include "subjects/reference/twin_families.h"

namespace packcheck {
namespace {

std::vector<Twin> gathered() {
  std::vector<Twin> all;
  for (const auto family : {params_twins, text_twins, affine_twins, product_twins, storage_twins, file_twins,
                            format_twins, encoding_twins, graph_twins, operator_twins, precision_twins, subject_twins})
    for (const Twin& twin : family()) all.push_back(twin);
  return all;
}

}  // namespace

std::span<const Twin> all_twins() {
  static const std::vector<Twin> twins = gathered();
  return twins;
}

std::unique_ptr<Subject> make_twin(std::string_view name) {
  for (const Twin& twin : all_twins()) {
    if (twin.name != name) continue;
    ReferenceRules rules;
    twin.change(rules);
    return make_reference("twin:" + std::string(name), std::move(rules));
  }
  return nullptr;
}

}  // namespace packcheck
