// tests/properties/samples.h: every case type with every variant it has, as test parameters, and
// random cases of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "properties/law.h"

namespace packcheck::test {

struct TypeAndVariant {
  const CaseType* type;
  std::string variant;
};
void PrintTo(const TypeAndVariant& p, std::ostream* out);

/// Every variant that a law of the reference judges, by case type, each once.
[[nodiscard]] std::vector<TypeAndVariant> all_variants();
/// A law that takes cases of this type.
[[nodiscard]] const Law& law_of_type(const CaseType& type);
[[nodiscard]] Case random_case(const CaseType& type, std::string_view variant, std::uint64_t seed);

/// "conversion_f32_to_f16": letters that a test name may hold.
[[nodiscard]] std::string as_test_name(std::string_view text);
[[nodiscard]] std::string name_of_variant(const testing::TestParamInfo<TypeAndVariant>& info);

/// "reference.convert" and the like; a fresh reference.
[[nodiscard]] SubjectInfo reference_info();

}  // namespace packcheck::test
