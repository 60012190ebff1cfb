// core/affine/matmul_bound.h: how far a product with packed weights may be from the exact one.
//
// Let u = 2^-24 and t_i = x_i·(s·q_i + b) over the stored numbers, without rounding. A rounded operation gives its
// exact result times 1 + d with |d| <= u/(1+u) < u, or, where a product is subnormal, with an absolute error of at most
// 2^-150; sums that are subnormal are exact, and so are s·q, q·x (whole multiples of 2^-149). So every stored number
// reaches y with a factor (1 + d)^k, k the roundings on its longest way, and with M = Σ |x_i|·(|s|·q_i + |b|)
//
//     |y - Σ t_i| <= ((1+u)^k - 1)·M + h·2^-150·(1+u)^k <= k·u/(1 - k·u)·M + …
//
// where h counts the products that may be subnormal. Of n terms in G groups of g:
//   sequential  s·q, + b, ·x, n - 1 sums: k = n + 2                       h = n
//   lanes       the same with ceil(n/8) - 1 + 3 sums: k = ceil(n/8) + 5   h = n
//   pairwise    with ceil(log2 n) sums: k = ceil(log2 n) + 3              h = n
//   per_group   q·x, g - 1 sums, ·s, + b·X, G - 1 sums: k = g + G + 1     h = 2·G
// The first order term is reached: let the first term be 1 and every number that it is added to half its last place,
// which ties to even and is lost. tests/core/affine_matmul_bound_test.cc comes within 5 % of it for every order, and
// never past it. Nothing is promised (infinity) where a number is not finite or M, Σ|x|·q, Σ|x| or a weight may
// overflow.
#pragma once

#include "core/affine/matmul.h"

namespace packcheck {

/// k of the order.
[[nodiscard]] std::size_t product_roundings(SumOrder order, std::size_t in_features, std::size_t group_size);

/// The bound of y[row][output]; infinity where nothing is promised. Arguments that check_product accepts.
[[nodiscard]] double product_bound(const AffineProduct& product, const PackedMatrix& weights, std::size_t row,
                                   std::size_t output);

}  // namespace packcheck
