// The bound of precision_oracle.h: both runs in step, with what they may differ by.
#include "properties/oracles/default_environment.h"
#include "properties/oracles/precision_steps.h"

namespace packcheck::oracle {
namespace {

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
  explicit BoundWalk(const NetworkDescription& d) : format_(d.format), rows_(d.rows()) {
    for (const double x : numbers_of(d.format, d.input)) at_.push_back(checked({x, x, 0}));
    for (const NetworkStep& step : NetworkLayout(d).steps) {
      std::vector<Pair> next;
      if (step.what == NetworkStep::What::dense)
        for (std::size_t i = 0; i < rows_ * step.size; ++i)
          next.push_back(checked(dense(step, i / step.size, i % step.size)));
      else
        for (const Pair& x : at_)
          next.push_back(checked(step.what == NetworkStep::What::cast ? cast(step, x) : activation(step, x)));
      at_ = std::move(next);
      format_ = step.format;
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
  [[nodiscard]] Pair cast(const NetworkStep& step, const Pair& x) const {
    const double y = fit(step.format, x.narrow);
    return {y, x.wide, x.error + (holds_all(format_, step.format) ? 0 : half_place(step.format, y))};
  }
  static Pair activation(const NetworkStep& step, const Pair& x) {
    Pair y{activated(step.activation, step.format, x.narrow), activated(step.activation, LayerFormat::f32, x.wide),
           x.error};
    if (step.activation != "leaky_relu" || (step.format == LayerFormat::f32 && x.error == 0)) return y;
    if (x.narrow < 0 && x.wide < 0) y.error /= 8;
    if (is_subnormal(step.format, y.narrow)) y.error += half_place(step.format, y.narrow);
    if (is_subnormal(LayerFormat::f32, y.wide)) y.error += half_place(LayerFormat::f32, y.wide);
    return y;
  }
  /// The error that rounding adds, where the runs can differ.
  static double rounding(LayerFormat f, double error, double narrow, double wide) {
    if (f == LayerFormat::f32 && error == 0) return 0;
    return half_place(f, narrow) + half_place(LayerFormat::f32, wide);
  }
  [[nodiscard]] Pair dense(const NetworkStep& step, std::size_t row, std::size_t o) const {
    const LayerFormat f = step.format;
    const std::size_t in = at_.size() / rows_;
    Pair sum;
    for (std::size_t i = 0; i < in; ++i) {
      const long double w = step.weights[o * in + i];
      const Pair& x = at_[row * in + i];
      Pair product{fit(f, w * x.narrow), fit(LayerFormat::f32, w * x.wide),
                   std::fabs(static_cast<double>(w)) * x.error};
      product.error += rounding(f, product.error, product.narrow, product.wide);
      sum = i == 0 ? Pair{product.narrow + 0.0, product.wide + 0.0, product.error} : added(f, sum, product);
    }
    return step.bias ? added(f, sum, {(*step.bias)[o], (*step.bias)[o], 0}) : sum;
  }
  static Pair added(LayerFormat f, const Pair& a, const Pair& b) {
    Pair sum{fit(f, static_cast<long double>(a.narrow) + b.narrow),
             fit(LayerFormat::f32, static_cast<long double>(a.wide) + b.wide), a.error + b.error};
    sum.error += rounding(f, sum.error, sum.narrow, sum.wide);
    return sum;
  }

  LayerFormat format_;
  std::size_t rows_;
  std::vector<Pair> at_;
  bool finite_ = true;
};

[[gnu::noinline]] std::optional<std::vector<double>> bounds_in(const NetworkDescription& d) {
  const DefaultEnvironment environment;
  const BoundWalk walk(d);
  if (!walk.finite()) return std::nullopt;
  return walk.bounds();
}

}  // namespace

std::optional<std::vector<double>> output_bounds(const NetworkDescription& description) {
  return bounds_in(description);
}

}  // namespace packcheck::oracle
