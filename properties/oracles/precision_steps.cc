#include "properties/oracles/precision_steps.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace packcheck::oracle {
namespace {

double created(LayerFormat format, std::uint64_t seed, std::uint64_t index, std::size_t inputs) {
  std::uint64_t hash = seed + 0x9E3779B97F4A7C15ULL * (index + 1);
  hash = 0xBF58476D1CE4E5B9ULL * (hash ^ (hash >> 30));
  hash = 0x94D049BB133111EBULL * (hash ^ (hash >> 27));
  hash = (hash ^ (hash >> 31)) >> 40;
  int width = 0;
  while (inputs >> width != 0) ++width;
  return fit(format, (static_cast<long double>(hash) - 8388608.0L) / 8388608.0L / (std::uint64_t{1} << (width / 2)));
}

}  // namespace

const LayerShape& shape_of(LayerFormat format) {
  static const LayerShape kShapes[] = {
      {"f32", 24, -126, std::numeric_limits<float>::max(), 32},
      {"f16", 11, -14, 65504.0, 16},
      {"bf16", 8, -126, 0x1.FEp127, 16},
  };
  return kShapes[static_cast<std::size_t>(format)];
}

int last_place(const LayerShape& shape, long double value) {
  int exponent = 0;
  (void)std::frexp(value, &exponent);  // value = m·2^exponent, 0.5 <= |m| < 1
  return std::max(exponent - shape.precision, shape.smallest_exponent - shape.precision + 1);
}

std::string_view layer_format_name(LayerFormat format) { return shape_of(format).name; }

double fit(LayerFormat format, long double value) {
  if (value == 0 || value != value || std::isinf(value)) return static_cast<double>(value);
  const LayerShape& shape = shape_of(format);
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

std::vector<double> numbers_of(LayerFormat format, const std::vector<std::uint64_t>& codes) {
  std::vector<double> numbers;
  for (const std::uint64_t code : codes) numbers.push_back(number_of_code(format, code));
  return numbers;
}

std::vector<double> weights_of(const NetworkItem& item, LayerFormat format, std::size_t inputs) {
  if (item.weights) return numbers_of(format, item.weights->codes);
  std::vector<double> weights;
  for (std::size_t i = 0; i < item.units * inputs; ++i) weights.push_back(created(format, item.seed, i, inputs));
  return weights;
}

void NetworkLayout::walk(const std::vector<NetworkItem>& items, LayerFormat around) {
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
      NetworkStep step{NetworkStep::What::dense, own, item.units, {}, weights_of(item, own, size_), {}};
      if (item.bias) step.bias = numbers_of(own, item.bias->codes);
      size_ = item.units;
      steps.push_back(std::move(step));
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

double activated(const std::string& name, LayerFormat format, double x) {
  if (std::isnan(x)) return x;
  if (name == "hard_tanh") return std::fmin(std::fmax(x, -1.0), 1.0) == 0 ? x : std::fmin(std::fmax(x, -1.0), 1.0);
  if (x > 0) return x;
  if (x == 0) return 0;
  return name == "relu" ? 0 : fit(format, x / 8.0L);
}

}  // namespace packcheck::oracle
