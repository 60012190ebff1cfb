// Small group-quantized weight matrices.
#include <algorithm>

#include "core/affine/groups.h"
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

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

/// "affine6:f32" and "affine8_blocks:f32" → 6 and 8
unsigned bits_of(std::string_view variant) { return static_cast<unsigned>(variant.at(6) - '0'); }

void draw_groups(Source& source, AffineTensor& t) {
  static constexpr std::uint64_t kGroups[] = {32, 64, 128};
  t.out_features = 1 + source.below(4);
  t.scale_columns = 1 + source.below(4);
  t.in_features = t.scale_columns * source.pick(kGroups);
}

/// The last blocks may be cut off on both sides.
void draw_blocks(Source& source, AffineTensor& t) {
  t.out_features = 1 + source.below(16);
  t.in_features = 1 + source.below(24);
  t.block_rows = 1 + source.below(6);
  t.block_columns = 1 + source.below(8);
  t.scale_columns = divided_up(t.in_features, t.block_columns);
}

/// What would be right about the shapes; null where they are.
const char* shape_fault(const AffineTensor& t) {
  const std::initializer_list<std::uint64_t> lengths{t.out_features, t.in_features, t.scale_columns, t.block_rows};
  if (std::max(lengths) > kLargest || std::min(lengths) == 0 || t.block_columns > kLargest ||
      t.in_features * t.bits % 8 != 0)
    return "1..4096 each, rows of whole bytes";
  if (t.block_columns == 0)
    return t.in_features % t.scale_columns == 0 ? nullptr : "in_features a multiple of scale_columns";
  return t.scale_columns == divided_up(t.in_features, t.block_columns)
             ? nullptr
             : "scale_columns that is in_features / block_columns, rounded up";
}

class AffineType final : public TypedCaseType<AffineCase> {
 public:
  using TypedCaseType::TypedCaseType;

  AffineCase draw_value(Source& source, std::string_view variant) const override {
    static constexpr Format kFormats[] = {Format::bf16, Format::f16, Format::f32};
    AffineTensor t;
    t.bits = bits_of(variant);
    t.scale_format = source.pick(kFormats);
    if (variant == "affine8_blocks:f32")
      draw_blocks(source, t);
    else
      draw_groups(source, t);
    const std::size_t scales = divided_up(t.out_features, t.block_rows) * t.scale_columns;
    t.scales = draw_elements(source, t.scale_format, scales);
    t.biases = draw_elements(source, t.scale_format, scales);
    const std::uint64_t code = source.bits(8);
    t.codes.assign(t.out_features * t.in_features * t.bits / 8, static_cast<std::uint8_t>(code));
    for (std::uint64_t i = source.below(16); i > 0; --i)
      t.codes[source.below(t.codes.size())] = static_cast<std::uint8_t>(source.bits(8));
    return {t};
  }
  std::string variant_of(const AffineCase& c) const override { return c.tensor.variant(); }
  std::size_t payload(const AffineCase& c) const override {
    return c.tensor.codes.size() + c.tensor.scales.size() + c.tensor.biases.size();
  }
  std::vector<std::string_view> classes(std::string_view) const override { return {"several rows"}; }
  std::uint64_t members(const AffineCase& c) const override { return member_bits({c.tensor.out_features > 1}); }
  Json write(const AffineCase& c) const override {
    const AffineTensor& t = c.tensor;
    Json json{{"out_features", t.out_features},
              {"in_features", t.in_features},
              {"scale_columns", t.scale_columns},
              {"scale_format", spec(t.scale_format).name},
              {"codes", hex_of_bytes(t.codes)},
              {"scales", elements_json(t.scales, t.scale_format)},
              {"biases", elements_json(t.biases, t.scale_format)},
              {"bits", t.bits}};
    if (t.block_columns != 0) {
      json["block_rows"] = t.block_rows;
      json["block_columns"] = t.block_columns;
    }
    return json;
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
    const std::uint64_t bits = members.unsigned_integer("bits");
    t.bits = bits > 8 ? 0 : static_cast<unsigned>(bits);
    if (!is_affine_width(t.bits)) members.fail({"codes of another width", "affine case", "bits 2, 3, 4, 5, 6 or 8"});
    if (members.has("block_columns")) {
      t.block_rows = members.unsigned_integer("block_rows");
      t.block_columns = members.unsigned_integer("block_columns");
    }
    const std::size_t element = spec(t.scale_format).bytes();
    if (const char* const right = shape_fault(t))
      members.fail({"shapes do not go together", "affine case", right});
    else if (t.codes.size() != t.out_features * t.in_features * t.bits / 8 ||
             t.scales.size() != divided_up(t.out_features, t.block_rows) * t.scale_columns * element ||
             t.biases.size() != t.scales.size())
      members.fail({"sizes do not match the shapes", "affine case",
                    "codes out·in·bits/8 bytes, scales and biases out·columns elements, or one for each block"});
    return AffineCase{t};
  }
};

const AffineType kType("affine");

}  // namespace

const CaseType& affine_cases = kType;

}  // namespace packcheck
