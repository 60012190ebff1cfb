#include "tests/properties/samples.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include "properties/cases/cases.h"
#include "properties/cases/operators.h"
#include "properties/cases/products.h"
#include "subjects/reference/reference.h"

namespace packcheck::test {

void PrintTo(const TypeAndVariant& p, std::ostream* out) { *out << p.type->name() << " " << p.variant; }

// Made once: every test is a process of its own, and there are thousands.
SubjectInfo reference_info() {
  static const SubjectInfo info = make_reference()->info();
  return info;
}

namespace {

/// Of stored tensors, which one rule makes from every encoding, and of operators, one of each kind, and of products one
/// width: a test is a process of its own.
bool is_one_of_many(const CaseType& type, std::string_view variant) {
  if (&type == &shape_cases || &type == &node_cases) {
    constexpr std::array<std::string_view, 6> kRules{"conv2d:floor", "maxpool2d:java", "input_size:floor",
                                                     "reduce",       "conv2d:f32",     "softmax_cross_entropy:f64"};
    return std::find(kRules.begin(), kRules.end(), variant) == kRules.end();
  }
  if (&type == &product_cases || &type == &gate_up_cases || &type == &unsound_product_cases)
    return variant != "affine3:f32";
  if (&type != &repack_tensor_cases && &type != &requantize_tensor_cases && &type != &load_tensor_cases) return false;
  constexpr std::array<std::string_view, 7> kKinds{"dense(f64)",         "dense(f16)", "dense(e2m1)",
                                                   "dense(i8)",          "q8_0:ggml",  "bitnet_planes(32):skainet",
                                                   "ternary(30):skainet"};
  return std::find(kKinds.begin(), kKinds.end(), variant) == kKinds.end();
}

std::vector<TypeAndVariant> gather_variants() {
  const SubjectInfo info = reference_info();
  std::vector<TypeAndVariant> all;
  for (const Law& law : all_laws())
    for (const std::string& variant : law.variants(info)) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const TypeAndVariant& p) {
        return p.type == law.case_type && p.variant == variant;
      });
      if (!known && !is_one_of_many(*law.case_type, variant)) all.push_back({law.case_type, variant});
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
