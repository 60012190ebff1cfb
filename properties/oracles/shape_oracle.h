// properties/oracles/shape_oracle.h: shapes of operators, a second time.
//
// Oracle for core/graph/shape_*. It never divides to count windows: it asks whether n windows fit, which is
// a multiplication and a comparison, and looks for the last n that does, as bins and SAME padding are
// found by what they must cover. Shares no code with the core. Proved by tests/core/shape_window_test.cc, which
// lays windows over rows of cells one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace packcheck::oracle {

using Shape = std::vector<std::int64_t>;

/// The answer of the rule `id` ("conv2d:java", see the table in core/graph/shape_infer.h), or nothing where
/// the question is to be refused. Nothing for an unknown rule, too.
[[nodiscard]] std::optional<Shape> inferred_shape(std::string_view id, std::span<const std::int64_t> attributes,
                                                  std::span<const Shape> shapes);

/// The number of windows along one axis, or nothing. `dialect` is floor, java, ceil or pytorch_ceil.
[[nodiscard]] std::optional<std::int64_t> windows_along(std::string_view dialect, std::int64_t size,
                                                        std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                                                        std::int64_t dilation);

}  // namespace packcheck::oracle
