#include "properties/oracles/shape_oracle.h"

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>

namespace packcheck::oracle {
namespace {

using Big = __int128;
using MaybeShape = std::optional<Shape>;
constexpr Big kMost = std::numeric_limits<std::int64_t>::max();

/// The largest n in 0..limit with holds(n), where holds is true up to some n and false from there on;
/// −1 where it never holds.
template <class Holds>
Big last_that(Big limit, Holds holds) {
  if (!holds(Big{0})) return -1;
  Big good = 0;
  Big bad = limit + 1;
  while (bad - good > 1) {
    const Big middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

std::optional<std::int64_t> small(Big value) {
  if (value > kMost) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// Windows 0..n−1 start at multiples of the stride, the first at −padding.
struct Axis {
  Big size;
  Big kernel;
  Big stride;
  Big padding;
  Big dilation;

  [[nodiscard]] bool sound() const { return size > 0 && kernel > 0 && stride > 0 && padding >= 0 && dilation > 0; }
  [[nodiscard]] Big reach() const { return kernel * dilation - dilation + 1; }
  [[nodiscard]] Big cells() const { return padding + size + padding; }
  /// Past the last cell of window `n`, counted from the first cell of padding.
  [[nodiscard]] Big end_of(Big n) const { return n * stride + reach(); }
};

std::optional<std::int64_t> whole_windows(const Axis& a) {
  const Big last = last_that(a.cells(), [&](Big n) { return a.end_of(n) <= a.cells(); });
  if (last < 0) return std::nullopt;
  return small(last + 1);
}

/// As whole_windows, and one more where the kernel is too large by less than a stride.
std::optional<std::int64_t> truncated_windows(const Axis& a) {
  if (a.reach() > a.cells() && a.reach() - a.cells() < a.stride) return 1;
  return whole_windows(a);
}

/// Windows until one ends at or past the last cell.
std::optional<std::int64_t> covering_windows(const Axis& a, bool last_inside) {
  // A kernel too large by a whole stride would need less than one window.
  if (a.reach() - a.cells() >= a.stride) return std::nullopt;
  const Big short_ones = last_that(a.cells(), [&](Big n) { return n == 0 || a.end_of(n - 1) < a.cells(); });
  Big windows = short_ones + 1;
  if (last_inside && (windows - 1) * a.stride >= a.size + a.padding) windows -= 1;
  if (windows < 1) return std::nullopt;
  return small(windows);
}

std::optional<std::int64_t> windows_of(std::string_view dialect, const Axis& a) {
  if (!a.sound()) return std::nullopt;
  if (dialect == "floor" || dialect == "export_6d") return whole_windows(a);
  if (dialect == "java") return truncated_windows(a);
  if (dialect == "ceil") return covering_windows(a, false);
  if (dialect != "pytorch_ceil" || a.padding + a.padding > a.kernel) return std::nullopt;
  return covering_windows(a, true);
}

/// SAME: as many windows as there are multiples of the stride below the size.
struct Same {
  std::int64_t windows;
  Big pads;
};
std::optional<Same> same_of(const Axis& a) {
  if (!a.sound() || a.padding != 0) return std::nullopt;
  const Big last = last_that(a.size, [&](Big n) { return n * a.stride < a.size; });
  const Big over = a.end_of(last) - a.size;
  if (over > kMost) return std::nullopt;
  return Same{static_cast<std::int64_t>(last + 1), over > 0 ? over : Big{0}};
}

std::optional<std::int64_t> count_of(std::string_view dialect, const Axis& a) {
  if (dialect != "same_upper" && dialect != "same_lower") return windows_of(dialect, a);
  const std::optional<Same> same = same_of(a);
  if (!same) return std::nullopt;
  return same->windows;
}

/// Whether the shape is one and its elements can be counted; dividing, so that nothing overflows.
bool countable(const Shape& shape) {
  if (shape.size() > 16) return false;
  std::int64_t room = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t size : shape) {
    if (size <= 0) return false;
    room /= size;
  }
  return room >= 1;
}

MaybeShape if_countable(Shape shape) { return countable(shape) ? MaybeShape(std::move(shape)) : std::nullopt; }

struct Call {
  std::string dialect;
  std::span<const std::int64_t> a;
  std::span<const Shape> s;
};

MaybeShape convolution(const Call& c, bool depthwise) {
  if (c.a.size() != (depthwise ? 6U : 7U) || c.s.size() < 2 || c.s.size() > 3) return std::nullopt;
  const Shape& x = c.s[0];
  const Shape& w = c.s[1];
  if (x.size() != 4 || w.size() != 4) return std::nullopt;
  const std::int64_t groups = depthwise ? x[1] : c.a[6];
  // groups · weight's input channels make the input's channels.
  if (groups < 1 || Big{groups} * w[1] != x[1] || w[0] % groups != 0) return std::nullopt;
  if (c.s.size() == 3 && c.s[2] != Shape{w[0]}) return std::nullopt;
  const auto h = count_of(c.dialect, {x[2], w[2], c.a[0], c.a[2], c.a[4]});
  const auto v = count_of(c.dialect, {x[3], w[3], c.a[1], c.a[3], c.a[5]});
  if (!h || !v || !countable({x[0], w[0], *h, *v})) return std::nullopt;
  if (c.dialect == "export_6d") return Shape{x[0], x[1], x[2], x[3], *h, *v};
  return Shape{x[0], w[0], *h, *v};
}
MaybeShape conv2d(const Call& c) { return convolution(c, false); }
MaybeShape depthwise(const Call& c) { return convolution(c, true); }

MaybeShape pool(const Call& c) {
  if (c.a.size() != 6 || c.s.size() != 1 || c.s[0].size() != 4) return std::nullopt;
  const Shape& x = c.s[0];
  const bool java = c.dialect == "java";
  const std::int64_t down = java && c.a[2] <= 0 ? c.a[0] : c.a[2];
  const std::int64_t right = java && c.a[3] <= 0 ? c.a[0] : c.a[3];
  const auto h = count_of(c.dialect, {x[2], c.a[0], down, c.a[4], 1});
  const auto w = count_of(c.dialect, {x[3], c.a[1], right, c.a[5], 1});
  if (!h || !w) return std::nullopt;
  return if_countable({x[0], x[1], *h, *w});
}

MaybeShape adaptive_pool(const Call& c) {
  if (c.a.size() != 2 || c.s.size() != 1 || c.s[0].size() != 4) return std::nullopt;
  return if_countable({c.s[0][0], c.s[0][1], c.a[0], c.a[1]});
}

MaybeShape adaptive_bin(const Call& c) {
  if (c.a.size() != 3 || !c.s.empty()) return std::nullopt;
  const Big size = c.a[0];
  const Big bins = c.a[1];
  const Big index = c.a[2];
  if (size < 1 || bins < 1 || index < 0 || index >= bins) return std::nullopt;
  const auto rounded_down = [&](Big i) { return last_that(size, [&](Big cell) { return cell * bins <= i * size; }); };
  const Big begin = rounded_down(index);
  Big end = rounded_down(index + 1);
  if (c.dialect == "floor_ceil" && end * bins < (index + 1) * size) end += 1;
  return Shape{static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
}

MaybeShape same_padding(const Call& c) {
  if (c.a.size() != 4 || !c.s.empty()) return std::nullopt;
  const std::optional<Same> same = same_of({c.a[0], c.a[1], c.a[2], 0, c.a[3]});
  if (!same) return std::nullopt;
  const auto half = static_cast<std::int64_t>(same->pads / 2);
  const auto rest = static_cast<std::int64_t>(same->pads) - half;
  return c.dialect == "upper" ? Shape{same->windows, half, rest} : Shape{same->windows, rest, half};
}

/// The sizes of which `windows` fit and one more does not.
MaybeShape input_size(const Call& c) {
  if (c.a.size() != 5 || !c.s.empty() || c.a[0] < 1) return std::nullopt;
  const Axis a{1, c.a[1], c.a[2], c.a[3], c.a[4]};
  if (!a.sound()) return std::nullopt;
  const Big one_too_many = a.end_of(c.a[0]) - a.padding - a.padding;
  const Big just_enough = a.end_of(Big{c.a[0]} - 1) - a.padding - a.padding;
  if (one_too_many <= 1 || one_too_many - 1 > kMost || just_enough < -kMost) return std::nullopt;
  return Shape{static_cast<std::int64_t>(just_enough > 1 ? just_enough : Big{1}),
               static_cast<std::int64_t>(one_too_many - 1)};
}

MaybeShape linear(const Call& c) {
  if (!c.a.empty() || c.s.size() < 2 || c.s.size() > 3) return std::nullopt;
  Shape x = c.s[0];
  const Shape& w = c.s[1];
  if (x.empty() || w.size() != 2 || w[1] != x.back()) return std::nullopt;
  if (c.s.size() == 3 && c.s[2] != Shape{w[0]}) return std::nullopt;
  x.pop_back();
  x.push_back(w[0]);
  return if_countable(std::move(x));
}

/// Axis by axis from the last one: the larger size, where the other is equal or 1 or not there.
MaybeShape broadcast_two(Shape a, const Shape& b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  auto it = a.rbegin();
  for (auto other = b.rbegin(); other != b.rend(); ++other, ++it) {
    if (*it == 1)
      *it = *other;
    else if (*other != 1 && *other != *it)
      return std::nullopt;
  }
  return a;
}

MaybeShape broadcast(const Call& c) {
  if (!c.a.empty() || c.s.empty() || c.s.size() > 64) return std::nullopt;
  MaybeShape all = Shape{};
  for (const Shape& shape : c.s)
    if (all) all = broadcast_two(*all, shape);
  return all ? if_countable(*all) : std::nullopt;
}

MaybeShape matmul(const Call& c) {
  if (!c.a.empty() || c.s.size() != 2) return std::nullopt;
  Shape a = c.s[0];
  Shape b = c.s[1];
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const std::int64_t columns = b.back();
  b.pop_back();
  if (a.back() != b.back()) return std::nullopt;
  a.pop_back();
  b.pop_back();
  const std::int64_t rows = a.back();
  a.pop_back();
  MaybeShape batch = broadcast_two(a, b);
  if (!batch) return std::nullopt;
  batch->insert(batch->end(), {rows, columns});
  return if_countable(*batch);
}

MaybeShape reduce(const Call& c) {
  if (c.a.empty() || c.a.size() > 17 || c.s.size() != 1 || (c.a[0] != 0 && c.a[0] != 1)) return std::nullopt;
  const Shape& x = c.s[0];
  const auto rank = static_cast<std::int64_t>(x.size());
  std::set<std::int64_t> gone;
  for (std::int64_t axis : c.a.subspan(1)) {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank || !gone.insert(axis).second) return std::nullopt;
  }
  Shape out;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool kept = c.a.size() > 1 && gone.count(i) == 0;
    if (kept) out.push_back(x[static_cast<std::size_t>(i)]);
    if (!kept && c.a[0] == 1) out.push_back(1);
  }
  return out;
}

MaybeShape concat(const Call& c) {
  if (c.a.size() != 1 || c.s.empty() || c.s.size() > 64) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(c.s[0].size());
  const std::int64_t axis = c.a[0] < 0 ? c.a[0] + rank : c.a[0];
  if (axis < 0 || axis >= rank) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  Big sum = 0;
  for (Shape shape : c.s) {
    if (shape.size() != c.s[0].size()) return std::nullopt;
    sum += shape[at];
    shape[at] = c.s[0][at];
    if (shape != c.s[0]) return std::nullopt;
  }
  if (sum > kMost) return std::nullopt;
  Shape out = c.s[0];
  out[at] = static_cast<std::int64_t>(sum);
  return if_countable(std::move(out));
}

MaybeShape elementwise(const Call& c) {
  if (!c.a.empty() || c.s.empty() || c.s.size() > 64) return std::nullopt;
  const std::set<Shape> different(c.s.begin(), c.s.end());
  return different.size() == 1 ? MaybeShape(*different.begin()) : std::nullopt;
}

MaybeShape flatten(const Call& c) {
  if (c.a.size() != 1 || c.s.size() != 1) return std::nullopt;
  Shape x = c.s[0];
  const auto rank = static_cast<std::int64_t>(x.size());
  const std::int64_t axis = c.a[0] < 0 ? c.a[0] + rank : c.a[0];
  if (axis < 0 || axis >= rank) return std::nullopt;
  while (static_cast<std::int64_t>(x.size()) > axis + 1) {
    const std::int64_t last = x.back();
    x.pop_back();
    x.back() *= last;  // fits: the whole shape is countable
  }
  return x;
}

MaybeShape cross_entropy(const Call& c) {
  if (!c.a.empty() || c.s.size() != 2 || c.s[0].size() != 2 || c.s[1] != Shape{c.s[0][0]}) return std::nullopt;
  return Shape{};
}

MaybeShape batchnorm(const Call& c) {
  if (!c.a.empty() || c.s.empty() || c.s.size() > 5 || c.s[0].size() != 4) return std::nullopt;
  for (const Shape& parameter : c.s.subspan(1))
    if (parameter != Shape{c.s[0][1]}) return std::nullopt;
  return c.s[0];
}

MaybeShape layernorm(const Call& c) {
  if (c.a.size() != 1 || c.s.empty() || c.s.size() > 3) return std::nullopt;
  const Shape& x = c.s[0];
  if (c.a[0] < 1 || c.a[0] > static_cast<std::int64_t>(x.size())) return std::nullopt;
  for (const Shape& parameter : c.s.subspan(1)) {
    if (static_cast<std::int64_t>(parameter.size()) != c.a[0]) return std::nullopt;
    for (std::size_t i = 1; i <= parameter.size(); ++i)
      if (parameter[parameter.size() - i] != x[x.size() - i]) return std::nullopt;
  }
  return x;
}

MaybeShape element_count(const Call& c) {
  if (!c.a.empty() || c.s.size() != 1) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t size : c.s[0]) count *= size;  // fits: the shape is countable
  return Shape{count};
}

}  // namespace

std::optional<std::int64_t> windows_along(std::string_view dialect, std::int64_t size, std::int64_t kernel,
                                          std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  return windows_of(dialect, {size, kernel, stride, padding, dilation});
}

MaybeShape inferred_shape(std::string_view id, std::span<const std::int64_t> attributes,
                          std::span<const Shape> shapes) {
  static const std::map<std::string_view, MaybeShape (*)(const Call&)> operators{
      {"conv2d", conv2d},
      {"depthwise_conv2d", depthwise},
      {"maxpool2d", pool},
      {"avgpool2d", pool},
      {"adaptive_avgpool2d", adaptive_pool},
      {"adaptive_bin", adaptive_bin},
      {"linear", linear},
      {"matmul", matmul},
      {"reduce", reduce},
      {"concat", concat},
      {"broadcast", broadcast},
      {"elementwise", elementwise},
      {"flatten", flatten},
      {"softmax_cross_entropy", cross_entropy},
      {"batchnorm2d", batchnorm},
      {"layernorm", layernorm},
      {"element_count", element_count},
      {"same_padding", same_padding},
      {"input_size", input_size}};
  const std::size_t colon = id.find(':');
  const auto found = operators.find(id.substr(0, colon));
  if (found == operators.end()) return std::nullopt;
  for (const Shape& shape : shapes)
    if (!countable(shape)) return std::nullopt;
  return found->second(
      {colon == std::string_view::npos ? std::string{} : std::string(id.substr(colon + 1)), attributes, shapes});
}

}  // namespace packcheck::oracle
