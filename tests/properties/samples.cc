#include "tests/properties/samples.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "subjects/reference/reference.h"

namespace packcheck::test {

void PrintTo(const TypeAndVariant& p, std::ostream* out) { *out << p.type->name() << " " << p.variant; }

// Made once: every test is a process of its own, and there are thousands.
SubjectInfo reference_info() {
  static const SubjectInfo info = make_reference()->info();
  return info;
}

namespace {

std::vector<TypeAndVariant> gather_variants() {
  const SubjectInfo info = reference_info();
  std::vector<TypeAndVariant> all;
  for (const Law& law : all_laws())
    for (const std::string& variant : law.variants(info)) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const TypeAndVariant& p) {
        return p.type == law.case_type && p.variant == variant;
      });
      if (!known) all.push_back({law.case_type, variant});
    }
  return all;
}

}  // namespace

std::vector<TypeAndVariant> all_variants() {
  static const std::vector<TypeAndVariant> all = gather_variants();
  return all;
}

const Law& law_of_type(const CaseType& type) {
  for (const Law& law : all_laws())
    if (law.case_type == &type) return law;
  throw std::logic_error("no law takes cases of type " + std::string(type.name()));
}

Case random_case(const CaseType& type, std::string_view variant, std::uint64_t seed) {
  RandomSource source(seed);
  return type.draw(source, variant);
}

std::string as_test_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  return name;
}

std::string name_of_variant(const testing::TestParamInfo<TypeAndVariant>& info) {
  return as_test_name(std::string(info.param.type->name()) + "_" + info.param.variant);
}

}  // namespace packcheck::test
