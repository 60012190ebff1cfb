// core/affine/sums.h: the loops of the product with packed weights: codes, weights, and sums in a given order.
//
// No loop may be reassociated or contracted; the orders below are exact statements about which two numbers are added
// when, so that any compiler gives the same bits. Written for the vectoriser (compiled with -O3). Proved by
// tests/core/affine_matmul_test.cc, each order against its definition, and core_answers at -O0 and -O3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace packcheck {

/// In which order the terms of a dot product of n numbers are added.
enum class SumOrder : std::uint8_t {
  sequential,  ///< ((t0 + t1) + t2) + …
  lanes,       ///< term i into lane i mod 8, each lane sequential; then lane l + lane l + 4, + 2, + 1
  pairwise,    ///< neighbours are added, an odd last one is carried over; again, until one is left
  per_group  ///< a group gives scale · Σ code·x + bias · Σ x, each Σ sequential; the groups' sums are added in order
};
inline constexpr std::size_t kLanes = 8;

/// "sequential", "lanes", "pairwise", "per_group".
[[nodiscard]] std::string_view sum_order_name(SumOrder order);
[[nodiscard]] std::optional<SumOrder> sum_order_named(std::string_view name);

/// Codes of a row: 8 codes in `bits` bytes (2, 3, 4, 5, 6 or 8), as a little-endian stream. `codes.size()` is a
/// multiple of 8, and `bytes` holds that many.
void unpack_codes(std::span<const std::uint8_t> bytes, unsigned bits, std::span<std::uint8_t> codes);

/// weights[i] = scale · codes[i] + bias, both rounded.
void decode_weights(std::span<const std::uint8_t> codes, const float& scale, const float& bias, float* weights);
void widen_codes(std::span<const std::uint8_t> codes, float* numbers);

/// Σ x·w in `order` (not per_group). `scratch` holds as many numbers as x.
[[nodiscard]] float sum_products(SumOrder order, std::span<const float> x, const float* weights, float* scratch);
/// Σ code·x, then Σ x: sequential.
[[nodiscard]] float sum_in_order(std::span<const float> x, const float* codes);
[[nodiscard]] float sum_in_order(std::span<const float> x);
/// total + (scale · code_sum + bias · x_sum)
[[nodiscard]] float add_group(const float& total, const float& scale, const float& code_sum, const float& bias,
                              const float& x_sum);

}  // namespace packcheck
