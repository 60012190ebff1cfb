// properties/oracles/cell_oracle.h: narrowing of many singles to formats of a byte and less, by thresholds.
//
// The singles that share their upper 16 bits are a cell of 65,536 neighbours. Rounding never decreases, and
// codes of so few bits change at most once in a cell, so a cell has a first code, a last code, and the
// first single that has the last one. format_oracle.h is asked for the ends, and bisected where they
// differ; a cell where that does not come out so is answered one by one. Cells are filled when they are
// first met. Proved by tests/core/narrowing_oracle_test.cc against format_oracle.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/format/convert.h"

namespace packcheck::oracle {

class CellOracle {
 public:
  /// `to` has elements of one byte. Takes the rounding (any but stochastic), the subnormal rule and the
  /// saturation of `rules`; for a NaN: quieted_nan().
  CellOracle(Format to, const ConvertRules& rules);
  /// out[i] = the code for in[i], for i below `count`.
  void answer(const std::uint32_t* in, std::uint8_t* out, std::size_t count);

 private:
  enum class State : std::uint8_t { unknown, known, irregular };
  struct Cell {
    std::uint32_t threshold = 0;  ///< lower 16 bits of the first single with the code `last`; 65536 if none
    std::uint8_t first = 0;
    std::uint8_t last = 0;
    State state = State::unknown;
  };
  const Cell& cell_of(std::uint32_t bits);
  void fill(Cell& cell, std::uint32_t start) const;
  [[nodiscard]] std::uint8_t ask(std::uint32_t bits) const;

  Format to_;
  ConvertRules rules_;
  std::vector<Cell> cells_;
};

/// Bulk answers of the independent oracles: out[i] = what convert() says of in[i]. False, leaving `out` as it
/// is, where only convert() itself can tell. `in` is aligned to 4 bytes; elements are little-endian.
[[nodiscard]] bool convert_many(Format from, Format to, const ConvertRules& rules, const std::uint8_t* in,
                                std::uint8_t* out, std::size_t count);

}  // namespace packcheck::oracle
