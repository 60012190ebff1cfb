// Small group-quantized weight matrices.
#include <algorithm>

#include "properties/cases/case_type.h"
#include "properties/cases/cases.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kLargest = 4096;  // rows, features and columns of a case file

Bytes draw_elements(Source& source, Format format, std::size_t count) {
  Bytes elements(count * spec(format).bytes());
  for (std::size_t i = 0; i < count; ++i) store_element(spec(format), elements, i, source.float_in(format));
  return elements;
}

std::size_t size_of(const AffineTensor& t, std::uint64_t columns, std::size_t element) {
  return t.out_features * columns * element;
}

class AffineType final : public TypedCaseType<AffineCase> {
 public:
  using TypedCaseType::TypedCaseType;

  AffineCase draw_value(Source& source, std::string_view) const override {
    static constexpr Format kFormats[] = {Format::bf16, Format::f16, Format::f32};
    static constexpr std::uint64_t kGroups[] = {32, 64, 128};
    AffineTensor t;
    t.scale_format = source.pick(kFormats);
    t.out_features = 1 + source.below(4);
    t.scale_columns = 1 + source.below(4);
    t.in_features = t.scale_columns * source.pick(kGroups);
    const std::size_t scales = t.out_features * t.scale_columns;
    t.scales = draw_elements(source, t.scale_format, scales);
    t.biases = draw_elements(source, t.scale_format, scales);
    const std::uint64_t code = source.bits(8);
    t.codes.assign(t.out_features * t.in_features / 2, static_cast<std::uint8_t>(code));
    for (std::uint64_t i = source.below(16); i > 0; --i)
      t.codes[source.below(t.codes.size())] = static_cast<std::uint8_t>(source.bits(8));
    return {t};
  }
  std::string variant_of(const AffineCase&) const override { return "affine4:f32"; }
  Json write(const AffineCase& c) const override {
    const AffineTensor& t = c.tensor;
    return {{"out_features", t.out_features},
            {"in_features", t.in_features},
            {"scale_columns", t.scale_columns},
            {"scale_format", spec(t.scale_format).name},
            {"codes", hex_of_bytes(t.codes)},
            {"scales", elements_json(t.scales, t.scale_format)},
            {"biases", elements_json(t.biases, t.scale_format)}};
  }
  Result<AffineCase> read(MemberReader& members) const override {
    AffineTensor t;
    t.out_features = members.unsigned_integer("out_features");
    t.in_features = members.unsigned_integer("in_features");
    t.scale_columns = members.unsigned_integer("scale_columns");
    t.scale_format = members.format("scale_format");
    t.codes = members.bytes("codes");
    t.scales = members.elements("scales", t.scale_format);
    t.biases = members.elements("biases", t.scale_format);
    const std::size_t element = spec(t.scale_format).bytes();
    if (std::max({t.out_features, t.in_features, t.scale_columns}) > kLargest ||
        std::min({t.out_features, t.in_features, t.scale_columns}) == 0 || t.in_features % t.scale_columns != 0 ||
        t.in_features % 2 != 0)
      members.fail({"shapes do not go together", "affine case",
                    "1..4096 each, in_features even and a multiple of scale_columns"});
    else if (t.codes.size() != size_of(t, t.in_features, 1) / 2 ||
             t.scales.size() != size_of(t, t.scale_columns, element) || t.biases.size() != t.scales.size())
      members.fail({"sizes do not match the shapes", "affine case",
                    "codes out·in/2 bytes, scales and biases out·columns elements"});
    return AffineCase{t};
  }
};

const AffineType kType("affine");

}  // namespace

const CaseType& affine_cases = kType;

}  // namespace packcheck
