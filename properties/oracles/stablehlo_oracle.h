// properties/oracles/stablehlo_oracle.h: StableHLO text, read again and checked.
//
// Oracle for core/precision/stablehlo. Reads one module of one function whose operations stand in MLIR's generic form,
// one a line, and checks what an MLIR parser does not ask of a dialect that it does not know: every value is defined
// once and before it is used, an operand has the type it was defined with, and the types of each operation go
// together. Shares no code with the core. Proved by tests/core/precision_stablehlo_test.cc, which damages texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace packcheck::oracle {

struct HloType {
  std::vector<std::uint64_t> shape;
  std::string element;  ///< "f16"
  friend bool operator==(const HloType&, const HloType&) = default;
};

struct HloOperation {
  std::string name;  ///< "stablehlo.convert"
  std::string result;
  std::vector<std::string> operands;
  std::vector<HloType> operand_types;
  HloType type;
  std::string attributes;
  std::string bytes;  ///< of a constant: all of its elements
};

struct HloModule {
  std::vector<HloType> arguments;
  std::vector<std::string> argument_names;
  std::vector<HloOperation> operations;
  std::string returned;
  std::string problem;  ///< why this is no sound module; empty where it is one

  [[nodiscard]] const HloOperation* defining(std::string_view value) const;
};

[[nodiscard]] HloModule read_stablehlo(std::string_view text);

}  // namespace packcheck::oracle
