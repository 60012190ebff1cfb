// properties/oracles/precision_oracle.h: networks of mixed formats, a second time.
//
// Oracle for core/precision. Where the core builds steps, lowers them to a graph and runs that, this reads a
// description into a tree, walks it by recursion, and finds gradients as the recursion unwinds. It rounds with
// nearbyint() on long doubles where the core converts bit patterns. Shares no code with the core; proved against it
// by tests/core/precision_run_test.cc.
//
// The bound. Two runs of one network are compared: the narrow one, with its formats, and the wide one, in which every
// format is f32. E is a bound of |narrow − wide|, number for number; h(f, y) is half a unit in the last place of y in
// the format f (of its smallest numbers where y is subnormal), which bounds the error of rounding to y.
//   input           E = 0
//   cast to f       E' = E, + h(f, y) where f does not hold every number of the format before
//   product w·x     E' = |w|·E + h(f, w·x) + h(f32, wide w·x); weights are the same numbers in both
//   sum a + b       E' = E_a + E_b + h(f, a + b) + h(f32, wide a + b); the first product is added to 0, exactly
//   relu, hard_tanh E' = E, since |a(x) − a(y)| <= |x − y| and they pick numbers that are there
//   leaky_relu      E' = E, E / 8 where both are negative; + h where the result is subnormal, for / 8 is exact
//   elsewhere
// A layer of f32 whose inputs have E = 0 gives the same numbers in both runs: E' = 0. The bound says nothing where a
// number is not finite. tests/core/precision_bound_test.cc finds networks that reach 0.95 of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "properties/oracles/graph_oracle.h"

namespace packcheck::oracle {

enum class LayerFormat : std::uint8_t { f32, f16, bf16 };
[[nodiscard]] std::string_view layer_format_name(LayerFormat format);
/// The number of a code as f64.
[[nodiscard]] double number_of_code(LayerFormat format, std::uint64_t code);
/// The f32 code of a number.
[[nodiscard]] std::uint64_t f32_code(double number);
/// Rounded to nearest even; the result is a number of the format.
[[nodiscard]] double fit(LayerFormat format, long double value);

/// Codes, said to be of a format.
struct TaggedCodes {
  LayerFormat format = LayerFormat::f32;
  std::vector<std::uint64_t> codes;
};

/// A layer, an activation alone, or a stage.
struct NetworkItem {
  enum class Kind : std::uint8_t { dense, activation, stage };
  Kind kind = Kind::dense;
  std::uint32_t units = 0;
  std::optional<LayerFormat> format;   ///< a stage has one
  std::string activation = "-";        ///< "-" is none
  std::optional<TaggedCodes> weights;  ///< created from the seed where absent
  std::uint64_t seed = 0;
  std::optional<TaggedCodes> bias;
  std::string name;                 ///< of a stage
  std::vector<NetworkItem> inside;  ///< of a stage
};

struct NetworkDescription {
  LayerFormat format = LayerFormat::f32;
  std::uint32_t inputs = 1;
  std::vector<std::uint64_t> input;  ///< [rows][inputs], codes of `format`
  std::vector<NetworkItem> items;
  std::vector<std::uint64_t> upstream;  ///< [rows][outputs], codes of `format`

  [[nodiscard]] std::size_t rows() const { return input.size() / inputs; }
};

/// The document that subjects/PROTOCOL.md describes, of any description.
[[nodiscard]] std::string network_text(const NetworkDescription& description);
/// The description of a sound network, or nothing.
[[nodiscard]] std::optional<NetworkDescription> read_network_text(std::string_view text);

/// A node of the graph that the network is, after a run.
struct NetworkRow {
  std::string op;  ///< "linear:f16"
  std::vector<double> values;
  bool has_gradient = false;
  std::vector<double> gradient;
};
struct NetworkBoundary {
  std::string name;
  LayerFormat outer = LayerFormat::f32;
  LayerFormat inner = LayerFormat::f32;
  std::uint64_t inputs = 0;
  std::uint64_t outputs = 0;
  std::uint64_t bytes = 0;
};
struct NetworkResult {
  std::vector<NetworkRow> rows;
  std::vector<NetworkBoundary> boundaries;
};

/// A run of a sound network; `casts` is phase 2, in which gradients pass boundaries.
[[nodiscard]] NetworkResult run_network(const NetworkDescription& description, bool casts);
/// The graph that it exports: leaves with the exact numbers, formats behind the operators.
[[nodiscard]] Nodes network_nodes(const NetworkDescription& description);
/// The nodes of a network, or what is nearly one, as JSON text of "ysgp:lossless": without param2 and indices, and with
/// finite scalars.
[[nodiscard]] std::string graph_text(const Nodes& nodes);
/// The same network with f32 everywhere: weights, created ones too, are the same numbers.
[[nodiscard]] NetworkDescription widened(const NetworkDescription& description);
/// The same network with everything in a stage of the network's own format.
[[nodiscard]] NetworkDescription inside_equal_stage(const NetworkDescription& description);
/// The bound above of each output, or nothing where a number is not finite.
[[nodiscard]] std::optional<std::vector<double>> output_bounds(const NetworkDescription& description);

}  // namespace packcheck::oracle
