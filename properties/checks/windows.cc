// Input sizes of windows, found by trying each.
#include "core/graph/shape_window.h"
#include "properties/checks/checks.h"
#include "properties/oracles/shape_oracle.h"

namespace packcheck {

Fault window_fault(Source& source) {
  Window window;
  window.kernel = static_cast<std::int64_t>(source.below(6));
  window.stride = static_cast<std::int64_t>(source.below(5));
  window.padding = static_cast<std::int64_t>(source.below(4));
  window.dilation = 1 + static_cast<std::int64_t>(source.below(3));
  const std::int64_t windows = static_cast<std::int64_t>(source.below(12));
  static constexpr Quotient kQuotients[] = {Quotient::floor, Quotient::ceil};
  static constexpr std::string_view kDialects[] = {"floor", "ceil"};
  const std::uint64_t chosen = source.below(3);  // 2: SAME, which pads until every stride has a window
  WindowDialect dialect{.quotient = kQuotients[chosen % 2]};
  if (chosen == 2) dialect.padding = PaddingMode::same_lower;
  // No size past this one gives so few windows.
  constexpr std::int64_t kMost = 200;
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  for (std::int64_t size = 1; size <= kMost; ++size) {
    const auto count = oracle::windows_along(kDialects[chosen % 2], chosen == 2 ? size + 20 : size, window.kernel,
                                             window.stride, window.padding, window.dilation);
    const bool is_it =
        chosen != 2 ? count == windows : count && window.padding == 0 && (size - 1) / window.stride + 1 == windows;
    if (!is_it) continue;
    if (smallest == 0) smallest = size;
    largest = size;
  }
  const bool some = smallest != 0 && windows != 0;
  const Result<SizeRange> range = sizes_giving(windows, window, dialect, "axis");
  if (range.has_value() != some) return "which windows have an input";
  if (some && (range->smallest != smallest || range->largest != largest)) return "input sizes";
  if (some && range->text().find(std::to_string(smallest)) != 0) return "the text of input sizes";
  if (chosen != 0) return {};
  const Result<InputSizes> sizes = input_sizes(windows, window, "axis");
  if (sizes.has_value() != some) return "which windows a reader derives an input of";
  if (!some) return {};
  if (sizes->smallest != smallest || sizes->largest != largest) return "derived input sizes";
  const bool says_lost = sizes->text().find("loses up to") != std::string::npos;
  return sizes->ambiguous() == says_lost ? "" : "the text of derived input sizes";
}

}  // namespace packcheck
