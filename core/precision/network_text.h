// core/precision/network_text.h: a network, its input and the gradient of its output, as lines of text.
//
//   network f32 3            its dtype, and how many numbers a row of its input has
//   input 3f800000 …         codes of that dtype, one row after the other; at least one row
//   dense 4 bf16 relu        units, dtype or - for the stage's, activation or -
//   weights bf16 3f80 …      [units][inputs] codes of the layer's dtype, or: weights seed 7
//   bias bf16 0000 …         may be absent
//   stage head f16           computes in f16 up to its end
//   activation hard_tanh
//   end
//   upstream 3f800000 …      one code of the network's dtype per row and output
//
// Words are separated by one blank, every line ends with a newline; codes are lower-case hex digits, all of them;
// numbers are decimal without leading zeros. Read strictly, by way of the builder, which refuses what is no network.
// Proved by the precision.* laws and tests/core/precision_text_test.cc.
#pragma once

#include <string_view>

#include "core/precision/builder.h"

namespace packcheck {

struct DescribedNetwork {
  Network network;
  std::vector<std::uint64_t> input;     ///< [rows][inputs], codes of the network's dtype
  std::vector<std::uint64_t> upstream;  ///< [rows][outputs], the same

  [[nodiscard]] std::size_t rows() const { return input.size() / network.inputs; }
};

/// Refuses with the number of the line.
[[nodiscard]] Result<DescribedNetwork> read_network(std::string_view text, const PrecisionRules& rules = {});

}  // namespace packcheck
