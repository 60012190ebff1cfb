// Small products with packed weights: scales and inputs where products go wrong, empty shapes, cancellation, outliers.
#include "properties/cases/products.h"

#include <algorithm>
#include <bit>

#include "core/affine/groups.h"
#include "core/format/convert.h"
#include "properties/cases/case_type.h"

namespace packcheck {
namespace {

constexpr std::uint64_t kLargest = 4096;           // rows, features, outputs and groups of a case file
constexpr std::uint64_t kMostAnswers = 1U << 16U;  // rows · outputs

/// "affine6:f32" → 6
unsigned bits_of(std::string_view variant) { return static_cast<unsigned>(variant.at(6) - '0'); }

/// Numbers that no drawn choice stands behind: a few choices make long arrays, and shrink.
class Filling {
 public:
  explicit Filling(std::uint64_t seed) : state_(seed + 1) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  /// Between 2^-4 and 2^4 in magnitude.
  float number() {
    const std::uint64_t random = bits();
    const auto exponent = static_cast<std::uint32_t>(123 + random % 8);
    return std::bit_cast<float>(static_cast<std::uint32_t>(random >> 63 << 31) | exponent << 23 |
                                static_cast<std::uint32_t>(random >> 8 & 0x7FFFFF));
  }

 private:
  std::uint64_t state_;
};

std::uint64_t draw_scale(Source& source, Format format, std::uint64_t style) {
  static constexpr float kPlain[] = {1.0F, 0.5F, -2.0F, 3.0F, -0.1F, 0.0625F, 100.0F, -0.0F};
  if (style == 0) return convert(Format::f32, format, std::bit_cast<std::uint32_t>(source.pick(kPlain)));
  return source.float_in(format);
}

Bytes draw_scales(Source& source, Format format, std::size_t count) {
  // Mostly ordinary: one NaN or infinity hides the rest of its row.
  const std::uint64_t style = source.once_in(4) ? 1 : 0;
  Bytes elements(count * spec(format).bytes());
  for (std::size_t i = 0; i < count; ++i) store_element(spec(format), elements, i, draw_scale(source, format, style));
  return elements;
}

Bytes draw_codes(Source& source, const ProductRequest& r) {
  const std::uint64_t style = source.below(3);
  const std::uint64_t seed = source.bits(8);
  Filling filling(seed);
  Bytes codes(r.out_features * (r.in_features / 8 * r.bits));
  for (std::uint8_t& byte : codes) byte = static_cast<std::uint8_t>(style == 0 ? seed : filling.bits());
  for (std::uint64_t i = codes.empty() ? 0 : source.below(4); i > 0; --i)
    codes[source.below(codes.size())] = static_cast<std::uint8_t>(source.bits(8));
  return codes;
}

std::vector<float> draw_inputs(Source& source, std::size_t count) {
  std::vector<float> x(count);
  const std::uint64_t style = source.below(4);
  Filling filling(source.bits(8));
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = style == 0 ? 1.0F : filling.number();
    // What is added is taken away again, but for a little.
    if (style == 2 && i % 2 != 0) x[i] = -x[i - 1] + x[i] * 0x1p-12F;
  }
  const std::uint64_t special = count == 0 ? 0 : style == 3 ? 1 + source.below(3) : source.below(2);
  for (std::uint64_t i = special; i > 0; --i) {
    float& number = x[source.below(count)];
    if (style == 3)
      number = std::bit_cast<float>(static_cast<std::uint32_t>(source.float_in(Format::f32)));
    else
      number *= 0x1p20F;  // an outlier
  }
  return x;
}

/// What one argument is turned into. Some leave a sound request, which must be answered.
void spoil(Source& source, ProductRequest& r) {
  PackedWeights& matrix = r.weights[source.below(2)];
  const std::size_t element = spec(r.scale_format).bytes();
  const std::uint64_t columns = r.in_features / r.group_size;
  const auto shorten = [](Bytes& bytes, std::size_t by) {
    bytes.erase(bytes.end() - static_cast<std::ptrdiff_t>(std::min(bytes.size(), by)), bytes.end());
  };
  switch (source.below(16)) {
    case 0: r.group_size = r.group_size == 128 ? 64 : 2 * r.group_size; break;
    case 1: r.group_size = r.group_size == 32 ? 64 : r.group_size / 2; break;
    case 2: r.group_size = columns; break;
    case 3: r.in_features += r.group_size; break;
    case 4: ++r.out_features; break;
    case 5: ++r.rows; break;
    case 6: shorten(matrix.codes, 4); break;
    case 7: shorten(matrix.scales, element); break;
    case 8: shorten(matrix.biases, element); break;
    case 9:
      if (!r.x.empty()) r.x.pop_back();
      break;
    case 10: r.scale_format = Format::f32; break;
    case 11: std::swap(r.in_features, r.out_features); break;
    case 12: matrix.biases.clear(); break;
    case 13: matrix.scales.resize(matrix.scales.size() + 4 * element); break;
    case 14: r.in_features -= std::min<std::uint64_t>(r.in_features, 8); break;
    default: break;
  }
  // An element of f32 is two of the others: keep whole ones.
  for (PackedWeights& w : r.weights)
    for (Bytes* const bytes : {&w.scales, &w.biases}) shorten(*bytes, bytes->size() % spec(r.scale_format).bytes());
}

class ProductType final : public TypedCaseType<ProductCase> {
 public:
  ProductType(std::string_view name, std::size_t matrices, bool spoilt)
      : TypedCaseType(name), matrices_(matrices), spoilt_(spoilt) {}

  ProductCase draw_value(Source& source, std::string_view variant) const override {
    static constexpr Format kFormats[] = {Format::bf16, Format::f16, Format::f32};
    static constexpr SumOrder kOrders[] = {SumOrder::sequential, SumOrder::lanes, SumOrder::pairwise,
                                           SumOrder::per_group};
    ProductRequest r;
    r.bits = bits_of(variant);
    r.scale_format = source.pick(kFormats);
    r.order = source.pick(kOrders);
    r.rows = 1 + source.below(3);
    r.out_features = 1 + source.below(3);
    r.group_size = std::uint64_t{32} << source.below(3);
    r.in_features = r.group_size * (1 + source.below(3));
    const std::uint64_t empty = source.below(32);
    if (empty == 31) r.rows = 0;
    if (empty == 30) r.out_features = 0;
    if (empty == 29) r.in_features = 0;
    const std::size_t scales = r.out_features * (r.in_features / r.group_size);
    for (std::size_t i = 0; i < matrices_; ++i) {
      PackedWeights w;
      w.codes = draw_codes(source, r);
      w.scales = draw_scales(source, r.scale_format, scales);
      w.biases = draw_scales(source, r.scale_format, scales);
      r.weights.push_back(std::move(w));
    }
    r.x = draw_inputs(source, r.rows * r.in_features);
    if (spoilt_) spoil(source, r);
    return {r};
  }
  std::string variant_of(const ProductCase& c) const override { return c.request.variant(); }
  std::vector<std::string_view> classes(std::string_view) const override {
    return {"groups of 32",   "groups of 64",     "groups of 128", "scales in f32",  "scales in f16",
            "scales in bf16", "order sequential", "order lanes",   "order pairwise", "order per_group",
            "several rows",   "several groups",   "an empty shape"};
  }
  std::uint64_t members(const ProductCase& c) const override {
    const ProductRequest& r = c.request;
    return member_bits({r.group_size == 32, r.group_size == 64, r.group_size == 128, r.scale_format == Format::f32,
                        r.scale_format == Format::f16, r.scale_format == Format::bf16, r.order == SumOrder::sequential,
                        r.order == SumOrder::lanes, r.order == SumOrder::pairwise, r.order == SumOrder::per_group,
                        r.rows > 1, r.in_features > r.group_size,
                        std::min({r.rows, r.in_features, r.out_features}) == 0});
  }
  Json write(const ProductCase& c) const override {
    const ProductRequest& r = c.request;
    Json weights = Json::array();
    for (const PackedWeights& w : r.weights)
      weights.push_back({{"codes", hex_of_bytes(w.codes)},
                         {"scales", elements_json(w.scales, r.scale_format)},
                         {"biases", elements_json(w.biases, r.scale_format)}});
    return {{"rows", r.rows},
            {"in_features", r.in_features},
            {"out_features", r.out_features},
            {"group_size", r.group_size},
            {"bits", r.bits},
            {"scale_format", spec(r.scale_format).name},
            {"order", sum_order_name(r.order)},
            {"x", elements_json(string_to_bytes(floats_to_string(r.x)), Format::f32)},
            {"weights", weights}};
  }
  Result<ProductCase> read(MemberReader& members) const override {
    ProductRequest r;
    r.rows = members.unsigned_integer("rows");
    r.in_features = members.unsigned_integer("in_features");
    r.out_features = members.unsigned_integer("out_features");
    r.group_size = members.unsigned_integer("group_size");
    r.bits = members.unsigned_integer("bits");
    r.scale_format = members.format("scale_format");
    const std::string where = std::string(name()) + " case";
    if (const std::optional<SumOrder> order = sum_order_named(members.text("order")))
      r.order = *order;
    else
      members.fail({"no such order", where, "order sequential, lanes, pairwise or per_group"});
    r.x = string_to_floats(bytes_to_string(members.elements("x", Format::f32)));
    const Json weights = members.value("weights");
    if (!weights.is_array() || weights.size() != matrices_) {
      members.fail({"not so many matrices", where + "/weights", std::to_string(matrices_)});
      return ProductCase{r};
    }
    for (const Json& json : weights)
      if (auto ok = read_weights(json, r, where); !ok) members.fail(ok.error());
    if (r.bits > 8 || !is_affine_width(static_cast<unsigned>(r.bits)))
      members.fail({"codes of another width", where, "bits 2, 3, 4, 5, 6 or 8"});
    if (std::max({r.rows, r.in_features, r.out_features, r.group_size}) > kLargest ||
        r.rows * r.out_features > kMostAnswers)
      members.fail({"too large", where, "shapes of at most 4096, and 65536 answers"});
    return ProductCase{r};
  }

 private:
  static Result<void> read_weights(const Json& json, ProductRequest& r, const std::string& where) {
    MemberReader members(json, where + "/weights");
    PackedWeights w;
    w.codes = members.bytes("codes");
    w.scales = members.elements("scales", r.scale_format);
    w.biases = members.elements("biases", r.scale_format);
    r.weights.push_back(std::move(w));
    return members.finish();
  }

  std::size_t matrices_;
  bool spoilt_;
};

const ProductType kProduct("affine_product", 1, false);
const ProductType kGateUp("affine_gate_up", 2, false);
const ProductType kUnsound("unsound_product", 2, true);

}  // namespace

const CaseType& product_cases = kProduct;
const CaseType& gate_up_cases = kGateUp;
const CaseType& unsound_product_cases = kUnsound;

}  // namespace packcheck
