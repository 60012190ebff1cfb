#include "core/encoding/bounds.h"

#include <algorithm>
#include <vector>

#include "core/encoding/bound_terms.h"
#include "core/environment.h"

namespace packcheck {

void error_bounds(const Encoding& encoding, std::span<const float> block, std::span<double> bounds) {
  const ExactEnvironment exact;
  if (encoding.bound_block == nullptr)
    std::fill(bounds.begin(), bounds.end(), kNothingPromised);
  else
    encoding.bound_block(encoding.rules, block.data(), bounds.data());
}

double error_bound(const Encoding& encoding, std::span<const float> block, std::size_t index) {
  std::vector<double> bounds(block.size());
  error_bounds(encoding, block, bounds);
  return bounds[index];
}

}  // namespace packcheck
