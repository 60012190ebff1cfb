// Nodes to run: small shapes, numbers from a seed; now and then something that does not fit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "properties/cases/case_type.h"
#include "properties/cases/operators.h"

namespace packcheck {
namespace {

std::int64_t up_to(Source& source, std::uint64_t most) { return 1 + static_cast<std::int64_t>(source.below(most)); }

// ---- numbers ----

enum class Kind : std::uint8_t { whole, fractions, scaled, wide, special };

/// Numbers that follow from a seed, so that few choices make many: seed 0 gives 1, 2, 3 …
class Numbers {
 public:
  Numbers(std::uint64_t seed, Kind kind, bool may_be_no_number) : seed_(seed), kind_(kind), any_(may_be_no_number) {}

  double next() {
    ++at_;
    if (seed_ == 0) return static_cast<double>(at_);
    const std::uint64_t bits = mixed(seed_ << 32 | at_);
    const double small = static_cast<double>(bits % 9) - 4;
    const double fraction = static_cast<double>(bits >> 8 & 0xFFF) / 512 - 3.998046875;
    switch (kind_) {
      case Kind::whole: return small;
      case Kind::fractions: return fraction;
      case Kind::scaled: return fraction * static_cast<double>(8 << (seed_ % 6));  // up to about 1000
      case Kind::wide: return std::ldexp(fraction, static_cast<int>(bits >> 20 & 31) - 20);
      case Kind::special: break;
    }
    return special(bits);
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {  // SplitMix64
    x += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
  }
  [[nodiscard]] double special(std::uint64_t bits) const {
    constexpr double kFinite[] = {0.0, -0.0, 1.0, -1.0, 0x1p-149, -0x1p-149, 0x1p-126, 1.0 + 0x1p-23};
    constexpr double kOthers[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity()};
    if (any_ && bits % 4 == 0) return kOthers[bits / 4 % 3];
    return kFinite[bits / 4 % 8];
  }
  std::uint64_t seed_;
  Kind kind_;
  bool any_;
  std::uint64_t at_ = 0;
};

void append(Bytes& elements, Format format, double number) {
  const FormatSpec& s = spec(format);
  elements.resize(elements.size() + s.bytes());
  const std::uint64_t bits = format == Format::f64 ? std::bit_cast<std::uint64_t>(number)
                                                   : std::bit_cast<std::uint32_t>(static_cast<float>(number));
  store_element(s, elements, elements.size() / s.bytes() - 1, bits);
}

Bytes elements_of(Format format, std::size_t count, Numbers& numbers) {
  Bytes elements;
  for (std::size_t i = 0; i < count; ++i) append(elements, format, numbers.next());
  return elements;
}

// ---- shapes ----

struct DrawnWindow {
  std::int64_t size, kernel, stride, padding, dilation;
};
DrawnWindow draw_window(Source& source, std::uint64_t dilations) {
  DrawnWindow w{0, up_to(source, 3), up_to(source, 3), 0, up_to(source, dilations)};
  w.padding = static_cast<std::int64_t>(source.below(3));
  const std::int64_t reach = w.dilation * (w.kernel - 1) + 1;
  w.size = std::max<std::int64_t>(1, reach - 2 * w.padding) + static_cast<std::int64_t>(source.below(4));
  return w;
}

void draw_conv2d(Source& source, NodeRequest& n) {
  const DrawnWindow h = draw_window(source, 2);
  const DrawnWindow w = draw_window(source, 2);
  const std::int64_t groups = up_to(source, 2);
  const std::int64_t channels = up_to(source, 2);
  const std::int64_t filters = groups * up_to(source, 2);
  n.attributes = {h.stride, w.stride, h.padding, w.padding, h.dilation, w.dilation, groups};
  n.shapes = {{up_to(source, 2), groups * channels, h.size, w.size}, {filters, channels, h.kernel, w.kernel}};
  if (source.below(2) == 1) n.shapes.push_back({filters});
}

void draw_pool2d(Source& source, NodeRequest& n) {
  const DrawnWindow h = draw_window(source, 1);
  const DrawnWindow w = draw_window(source, 1);
  n.attributes = {h.kernel, w.kernel, h.stride, w.stride, h.padding, w.padding};
  n.shapes = {{1, up_to(source, 2), h.size, w.size}};
}

Dimensions draw_shape(Source& source, std::uint64_t least_rank) {
  Dimensions shape(least_rank + source.below(5 - least_rank));
  for (std::int64_t& size : shape) size = up_to(source, 3);
  return shape;
}

void draw_dense(Source& source, NodeRequest& n) {
  if (n.op->op == "linear") {
    Dimensions x = draw_shape(source, 1);
    const std::int64_t out = up_to(source, 4);
    n.shapes = {x, {out, x.back()}};
    if (source.below(2) == 1) n.shapes.push_back({out});
  } else if (n.op->op == "relu") {
    n.shapes = {draw_shape(source, 0)};
  } else if (n.op->op == "flatten") {
    n.shapes = {source.below(2) == 1 ? Dimensions{2, up_to(source, 3), up_to(source, 3), 2} : draw_shape(source, 1)};
    n.attributes = {static_cast<std::int64_t>(source.below(n.shapes[0].size()))};
  } else if (n.op->op == "add") {
    const Dimensions whole = draw_shape(source, 1);
    const auto gone = static_cast<std::ptrdiff_t>(source.below(whole.size()));
    Dimensions part(whole.begin() + gone, whole.end());
    for (std::int64_t& size : part)
      if (source.below(2) == 1) size = 1;
    n.shapes = {whole, part};
    if (source.below(2) == 1) std::swap(n.shapes[0], n.shapes[1]);
  } else {
    const std::int64_t samples = up_to(source, 4);
    n.shapes = {{samples, up_to(source, 5)}, {samples}};
  }
}

std::size_t count_of(const Dimensions& shape) {
  return static_cast<std::size_t>(element_count(shape, "case").value_or(0));
}

/// Of a sound node; 0 of another one.
std::size_t output_count(const NodeRequest& n) {
  const auto shape = infer_shape(**shape_operator_named(n.op->shape_operator), {n.attributes, n.shapes});
  return shape ? count_of(*shape) : 0;
}

bool is_loss(const NodeRequest& n) { return n.op->op == "softmax_cross_entropy"; }

void draw_numbers(Source& source, NodeRequest& n) {
  const std::uint64_t seed = source.bits(8);
  const auto kind = static_cast<Kind>(source.below(5));
  const bool copies = n.op->op == "maxpool2d" || n.op->op == "relu" || n.op->op == "flatten";
  Numbers numbers(seed, is_loss(n) && kind == Kind::wide ? Kind::scaled : kind, copies);
  for (const Dimensions& shape : n.shapes) n.inputs.push_back(elements_of(n.format, count_of(shape), numbers));
  if (is_loss(n)) {
    n.inputs[1].clear();
    for (std::int64_t i = 0; i < n.shapes[1][0]; ++i)
      append(n.inputs[1], n.format, static_cast<double>(source.below(static_cast<std::uint64_t>(n.shapes[0][1]))));
  }
  Numbers upstream(seed + (seed == 0 ? 0 : 1), Kind::fractions, false);
  n.upstream = elements_of(n.format, output_count(n), upstream);
}

/// Sizes that make no work, whatever else the node says: a sound node of 2^31 windows is nobody's test.
constexpr std::int64_t kHostile[] = {0, -1, INT64_MAX, 4294967296, INT64_MIN, 2147483648, -2147483648};

/// One thing is other than it should be.
void change(Source& source, NodeRequest& n) {
  const std::size_t element = spec(n.format).bytes();
  const std::uint64_t kind = source.below(8);
  if (kind < 3) {
    const std::size_t shape = source.below(n.shapes.size());
    const bool attribute = !n.attributes.empty() && (kind == 0 || n.shapes[shape].empty());
    if (!attribute && n.shapes[shape].empty()) return;
    std::int64_t& number = attribute ? n.attributes[source.below(n.attributes.size())]
                                     : n.shapes[shape][source.below(n.shapes[shape].size())];
    number = kind == 1 ? number + 1 : source.pick(kHostile);
  }
  if (kind == 3) n.inputs[0].resize(n.inputs[0].size() - element);
  if (kind == 4) n.inputs.back().resize(n.inputs.back().size() + element);
  if (kind == 5) n.shapes.pop_back();
  if (kind == 6) n.attributes.push_back(0);
  if (kind == 7 && is_loss(n)) {
    constexpr double kNoLabels[] = {-1, 5, 0.5, std::numeric_limits<double>::quiet_NaN()};
    n.inputs[1].clear();
    for (std::int64_t i = 0; i < n.shapes[1][0]; ++i) append(n.inputs[1], n.format, source.pick(kNoLabels));
  }
  if (n.inputs.size() > n.shapes.size()) n.inputs.resize(n.shapes.size());
}

NodeVariant parts_of(std::string_view variant) {
  return node_variant(variant).value_or(NodeVariant{&all_exec_operators().front(), Format::f64});
}

NodeRequest draw_node(Source& source, std::string_view variant) {
  const NodeVariant parts = parts_of(variant);
  NodeRequest n{parts.op, parts.format, {}, {}, {}, {}};
  const bool changed = source.below(4) == 3;
  if (n.op->op == "conv2d")
    draw_conv2d(source, n);
  else if (n.op->op == "maxpool2d" || n.op->op == "avgpool2d")
    draw_pool2d(source, n);
  else
    draw_dense(source, n);
  draw_numbers(source, n);
  if (changed) change(source, n);
  return n;
}

constexpr std::uint64_t kDesigned = 2048;
constexpr std::uint64_t kCaseWeight = 256;
constexpr std::uint64_t kSharers = 8;  // both formats, and operators without windows, are quickly seen through

class NodeType final : public TypedCaseType<NodeRequest> {
 public:
  using TypedCaseType::TypedCaseType;

  NodeRequest draw_value(Source& source, std::string_view variant) const override { return draw_node(source, variant); }
  std::string variant_of(const NodeRequest& n) const override { return n.variant(); }
  std::size_t payload(const NodeRequest& n) const override {
    std::size_t bytes = n.upstream.size();
    for (const Bytes& input : n.inputs) bytes += input.size();
    return bytes;
  }
  Json write(const NodeRequest& n) const override {
    Json inputs = Json::array();
    for (const Bytes& input : n.inputs) inputs.push_back(elements_json(input, n.format));
    return {{"node", n.variant()},
            {"attributes", n.attributes},
            {"shapes", n.shapes},
            {"inputs", inputs},
            {"upstream", elements_json(n.upstream, n.format)}};
  }
  Result<NodeRequest> read(MemberReader& members) const override {
    const std::string name = members.text("node");
    const std::optional<NodeVariant> variant = node_variant(name);
    if (!variant) members.fail({"unknown node '" + name + "'", "node case/node", "as in conv2d:f32"});
    const NodeVariant parts = variant.value_or(parts_of({}));
    NodeRequest n{parts.op, parts.format, members.integers("attributes"), {}, {}, {}};
    read_shapes(members, "node case", n.shapes);
    const Json inputs = members.value("inputs");
    const Error wrong{"no list of inputs", "node case/inputs", R"([["0x3f800000", …], …], one for each shape)"};
    if (!inputs.is_array() || inputs.size() != n.shapes.size()) members.fail(wrong);
    for (const Json& item : inputs) {
      const Json object{{"input", item}};
      MemberReader input(object, "node case/inputs");
      n.inputs.push_back(input.elements("input", n.format));
      if (const auto ok = input.finish(); !ok) {
        members.fail(ok.error());
        break;
      }
    }
    n.upstream = members.elements("upstream", n.format);
    return n;
  }
  std::optional<Domain> domain(std::string_view variant) const override {
    const std::string name(variant);
    return Domain{kDesigned, 1,
                  [this, name](std::uint64_t first, std::uint64_t) {
                    RandomSource random(first);
                    return wrap(draw_node(random, name));
                  },
                  kCaseWeight, false};
  }
  std::uint64_t sharers(std::string_view) const override { return kSharers; }
};

const NodeType kType("node");

}  // namespace

const CaseType& node_cases = kType;

}  // namespace packcheck
