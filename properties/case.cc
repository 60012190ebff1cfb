#include "properties/case.h"

#include <array>

#include "properties/cases/cases.h"
#include "properties/cases/graphs.h"
#include "properties/cases/networks.h"
#include "properties/cases/operators.h"
#include "properties/cases/products.h"

namespace packcheck {

std::optional<Domain> CaseType::domain(std::string_view) const { return std::nullopt; }
std::optional<Domain> CaseType::patterns(std::string_view) const { return std::nullopt; }
std::vector<Case> CaseType::halves(const Case&) const { return {}; }
std::vector<std::string_view> CaseType::classes(std::string_view) const { return {}; }
std::uint64_t CaseType::classes_of(const Case&) const { return 0; }
std::optional<Case> CaseType::from_wire(std::span<const std::uint8_t>, std::string_view) const { return std::nullopt; }
std::optional<std::vector<std::uint8_t>> CaseType::wire_bytes(const Case&) const { return std::nullopt; }

std::optional<std::vector<std::uint8_t>> CaseType::to_wire(const Case& c) const {
  std::optional<std::vector<std::uint8_t>> bytes = wire_bytes(c);
  if (!bytes) return std::nullopt;
  const std::optional<Case> read = from_wire(*bytes, variant(c));
  return read && to_json(*read) == to_json(c) ? bytes : std::nullopt;
}

std::span<const CaseType* const> all_case_types() {
  static const std::array<const CaseType*, 21> types{
      &conversion_cases,  &values_cases, &blocks_cases,  &parameters_cases,    &words_cases,
      &number_cases,      &text_cases,   &affine_cases,  &repack_tensor_cases, &requantize_tensor_cases,
      &load_tensor_cases, &file_cases,   &call_cases,    &graph_bytes_cases,   &graph_text_cases,
      &shape_cases,       &node_cases,   &product_cases, &gate_up_cases,       &unsound_product_cases,
      &network_cases};
  return types;
}

const CaseType* case_type_named(std::string_view name) {
  for (const CaseType* type : all_case_types())
    if (type->name() == name) return type;
  return nullptr;
}

}  // namespace packcheck
