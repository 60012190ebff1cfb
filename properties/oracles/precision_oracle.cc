#include "properties/oracles/precision_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "properties/oracles/default_environment.h"

namespace packcheck::oracle {
namespace {

struct Shape {
  std::string_view name;
  int precision;          // significant bits
  int smallest_exponent;  // of a normal number, 2^e
  double largest;
  unsigned bits;
};
const Shape& shape_of(LayerFormat format) {
  static const Shape kShapes[] = {
      {"f32", 24, -126, std::numeric_limits<float>::max(), 32},
      {"f16", 11, -14, 65504.0, 16},
      {"bf16", 8, -126, 0x1.FEp127, 16},
  };
  return kShapes[static_cast<std::size_t>(format)];
}

/// Exponent of the last place of a number of this size.
int last_place(const Shape& shape, long double value) {
  int exponent = 0;
  (void)std::frexp(value, &exponent);  // value = m·2^exponent, 0.5 <= |m| < 1
  return std::max(exponent - shape.precision, shape.smallest_exponent - shape.precision + 1);
}

bool is_nan_number(double number) { return number != number; }

std::uint64_t bits_of(double number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

/// What happens to the numbers, one thing at a time.
struct Doing {
  enum class What : std::uint8_t { cast, dense, activation };
  What what = What::cast;
  LayerFormat format = LayerFormat::f32;  ///< of the result
  std::size_t size = 0;
  std::string activation;
  std::vector<double> weights;
  std::optional<std::vector<double>> bias;
};

std::vector<double> numbers_of(LayerFormat format, const std::vector<std::uint64_t>& codes) {
  std::vector<double> numbers;
  for (const std::uint64_t code : codes) numbers.push_back(number_of_code(format, code));
  return numbers;
}

double created(LayerFormat format, std::uint64_t seed, std::uint64_t index, std::size_t inputs) {
  std::uint64_t hash = seed + 0x9E3779B97F4A7C15ULL * (index + 1);
  hash = 0xBF58476D1CE4E5B9ULL * (hash ^ (hash >> 30));
  hash = 0x94D049BB133111EBULL * (hash ^ (hash >> 27));
  hash = (hash ^ (hash >> 31)) >> 40;
  int width = 0;
  while (inputs >> width != 0) ++width;
  return fit(format, (static_cast<long double>(hash) - 8388608.0L) / 8388608.0L / (std::uint64_t{1} << (width / 2)));
}

std::vector<double> weights_of(const NetworkItem& item, LayerFormat format, std::size_t inputs) {
  if (item.weights) return numbers_of(format, item.weights->codes);
  std::vector<double> weights;
  for (std::size_t i = 0; i < item.units * inputs; ++i) weights.push_back(created(format, item.seed, i, inputs));
  return weights;
}

/// The tree laid out, and what it costs.
class Layout {
 public:
  explicit Layout(const NetworkDescription& d) : size_(d.inputs) { walk(d.items, d.format); }

  std::vector<Doing> doings;
  std::vector<NetworkBoundary> boundaries;

 private:
  void walk(const std::vector<NetworkItem>& items, LayerFormat around) {
    for (const NetworkItem& item : items) {
      if (item.kind == NetworkItem::Kind::activation) {
        activate(item.activation, around);
        continue;
      }
      const LayerFormat own = item.format.value_or(around);
      const bool is_stage = item.kind == NetworkItem::Kind::stage;
      const std::string name = is_stage ? item.name : "dense_" + std::to_string(++layers_);
      const auto content = [&] {
        if (is_stage) return walk(item.inside, own);
        Doing doing{Doing::What::dense, own, item.units, {}, weights_of(item, own, size_), {}};
        if (item.bias) doing.bias = numbers_of(own, item.bias->codes);
        size_ = item.units;
        doings.push_back(std::move(doing));
        activate(item.activation, own);
      };
      if (own == around) {
        content();
        continue;
      }
      const std::size_t place = boundaries.size();
      boundaries.push_back({name, around, own, size_, 0, size_ * shape_of(own).bits / 8});
      cast(own);
      content();
      boundaries[place].outputs = size_;
      boundaries[place].bytes += size_ * shape_of(around).bits / 8;
      cast(around);
    }
  }
  void cast(LayerFormat to) { doings.push_back({Doing::What::cast, to, size_, {}, {}, {}}); }
  void activate(const std::string& name, LayerFormat format) {
    if (name != "-") doings.push_back({Doing::What::activation, format, size_, name, {}, {}});
  }

  std::size_t size_;
  unsigned layers_ = 0;
};

double activated(const std::string& name, LayerFormat format, double x) {
  if (is_nan_number(x)) return x;
  if (name == "hard_tanh") return std::fmin(std::fmax(x, -1.0), 1.0) == 0 ? x : std::fmin(std::fmax(x, -1.0), 1.0);
  if (x > 0) return x;
  if (x == 0) return 0;
  return name == "relu" ? 0 : fit(format, x / 8.0L);
}

double slope(const std::string& name, double x) {
  if (name == "hard_tanh") return std::fabs(x) < 1 ? 1 : 0;
  if (x > 0) return 1;
  return name == "relu" ? 0 : 0.125;
}

std::string operator_text(std::string op, LayerFormat format) {
  if (format == LayerFormat::f32 && op != "convert") return op;
  return op.append(":").append(layer_format_name(format));
}
std::string activation_operator(const std::string& name) {
  if (name == "leaky_relu") return "leakyRelu";
  return name == "hard_tanh" ? "hardTanh" : name;
}

/// Goes through a layout and back.
class Walk {
 public:
  Walk(std::vector<Doing> doings, bool casts) : doings_(std::move(doings)), casts_(casts) {}

  std::vector<NetworkRow> run(const NetworkDescription& d) {
    upstream_ = numbers_of(d.format, d.upstream);
    const std::vector<double> x = numbers_of(d.format, d.input);
    add_row("input", d.format, x);
    settle(0, from(0, d.format, x));
    return std::move(rows_);
  }

 private:
  using Gradient = std::optional<std::vector<double>>;

  void settle(std::size_t row, const Gradient& gradient) {
    rows_[row].has_gradient = gradient.has_value();
    if (gradient) rows_[row].gradient = *gradient;
  }
  std::size_t add_row(const std::string& op, LayerFormat format, std::vector<double> values) {
    rows_.push_back({operator_text(op, format), std::move(values), false, {}});
    return rows_.size() - 1;
  }

  /// Does the rest from `at` on with x, and gives the gradient of x.
  Gradient from(std::size_t at, LayerFormat format, const std::vector<double>& x) {
    if (at == doings_.size()) return upstream_;
    const Doing& doing = doings_[at];
    if (doing.what == Doing::What::dense) return dense(at, x);
    std::vector<double> y;
    const bool is_cast = doing.what == Doing::What::cast;
    for (const double one : x)
      y.push_back(is_cast ? fit(doing.format, one) : activated(doing.activation, doing.format, one));
    const std::size_t row = add_row(is_cast ? "convert" : activation_operator(doing.activation), doing.format, y);
    Gradient gradient = from(at + 1, doing.format, y);
    settle(row, gradient);
    if (!gradient || (is_cast && !casts_)) return std::nullopt;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double& one = (*gradient)[i];
      if (is_cast)
        one = fit(format, one);
      else if (slope(doing.activation, x[i]) != 1)
        one = slope(doing.activation, x[i]) == 0 ? 0 : fit(doing.format, one / 8.0L);
    }
    return gradient;
  }

  Gradient dense(std::size_t at, const std::vector<double>& x) {
    const Doing& doing = doings_[at];
    const LayerFormat f = doing.format;
    const std::size_t weight_row = add_row("weight", f, doing.weights);
    const std::size_t bias_row = doing.bias ? add_row("bias", f, *doing.bias) : 0;
    std::vector<double> y;
    for (std::size_t o = 0; o < doing.size; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        sum = fit(f, static_cast<long double>(sum) +
                         fit(f, static_cast<long double>(doing.weights[o * x.size() + i]) * x[i]));
      y.push_back(doing.bias ? fit(f, static_cast<long double>(sum) + (*doing.bias)[o]) : sum);
    }
    const std::size_t row = add_row("linear", f, y);
    const Gradient gradient = from(at + 1, f, y);
    settle(row, gradient);
    if (!gradient) return std::nullopt;
    if (doing.bias) settle(bias_row, gradient);
    std::vector<double> of_weights;
    std::vector<double> of_x(x.size(), 0.0);
    for (std::size_t o = 0; o < doing.size; ++o)
      for (std::size_t i = 0; i < x.size(); ++i) {
        const long double g = (*gradient)[o];
        of_weights.push_back(fit(f, g * x[i]));
        of_x[i] = fit(f, static_cast<long double>(of_x[i]) + fit(f, g * doing.weights[o * x.size() + i]));
      }
    settle(weight_row, of_weights);
    return of_x;
  }

  std::vector<Doing> doings_;
  bool casts_;
  std::vector<double> upstream_;
  std::vector<NetworkRow> rows_;
};

// --- the bound -----------------------------------------------------------------------------------------------

/// Half a unit in the last place.
double half_place(LayerFormat format, double y) { return std::ldexp(1.0, last_place(shape_of(format), y) - 1); }
bool is_subnormal(LayerFormat format, double y) {
  return std::fabs(y) < std::ldexp(1.0, shape_of(format).smallest_exponent);
}
bool holds_all(LayerFormat narrow, LayerFormat wide) { return narrow == wide || wide == LayerFormat::f32; }

/// One number in both runs.
struct Pair {
  double narrow = 0;
  double wide = 0;
  double error = 0;  ///< E
};

class BoundWalk {
 public:
  explicit BoundWalk(const NetworkDescription& d) : format_(d.format) {
    for (const double x : numbers_of(d.format, d.input)) at_.push_back(checked({x, x, 0}));
    for (const Doing& doing : Layout(d).doings) {
      std::vector<Pair> next;
      if (doing.what == Doing::What::dense)
        for (std::size_t o = 0; o < doing.size; ++o) next.push_back(checked(dense(doing, o)));
      else
        for (const Pair& x : at_)
          next.push_back(checked(doing.what == Doing::What::cast ? cast(doing, x) : activation(doing, x)));
      at_ = std::move(next);
      format_ = doing.format;
    }
  }

  [[nodiscard]] bool finite() const { return finite_; }
  [[nodiscard]] std::vector<double> bounds() const {
    std::vector<double> all;
    for (const Pair& pair : at_) all.push_back(pair.error * (1 + 0x1p-40));  // these sums round, too
    return all;
  }

 private:
  Pair checked(const Pair& pair) {
    finite_ = finite_ && std::isfinite(pair.narrow) && std::isfinite(pair.wide) && std::isfinite(pair.error);
    return pair;
  }
  [[nodiscard]] Pair cast(const Doing& doing, const Pair& x) const {
    const double y = fit(doing.format, x.narrow);
    return {y, x.wide, x.error + (holds_all(format_, doing.format) ? 0 : half_place(doing.format, y))};
  }
  static Pair activation(const Doing& doing, const Pair& x) {
    Pair y{activated(doing.activation, doing.format, x.narrow), activated(doing.activation, LayerFormat::f32, x.wide),
           x.error};
    if (doing.activation != "leaky_relu" || (doing.format == LayerFormat::f32 && x.error == 0)) return y;
    if (x.narrow < 0 && x.wide < 0) y.error /= 8;
    if (is_subnormal(doing.format, y.narrow)) y.error += half_place(doing.format, y.narrow);
    if (is_subnormal(LayerFormat::f32, y.wide)) y.error += half_place(LayerFormat::f32, y.wide);
    return y;
  }
  /// The error that rounding adds, where the runs can differ.
  static double rounding(LayerFormat f, double error, double narrow, double wide) {
    if (f == LayerFormat::f32 && error == 0) return 0;
    return half_place(f, narrow) + half_place(LayerFormat::f32, wide);
  }
  [[nodiscard]] Pair dense(const Doing& doing, std::size_t o) const {
    const LayerFormat f = doing.format;
    Pair sum;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const long double w = doing.weights[o * at_.size() + i];
      Pair product{fit(f, w * at_[i].narrow), fit(LayerFormat::f32, w * at_[i].wide),
                   std::fabs(static_cast<double>(w)) * at_[i].error};
      product.error += rounding(f, product.error, product.narrow, product.wide);
      sum = i == 0 ? Pair{product.narrow + 0.0, product.wide + 0.0, product.error} : added(f, sum, product);
    }
    return doing.bias ? added(f, sum, {(*doing.bias)[o], (*doing.bias)[o], 0}) : sum;
  }
  static Pair added(LayerFormat f, const Pair& a, const Pair& b) {
    Pair sum{fit(f, static_cast<long double>(a.narrow) + b.narrow),
             fit(LayerFormat::f32, static_cast<long double>(a.wide) + b.wide), a.error + b.error};
    sum.error += rounding(f, sum.error, sum.narrow, sum.wide);
    return sum;
  }

  LayerFormat format_;
  std::vector<Pair> at_;
  bool finite_ = true;
};

[[gnu::noinline]] NetworkResult run_in(const NetworkDescription& d, bool casts) {
  const DefaultEnvironment environment;
  Layout layout(d);
  NetworkResult result;
  result.boundaries = layout.boundaries;
  result.rows = Walk(std::move(layout.doings), casts).run(d);
  return result;
}

[[gnu::noinline]] std::optional<std::vector<double>> bounds_in(const NetworkDescription& d) {
  const DefaultEnvironment environment;
  const BoundWalk walk(d);
  if (!walk.finite()) return std::nullopt;
  return walk.bounds();
}

/// Every format f32; weights the same numbers.
std::vector<NetworkItem> widened_items(const std::vector<NetworkItem>& items, LayerFormat around, std::size_t& size) {
  const auto recoded = [](LayerFormat from, const std::vector<std::uint64_t>& codes) {
    TaggedCodes wide;
    for (const double number : numbers_of(from, codes)) wide.codes.push_back(f32_code(number));
    return wide;
  };
  std::vector<NetworkItem> wide;
  for (NetworkItem item : items) {
    const LayerFormat own = item.format.value_or(around);
    if (item.kind == NetworkItem::Kind::dense) {
      TaggedCodes weights;
      for (const double number : weights_of(item, own, size)) weights.codes.push_back(f32_code(number));
      item.weights = std::move(weights);
      if (item.bias) item.bias = recoded(own, item.bias->codes);
      size = item.units;
    }
    if (item.kind == NetworkItem::Kind::stage) item.inside = widened_items(item.inside, own, size);
    if (item.format) item.format = LayerFormat::f32;
    wide.push_back(std::move(item));
  }
  return wide;
}

}  // namespace

std::string_view layer_format_name(LayerFormat format) { return shape_of(format).name; }

double fit(LayerFormat format, long double value) {
  if (value == 0 || value != value || std::isinf(value)) return static_cast<double>(value);
  const Shape& shape = shape_of(format);
  const int place = last_place(shape, value);
  const long double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -place)), place);
  if (std::fabs(rounded) > static_cast<long double>(shape.largest))
    return std::copysign(std::numeric_limits<double>::infinity(), static_cast<double>(value));
  return static_cast<double>(rounded);
}

double number_of_code(LayerFormat format, std::uint64_t code) {
  // f32 and bf16 are the upper halves of what the machine has; f16 is put together.
  if (format != LayerFormat::f16) {
    const auto bits = static_cast<std::uint32_t>(format == LayerFormat::bf16 ? code << 16 : code);
    float number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (number != number) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(number);
  }
  const int exponent = static_cast<int>(code >> 10 & 31);
  const auto fraction = static_cast<double>(code & 1023);
  const double sign = (code >> 15 & 1) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

std::uint64_t f32_code(double number) {
  const auto single = static_cast<float>(number);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof bits);
  return bits;
}

NetworkResult run_network(const NetworkDescription& description, bool casts) { return run_in(description, casts); }

std::optional<std::vector<double>> output_bounds(const NetworkDescription& description) {
  return bounds_in(description);
}

Nodes network_nodes(const NetworkDescription& d) {
  Nodes nodes;
  const auto add = [&](std::string op, std::vector<std::uint32_t> shape) -> Node& {
    Node& node = nodes.emplace_back();
    node.id = static_cast<std::uint32_t>(nodes.size() - 1);
    node.op = std::move(op);
    node.shape = std::move(shape);
    return node;
  };
  const auto leaf = [&](const char* tag, LayerFormat format, std::vector<std::uint32_t> shape,
                        const std::vector<double>& numbers) {
    std::vector<std::uint64_t>& data = add(operator_text(tag, format), std::move(shape)).data.emplace();
    for (const double number : numbers) data.push_back(bits_of(number));
    return nodes.back().id;
  };
  const DefaultEnvironment environment;
  std::uint32_t size = d.inputs;
  std::uint32_t last = leaf("input", d.format, {1, size}, numbers_of(d.format, d.input));
  for (const Doing& doing : Layout(d).doings) {
    std::vector<std::uint32_t> inputs{last};
    std::string op = doing.what == Doing::What::cast ? "convert" : activation_operator(doing.activation);
    const auto next = static_cast<std::uint32_t>(doing.size);
    if (doing.what == Doing::What::dense) {
      op = "linear";
      inputs.push_back(leaf("weight", doing.format, {next, size}, doing.weights));
      if (doing.bias) inputs.push_back(leaf("bias", doing.format, {next}, *doing.bias));
    }
    size = next;
    Node& node = add(operator_text(op, doing.format), {1, size});
    node.inputs = std::move(inputs);
    last = node.id;
  }
  return nodes;
}

NetworkDescription widened(const NetworkDescription& d) {
  const DefaultEnvironment environment;
  NetworkDescription wide = d;
  wide.format = LayerFormat::f32;
  std::size_t size = d.inputs;
  wide.items = widened_items(d.items, d.format, size);
  for (std::uint64_t& code : wide.input) code = f32_code(number_of_code(d.format, code));
  for (std::uint64_t& code : wide.upstream) code = f32_code(number_of_code(d.format, code));
  return wide;
}

NetworkDescription inside_equal_stage(const NetworkDescription& d) {
  NetworkDescription wrapped = d;
  NetworkItem stage;
  stage.kind = NetworkItem::Kind::stage;
  stage.name = "all";
  stage.format = d.format;
  stage.inside = d.items;
  wrapped.items = {std::move(stage)};
  return wrapped;
}

}  // namespace packcheck::oracle
