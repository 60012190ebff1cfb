#include "core/precision/builder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/environment.h"
#include "core/format/convert.h"

namespace packcheck {
namespace {

constexpr std::array<std::string_view, 4> kActivations{"-", "relu", "leaky_relu", "hard_tanh"};

bool is_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), is_letter);
}

std::string formats_of(Format is, Format wanted) {
  std::string text(spec(is).name);
  return text.append(" where the layer is ").append(spec(wanted).name);
}

}  // namespace

std::string_view activation_name(Activation activation) { return kActivations[static_cast<std::size_t>(activation)]; }

std::optional<Activation> activation_named(std::string_view name) {
  for (std::size_t i = 0; i < kActivations.size(); ++i)
    if (kActivations[i] == name) return static_cast<Activation>(i);
  return std::nullopt;
}

bool is_layer_format(Format format) { return format == Format::f32 || format == Format::f16 || format == Format::bf16; }

std::uint64_t created_weight(Format dtype, std::uint64_t seed, std::uint64_t index, std::uint32_t inputs) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  z ^= z >> 31;
  // 24 bits about 0, in units of 2^-23: exact in f32, so that this number is the same everywhere.
  const std::int64_t units = static_cast<std::int64_t>(z >> 40) - (std::int64_t{1} << 23);
  const int shift = 23 + std::bit_width(inputs) / 2;
  const double value = std::ldexp(static_cast<double>(units), -shift);
  return convert(Format::f64, dtype, std::bit_cast<std::uint64_t>(value));
}

NetworkBuilder::NetworkBuilder(Format dtype, const PrecisionRules& rules) : rules_(rules) {
  network_.dtype = dtype;
  scopes_.push_back({dtype, dtype, std::nullopt});
  if (!is_layer_format(dtype)) mistake(std::string("dtype ").append(spec(dtype).name), "network", "f32, f16 or bf16");
}

void NetworkBuilder::mistake(std::string what, std::string where, std::string right) {
  if (!mistake_) mistake_ = Error{std::move(what), std::move(where), std::move(right)};
}

bool NetworkBuilder::ready(std::string_view what) {
  if (!mistake_ && network_.inputs == 0)
    mistake(std::string(what).append(" before the input"), "network", "input(size) first");
  return !mistake_;
}

NetworkBuilder& NetworkBuilder::input(std::uint32_t size) {
  if (mistake_) return *this;
  if (network_.inputs != 0)
    mistake("a second input", "network", "one input");
  else if (size == 0 || size > kMostUnits)
    mistake("an input of size " + std::to_string(size), "network", "1.." + std::to_string(kMostUnits));
  else
    network_.inputs = size;
  return *this;
}

void NetworkBuilder::cast(Format to) {
  network_.steps.push_back({StepKind::cast, to, network_.outputs(), Activation::none, {}, {}});
}

std::optional<std::size_t> NetworkBuilder::enter(std::string name, Format outer, Format inner) {
  if (outer == inner && rules_.equal == EqualBoundary::nothing) return std::nullopt;
  network_.boundaries.push_back({std::move(name), outer, inner, network_.outputs(), 0});
  cast(inner);
  return network_.boundaries.size() - 1;
}

void NetworkBuilder::leave(std::optional<std::size_t> boundary) {
  if (!boundary) return;
  PrecisionBoundary& left = network_.boundaries[*boundary];
  left.outputs = network_.outputs();
  if (rules_.cast_out == CastOut::cast) cast(left.outer);
}

void NetworkBuilder::add_activation(Format dtype, Activation activation) {
  if (activation == Activation::none) return;
  network_.steps.push_back({StepKind::activation, dtype, network_.outputs(), activation, {}, {}});
}

std::optional<std::vector<std::uint64_t>> NetworkBuilder::take(const LayerWeights& given, Format dtype,
                                                               std::uint64_t count, const std::string& where) {
  if (given.codes.size() != count) {
    mistake(std::to_string(given.codes.size()) + " numbers", where, std::to_string(count));
    return std::nullopt;
  }
  if (given.dtype == dtype) {
    const auto outside = [&](std::uint64_t code) { return (code & ~spec(dtype).all_bits()) != 0; };
    if (std::any_of(given.codes.begin(), given.codes.end(), outside)) {
      mistake("bits above the width of the format", where, std::string("codes of ").append(spec(dtype).name));
      return std::nullopt;
    }
    return given.codes;
  }
  if (rules_.foreign_weights == ForeignWeights::refuse || !is_layer_format(given.dtype)) {
    mistake(formats_of(given.dtype, dtype), where, "numbers of the layer's dtype: they are never cast in silence");
    return std::nullopt;
  }
  std::vector<std::uint64_t> codes;
  for (const std::uint64_t code : given.codes) codes.push_back(convert(given.dtype, dtype, code));
  return codes;
}

NetworkBuilder& NetworkBuilder::dense(std::uint32_t units, const DenseOptions& options) {
  if (!ready("a layer")) return *this;
  std::string name = "dense_" + std::to_string(++layers_);
  const Scope scope = scopes_.back();
  const Format dtype = options.dtype.value_or(scope.layer_default);
  if (!is_layer_format(dtype))
    mistake(std::string("dtype ").append(spec(dtype).name), name, "f32, f16 or bf16");
  else if (units == 0 || units > kMostUnits)
    mistake(std::to_string(units) + " units", name, "1.." + std::to_string(kMostUnits));
  if (mistake_) return *this;

  const std::uint32_t inputs = network_.outputs();
  const std::uint64_t count = std::uint64_t{units} * inputs;
  weights_ += count;
  if (count > kMostWeights || weights_ > kMostWeights) {
    mistake(std::to_string(weights_) + " weights", name, "at most " + std::to_string(kMostWeights) + " in a network");
    return *this;
  }
  NetworkStep step{StepKind::dense, dtype, units, Activation::none, {}, {}};
  if (options.weights) {
    step.weights = take(*options.weights, dtype, count, name + " weights").value_or(std::vector<std::uint64_t>());
  } else {
    const ExactEnvironment exact;
    for (std::uint64_t i = 0; i < count; ++i) step.weights.push_back(created_weight(dtype, options.seed, i, inputs));
  }
  if (options.bias) step.bias = take(*options.bias, dtype, units, name + " bias");
  if (mistake_) return *this;

  const std::optional<std::size_t> boundary = enter(std::move(name), scope.dtype, dtype);
  network_.steps.push_back(std::move(step));
  add_activation(dtype, options.activation);
  leave(boundary);
  return *this;
}

NetworkBuilder& NetworkBuilder::activation(Activation activation) {
  if (ready("an activation")) add_activation(scopes_.back().dtype, activation);
  return *this;
}

NetworkBuilder& NetworkBuilder::open_stage(std::string_view name, Format dtype) {
  if (!ready("a stage")) return *this;
  if (!is_name(name))
    mistake("a stage's name of " + std::to_string(name.size()) + " bytes", "network",
            "1 to 64 letters, digits, '_', '.' and '-'");
  else if (!is_layer_format(dtype))
    mistake(std::string("dtype ").append(spec(dtype).name), "stage " + std::string(name), "f32, f16 or bf16");
  else if (scopes_.size() > kDeepestStage)
    mistake("stages nested deeper than " + std::to_string(kDeepestStage), "stage " + std::string(name),
            "fewer stages in each other");
  if (mistake_) return *this;
  const std::optional<std::size_t> boundary = enter(std::string(name), scopes_.back().dtype, dtype);
  scopes_.push_back({dtype, dtype, boundary});
  return *this;
}

NetworkBuilder& NetworkBuilder::close_stage() {
  if (mistake_) return *this;
  if (scopes_.size() < 2) {
    mistake("the end of a stage that was not opened", "network", "open_stage() before close_stage()");
    return *this;
  }
  const Scope left = scopes_.back();
  scopes_.pop_back();
  if (rules_.scope == StageScope::leaks) scopes_.back().layer_default = left.dtype;
  leave(left.boundary);
  return *this;
}

Result<Network> NetworkBuilder::build() const {
  if (mistake_) return tl::unexpected(*mistake_);
  if (network_.inputs == 0) return refuse("no input", "network", "input(size)");
  if (scopes_.size() > 1) return refuse("a stage that does not end", "network", "close_stage() for each open_stage()");
  return network_;
}

}  // namespace packcheck
