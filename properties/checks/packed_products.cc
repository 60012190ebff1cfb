// Products with packed weights: the bound of each order, and where what is not finite comes from.
#include <algorithm>
#include <cmath>

#include "core/affine/groups.h"
#include "core/affine/matmul_bound.h"
#include "core/affine/nan_trace.h"
#include "properties/cases/products.h"
#include "properties/checks/checks.h"
#include "properties/oracles/format_oracle.h"
#include "properties/oracles/product_oracle.h"

namespace packcheck {
namespace {

enum class Number : std::uint8_t { finite, nan, infinite };

/// A scale or a bias, by value.
Number number_at(Format format, const Bytes& elements, std::size_t index) {
  const std::size_t size = format == Format::f32 ? 4 : 2;
  std::uint64_t code = 0;
  for (std::size_t i = size; i-- > 0;) code = code << 8 | elements[index * size + i];
  if (oracle::is_nan(format, code)) return Number::nan;
  const std::uint64_t single = oracle::convert(format, Format::f32, code, {}) & 0x7FFFFFFF;
  return single == 0x7F800000 ? Number::infinite : Number::finite;
}

/// The first thing in a group that is not finite, in the order of NanCause; product_overflow for nothing.
NanCause cause_in(const ProductRequest& r, std::size_t row, std::size_t output, std::size_t group) {
  const std::size_t at = output * (r.in_features / r.group_size) + group;
  const PackedWeights& w = r.weights.front();
  const Number scale = number_at(r.scale_format, w.scales, at);
  if (scale != Number::finite) return scale == Number::nan ? NanCause::scale_nan : NanCause::scale_infinite;
  const Number bias = number_at(r.scale_format, w.biases, at);
  if (bias != Number::finite) return bias == Number::nan ? NanCause::bias_nan : NanCause::bias_infinite;
  const auto first = r.x.begin() + static_cast<std::ptrdiff_t>(row * r.in_features + group * r.group_size);
  const auto last = first + static_cast<std::ptrdiff_t>(r.group_size);
  if (std::any_of(first, last, [](float x) { return std::isnan(x); })) return NanCause::input_nan;
  if (std::any_of(first, last, [](float x) { return std::isinf(x); })) return NanCause::input_infinite;
  return NanCause::product_overflow;
}

Fault trace_fault(const ProductRequest& r, const std::vector<float>& y, const NanTrace& trace) {
  const auto bad = std::find_if(y.begin(), y.end(), [](float number) { return !std::isfinite(number); });
  const auto at = static_cast<std::size_t>(bad - y.begin());
  if (trace.row * r.out_features + trace.output != at) return "the output of a trace";
  const std::size_t groups = r.in_features / r.group_size;
  // The first group with a number that is not finite is to blame; without one, all that is there adds up to too much.
  for (std::size_t group = 0; group < groups; ++group) {
    const NanCause cause = cause_in(r, trace.row, trace.output, group);
    if (cause == NanCause::product_overflow) continue;
    return group == trace.group && cause == trace.cause ? "" : "the cause of a trace";
  }
  if (trace.cause != NanCause::product_overflow || trace.group >= groups) return "a trace of an overflow";
  return trace.text().find("a product overflows") == std::string::npos ? "the text of a trace" : "";
}

/// Scales that a kernel walks over in rows of another length: the first row that leaves the buffer.
Fault walk_fault(const ProductRequest& r) {
  const std::uint64_t columns = std::max<std::uint64_t>(r.in_features / r.group_size, 1);
  const std::uint64_t in = std::max<std::uint64_t>(r.in_features, columns);
  const std::uint64_t capacity = r.out_features * columns;
  const ScaleWalk walk = read_columns_as_group(r.out_features, in, columns, capacity);
  std::uint64_t row = 0;
  while (row < walk.rows && (walk.reads == 0 || row * walk.stride + walk.reads <= capacity)) ++row;
  if (walk.reads * columns < in) return "a walk that reads too little";
  return first_row_out_of_bounds(walk) == row ? "" : "the first row out of bounds";
}

Fault elements_fault(const AffineProduct& p, const PackedMatrix& w, const ProductRequest& r,
                     const std::vector<float>& y) {
  const oracle::PackedProduct exact{r.rows,         r.in_features, r.out_features, r.group_size, r.bits,
                                    r.scale_format, r.x,           w.codes,        w.scales,     w.biases};
  for (std::size_t row = 0; row < r.rows; ++row)
    for (std::size_t output = 0; output < r.out_features; ++output) {
      const float number = y[row * r.out_features + output];
      const double bound = product_bound(p, w, row, output);
      if (std::isnan(bound) || bound < 0) return "a bound that is none";
      if (std::isinf(bound)) continue;
      const oracle::ExpectedElement expected = oracle::expected_element(exact, row, output);
      if (expected.kind != oracle::ExpectedKind::bounded) return "a bound where a number is not finite";
      if (!std::isfinite(number) || expected.sum.distance(number) > bound) return "a product past its bound";
    }
  return {};
}

}  // namespace

Fault product_fault(Source& source) {
  static constexpr std::string_view kVariants[] = {"affine2:f32", "affine3:f32", "affine4:f32",
                                                   "affine5:f32", "affine6:f32", "affine8:f32"};
  const std::string_view variant = source.pick(kVariants);
  const bool spoilt = source.once_in(4);
  const Case c = (spoilt ? unsound_product_cases : product_cases).draw(source, variant);
  const ProductRequest& r = c.as<ProductCase>().request;
  AffineProduct p{
      r.rows, r.in_features, r.out_features, r.group_size, static_cast<unsigned>(r.bits), r.scale_format, r.order, r.x};
  const PackedWeights& packed = r.weights.front();
  const PackedMatrix w{packed.codes, packed.scales, packed.biases};
  const TracedLayer layer{"layer", p, w};
  const Result<std::optional<NanTrace>> trace = trace_nan(std::span(&layer, 1), r.x, r.rows);
  const oracle::PackedProduct asked{r.rows,         r.in_features, r.out_features, r.group_size, r.bits,
                                    r.scale_format, r.x,           w.codes,        w.scales,     w.biases};
  if (r.bits <= 8 && trace.has_value() != oracle::unsoundness(asked).empty()) return "which products are refused";
  if (!trace) return trace.error().where.substr(0, 5) == "layer" ? "" : "a refusal without its layer";
  std::vector<float> y(r.rows * r.out_features);
  if (!affine_matmul(p, w, y)) return "a product that is only traced";
  const bool finite = std::all_of(y.begin(), y.end(), [](float number) { return std::isfinite(number); });
  if (finite == trace->has_value()) return "a trace of finite numbers, or none of others";
  if (Fault fault = finite ? Fault() : trace_fault(r, y, **trace); !fault.empty()) return fault;
  if (Fault fault = walk_fault(r); !fault.empty()) return fault;
  return elements_fault(p, w, r, y);
}

}  // namespace packcheck
