// properties/oracles/stablehlo_function.h: what activations in StableHLO text do to numbers.
//
// An activation may be written in many ways: a maximum with zeros, or a comparison and a selection. So it is judged
// by what it does: operations that work on each element alone (maximum, multiply, clamp, compare, select) are
// computed at chosen numbers, where activations differ from each other, and compared with the same of the network.
// Casts, products and additions of a bias begin anew: what follows is a function of their result. Shares no code
// with the core. Proved by tests/core/precision_stablehlo_test.cc.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "properties/oracles/precision_oracle.h"
#include "properties/oracles/stablehlo_oracle.h"

namespace packcheck::oracle {

/// Numbers of the format at which activations are told apart: both sides of -1, 0 and 1, signed zeros, the smallest
/// subnormal numbers, infinities and NaN.
[[nodiscard]] std::vector<double> activation_probes(LayerFormat format);
/// What "relu", "leaky_relu" and "hard_tanh", one after the other, make of them.
[[nodiscard]] std::vector<double> activations_at_probes(const std::vector<std::string>& names, LayerFormat format);

/// What the values of a module are functions of.
class HloFunctions {
 public:
  /// `module` has no problem.
  explicit HloFunctions(const HloModule& module);

  struct Function {
    std::string of;          ///< the value that it is a function of; empty for a constant
    std::vector<double> at;  ///< the probes; empty where elements of a constant differ
  };
  /// Nothing where a value is no function of one other.
  [[nodiscard]] const Function* of(const std::string& value) const;

 private:
  void begin(const std::string& value, const HloType& type);
  void follow(const HloOperation& op);

  std::map<std::string, Function> functions_;
};

/// The numbers of a constant's bytes, little-endian.
[[nodiscard]] std::vector<double> constant_numbers(const HloOperation& constant);

}  // namespace packcheck::oracle
