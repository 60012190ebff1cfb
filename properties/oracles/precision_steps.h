// properties/oracles/precision_steps.h: formats and steps of a network, for the files of the precision oracle alone:
// precision_oracle.cc runs the steps, precision_bound.cc bounds what a narrow run may differ by.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/oracles/precision_oracle.h"

namespace packcheck::oracle {

struct LayerShape {
  std::string_view name;
  int precision;          // significant bits
  int smallest_exponent;  // of a normal number, 2^e
  double largest;
  unsigned bits;
};
[[nodiscard]] const LayerShape& shape_of(LayerFormat format);
/// Exponent of the last place of a number of this size.
[[nodiscard]] int last_place(const LayerShape& shape, long double value);

/// What happens to the numbers, one thing at a time.
struct NetworkStep {
  enum class What : std::uint8_t { cast, dense, activation };
  What what = What::cast;
  LayerFormat format = LayerFormat::f32;  ///< of the result
  std::size_t size = 0;
  std::string activation;
  std::vector<double> weights;
  std::optional<std::vector<double>> bias;
};

[[nodiscard]] std::vector<double> numbers_of(LayerFormat format, const std::vector<std::uint64_t>& codes);
/// The user's weights, or those made from the seed.
[[nodiscard]] std::vector<double> weights_of(const NetworkItem& item, LayerFormat format, std::size_t inputs);
/// An activation's result, rounded to the format.
[[nodiscard]] double activated(const std::string& name, LayerFormat format, double x);

/// The tree laid out, and what it costs.
class NetworkLayout {
 public:
  explicit NetworkLayout(const NetworkDescription& d) : size_(d.inputs) { walk(d.items, d.format); }

  std::vector<NetworkStep> steps;
  std::vector<NetworkBoundary> boundaries;

 private:
  void walk(const std::vector<NetworkItem>& items, LayerFormat around);
  void cast(LayerFormat to) { steps.push_back({NetworkStep::What::cast, to, size_, {}, {}, {}}); }
  void activate(const std::string& name, LayerFormat format) {
    if (name != "-") steps.push_back({NetworkStep::What::activation, format, size_, name, {}, {}});
  }

  std::size_t size_;
  unsigned layers_ = 0;
};

}  // namespace packcheck::oracle
