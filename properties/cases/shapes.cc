// Questions about shapes: drawn sound and then, some of them, changed; and a grid of window geometries.
#include <algorithm>

#include "properties/cases/case_type.h"
#include "properties/cases/operators.h"

namespace packcheck {
namespace {

constexpr std::int64_t kKernels[] = {1, 2, 3, 4, 5, 7, 11};
constexpr std::int64_t kCommonSizes[] = {224, 112, 56, 28, 27, 7, 32, 227};
constexpr std::int64_t kHuge = std::int64_t{1} << 31;

/// 1 and more, up to `most`.
std::int64_t up_to(Source& source, std::int64_t most) {
  return 1 + static_cast<std::int64_t>(source.below(static_cast<std::uint64_t>(most)));
}

/// Along one axis: as in real models, now and then past 32 bits.
std::int64_t draw_size(Source& source) {
  const std::uint64_t kind = source.below(8);
  if (kind < 5) return up_to(source, 64);
  if (kind < 7) return source.pick(kCommonSizes);
  return kHuge - 2 + up_to(source, 1000);
}

struct DrawnAxis {
  std::int64_t size, kernel, stride, padding, dilation;
};
DrawnAxis draw_axis(Source& source, const ShapeOperator& op) {
  DrawnAxis a{draw_size(source), source.pick(kKernels), up_to(source, 4), 0, 1};
  if (op.window.padding == PaddingMode::given) a.padding = static_cast<std::int64_t>(source.below(4));
  if (op.window.limit == PaddingLimit::half_kernel) a.padding = std::min(a.padding, a.kernel / 2);
  if (op.window.zero_stride == ZeroStride::kernel_height) a.stride -= 1;
  if (op.family == ShapeFamily::convolution) a.dilation = up_to(source, 3);
  return a;
}

ShapeRequest window_request(const ShapeOperator& op, const DrawnAxis& h, const DrawnAxis& w, std::int64_t groups,
                            std::int64_t per_group, std::int64_t filters, bool bias) {
  if (op.family == ShapeFamily::pooling)
    return {&op, {h.kernel, w.kernel, h.stride, w.stride, h.padding, w.padding}, {{per_group, groups, h.size, w.size}}};
  const bool depthwise = op.op == "depthwise_conv2d";
  if (depthwise) per_group = 1;
  ShapeRequest r{&op,
                 {h.stride, w.stride, h.padding, w.padding, h.dilation, w.dilation},
                 {{1, groups * per_group, h.size, w.size}, {groups * filters, per_group, h.kernel, w.kernel}}};
  if (!depthwise) r.attributes.push_back(groups);
  if (bias) r.shapes.push_back({groups * filters});
  return r;
}

Dimensions draw_shape(Source& source, std::uint64_t least_rank) {
  Dimensions shape(least_rank + source.below(4));
  for (std::int64_t& size : shape) size = up_to(source, 6);
  if (!shape.empty() && source.once_in(8)) shape[source.below(shape.size())] = draw_size(source);
  return shape;
}

/// Shapes that broadcast to `whole`: axes of 1, and leading ones left out.
Dimensions part_of(Source& source, Dimensions whole) {
  whole.erase(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(source.below(whole.size() + 1)));
  for (std::int64_t& size : whole)
    if (source.below(3) == 1) size = 1;
  return whole;
}

std::int64_t draw_axis_number(Source& source, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  const auto axis = static_cast<std::int64_t>(source.below(rank));
  return source.below(2) == 0 ? axis : axis - count;
}

ShapeRequest draw_matmul(Source& source, const ShapeOperator& op) {
  const Dimensions batch = draw_shape(source, 0);
  Dimensions a = batch;
  Dimensions b = part_of(source, batch);
  const std::int64_t inner = up_to(source, 6);
  a.insert(a.end(), {up_to(source, 6), inner});
  b.insert(b.end(), {inner, up_to(source, 6)});
  if (source.below(2) == 1) return {&op, {}, {std::move(a), std::move(b)}};
  std::swap(a[a.size() - 2], a[a.size() - 1]);
  std::swap(b[b.size() - 2], b[b.size() - 1]);
  return {&op, {}, {std::move(b), std::move(a)}};
}

ShapeRequest draw_reduce(Source& source, const ShapeOperator& op) {
  ShapeRequest r{&op, {static_cast<std::int64_t>(source.below(2))}, {draw_shape(source, 1)}};
  const auto rank = static_cast<std::int64_t>(r.shapes[0].size());
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (source.below(2) == 1) r.attributes.push_back(source.below(4) == 3 ? axis - rank : axis);
  return r;
}

ShapeRequest draw_concat(Source& source, const ShapeOperator& op) {
  const Dimensions first = draw_shape(source, 1);
  const auto rank = static_cast<std::int64_t>(first.size());
  const std::size_t axis = source.below(first.size());
  ShapeRequest r{&op, {static_cast<std::int64_t>(axis) - (source.below(3) == 2 ? rank : 0)}, {first}};
  for (std::uint64_t more = source.below(3); more > 0; --more) {
    r.shapes.push_back(first);
    r.shapes.back()[axis] = up_to(source, 9);
  }
  return r;
}

ShapeRequest draw_other(Source& source, const ShapeOperator& op) {
  if (op.op == "matmul") return draw_matmul(source, op);
  if (op.op == "reduce") return draw_reduce(source, op);
  if (op.op == "concat") return draw_concat(source, op);
  Dimensions x = draw_shape(source, 1);
  if (op.op == "linear") {
    ShapeRequest r{&op, {}, {x, {up_to(source, 9), x.back()}}};
    if (source.below(2) == 1) r.shapes.push_back({r.shapes[1][0]});
    return r;
  }
  if (op.op == "broadcast") {
    ShapeRequest r{&op, {}, {part_of(source, x), x}};
    if (source.below(2) == 1) std::swap(r.shapes[0], r.shapes[1]);
    return r;
  }
  if (op.op == "elementwise") return {&op, {}, std::vector<Dimensions>(1 + source.below(3), x)};
  if (op.op == "flatten") return {&op, {draw_axis_number(source, x.size())}, {x}};
  if (op.op == "softmax_cross_entropy") {
    const std::int64_t samples = up_to(source, 9);
    return {&op, {}, {{samples, up_to(source, 9)}, {samples}}};
  }
  if (op.op == "layernorm") {
    const auto trailing = static_cast<std::ptrdiff_t>(1 + source.below(x.size()));
    return {&op, {trailing}, std::vector<Dimensions>{x, {x.end() - trailing, x.end()}}};
  }
  if (op.op == "element_count") {
    const std::uint64_t limit = source.below(4);
    if (limit == 1) return {&op, {}, {{46341, 46340 + up_to(source, 9)}}};        // 2^31
    if (limit == 2) return {&op, {}, {{94906267, 94906266 + up_to(source, 9)}}};  // 2^53
    return {&op, {}, {x}};
  }
  x.resize(4, 2);  // batchnorm2d, adaptive_avgpool2d
  if (op.op == "batchnorm2d") return {&op, {}, {x, {x[1]}, {x[1]}}};
  return {&op, {up_to(source, 9), up_to(source, 9)}, {x}};
}

ShapeRequest draw_sound(Source& source, const ShapeOperator& op) {
  switch (op.family) {
    case ShapeFamily::convolution:
    case ShapeFamily::pooling: {
      const DrawnAxis h = draw_axis(source, op);
      const DrawnAxis w = draw_axis(source, op);
      const std::int64_t groups = up_to(source, 3);
      const std::int64_t per_group = up_to(source, 2);
      const std::int64_t filters = up_to(source, 3);
      return window_request(op, h, w, groups, per_group, filters, source.below(2) == 1);
    }
    case ShapeFamily::adaptive: {
      const std::int64_t bins = up_to(source, 16);
      return {&op,
              {draw_size(source), bins, static_cast<std::int64_t>(source.below(static_cast<std::uint64_t>(bins)))},
              {}};
    }
    case ShapeFamily::padding:
      return {&op, {draw_size(source), source.pick(kKernels), up_to(source, 4), up_to(source, 3)}, {}};
    case ShapeFamily::input_size: {
      const std::int64_t out = draw_size(source);
      const std::int64_t kernel = source.pick(kKernels);
      const std::int64_t stride = up_to(source, 4);
      return {&op, {out, kernel, stride, static_cast<std::int64_t>(source.below(4)), up_to(source, 3)}, {}};
    }
    case ShapeFamily::other: break;
  }
  return draw_other(source, op);
}

/// Every number of a request, attributes first.
std::vector<std::int64_t*> numbers_of(ShapeRequest& r) {
  std::vector<std::int64_t*> all;
  for (std::int64_t& attribute : r.attributes) all.push_back(&attribute);
  for (Dimensions& shape : r.shapes)
    for (std::int64_t& size : shape) all.push_back(&size);
  return all;
}

/// One thing is other than it should be; not always wrong.
void change(Source& source, ShapeRequest& r) {
  const std::vector<std::int64_t*> numbers = numbers_of(r);
  const std::uint64_t kind = source.below(8);
  if (kind < 6 && !numbers.empty()) {
    std::int64_t& number = *numbers[source.below(numbers.size())];
    if (kind < 2) number = source.pick(kHostileNumbers);
    if (kind == 2 && number < INT64_MAX) number += 1;
    if (kind == 3 && number > INT64_MIN) number -= 1;
    if (kind == 4) number = -number;
    if (kind == 5 && number < INT64_MAX / 16) number *= 8;
    return;
  }
  const std::size_t part = source.below(4);
  if (part == 0 && !r.shapes.empty()) r.shapes.pop_back();
  if (part == 1) r.attributes.push_back(1);
  if (part == 2) r.shapes.push_back({1});
  if (part == 3 && !r.shapes.empty()) r.shapes[source.below(r.shapes.size())].push_back(1);
}

constexpr std::uint64_t kGrid = 64 * 7 * 4 * 4;

/// The grid that the facts name, along the height: sizes 1 to 64, kernels 1 2 3 4 5 7 11, strides 1 to 4, paddings
/// 0 to 3; the width has others, and a dilation.
ShapeRequest request_of_grid(const ShapeOperator& op, std::uint64_t index) {
  const auto at = [](std::uint64_t i) {
    return DrawnAxis{1 + static_cast<std::int64_t>(i % 64), kKernels[i / 64 % 7],
                     1 + static_cast<std::int64_t>(i / 448 % 4), static_cast<std::int64_t>(i / 1792 % 4), 1};
  };
  DrawnAxis h = at(index);
  DrawnAxis w = at(index * 37 + 11);
  w.dilation = 1 + static_cast<std::int64_t>(index % 3);
  switch (op.family) {
    case ShapeFamily::convolution:
    case ShapeFamily::pooling:
      if (op.window.padding != PaddingMode::given) h.padding = w.padding = 0;
      return window_request(op, h, w, 1 + static_cast<std::int64_t>(index % 2), 1, 2, index % 5 == 0);
    case ShapeFamily::adaptive: return {&op, {h.size, h.kernel, static_cast<std::int64_t>(index / 448 % 16)}, {}};
    case ShapeFamily::padding: return {&op, {h.size, h.kernel, h.stride, h.padding + 1}, {}};
    case ShapeFamily::input_size: return {&op, {h.size, h.kernel, h.stride, h.padding, 1}, {}};
    case ShapeFamily::other: break;
  }
  RandomSource random(index);
  return draw_sound(random, op);
}

/// A sound request with each number replaced by each hostile one.
std::vector<ShapeRequest> hostile_requests(const ShapeOperator& op) {
  ShapeRequest sound = request_of_grid(op, 7 + 2 * 64 + 448);
  const std::size_t numbers = numbers_of(sound).size();
  std::vector<ShapeRequest> all;
  for (std::size_t i = 0; i < numbers; ++i)
    for (const std::int64_t hostile : kHostileNumbers) {
      all.push_back(sound);
      *numbers_of(all.back())[i] = hostile;
    }
  if (numbers == 0) all.push_back(std::move(sound));
  return all;
}

const ShapeOperator& row_of(std::string_view variant) {
  const Result<const ShapeOperator*> row = shape_operator_named(variant);
  return row ? **row : all_shape_operators().front();
}

constexpr std::uint64_t kCaseWeight = 128;  // a case is up to eleven calls
constexpr std::uint64_t kSharers = 4;       // the rows share their rules

class ShapeType final : public TypedCaseType<ShapeRequest> {
 public:
  using TypedCaseType::TypedCaseType;

  ShapeRequest draw_value(Source& source, std::string_view variant) const override {
    const bool changed = source.below(3) == 2;
    ShapeRequest r = draw_sound(source, row_of(variant));
    if (changed) change(source, r);
    return r;
  }
  std::string variant_of(const ShapeRequest& r) const override { return r.op->id(); }
  std::size_t payload(const ShapeRequest& r) const override {
    std::size_t lengths = r.attributes.size();
    for (const auto& shape : r.shapes) lengths += shape.size();
    return lengths * sizeof(std::uint64_t);
  }
  Json write(const ShapeRequest& r) const override {
    return {{"rule", r.op->id()}, {"attributes", r.attributes}, {"shapes", r.shapes}};
  }
  Result<ShapeRequest> read(MemberReader& members) const override {
    const Result<const ShapeOperator*> op = shape_operator_named(members.text("rule"));
    if (!op) members.fail(op.error());
    ShapeRequest r{op.value_or(nullptr), members.integers("attributes"), {}};
    read_shapes(members, "shape case", r.shapes);
    return r;
  }
  std::optional<Domain> domain(std::string_view variant) const override {
    const ShapeOperator* op = &row_of(variant);
    return Domain{kGrid, 1,
                  [this, op](std::uint64_t first, std::uint64_t) { return wrap(request_of_grid(*op, first)); },
                  kCaseWeight, false};
  }
  std::optional<Domain> patterns(std::string_view variant) const override {
    auto cases = std::make_shared<const std::vector<ShapeRequest>>(hostile_requests(row_of(variant)));
    return Domain{cases->size(), 1, [this, cases](std::uint64_t first, std::uint64_t) { return wrap((*cases)[first]); },
                  1, false};
  }
  std::uint64_t sharers(std::string_view) const override { return kSharers; }
};

const ShapeType kType("shape");

}  // namespace

const CaseType& shape_cases = kType;

void read_shapes(MemberReader& members, const std::string& place, std::vector<Dimensions>& shapes) {
  const nlohmann::ordered_json list = members.value("shapes");
  const Error wrong{"no list of shapes", place + "/shapes", "[[1, 3, 224, 224], …]"};
  if (!list.is_array()) members.fail(wrong);
  for (const nlohmann::ordered_json& item : list) {
    const nlohmann::ordered_json object{{"shape", item}};
    MemberReader shape(object, place);
    shapes.push_back(shape.integers("shape"));
    if (const auto ok = shape.finish(); !ok) {
      members.fail(wrong);
      break;
    }
  }
}

}  // namespace packcheck
