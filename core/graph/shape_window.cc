#include "core/graph/shape_window.h"

#include <limits>

#include "core/graph/shape_arithmetic.h"

namespace packcheck {
namespace {

std::string text_of(Wide value) {
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  if (value > kMost || value < -kMost) return value > 0 ? "more than 2^63 - 1" : "less than -(2^63 - 1)";
  return std::to_string(static_cast<std::int64_t>(value));
}

Result<void> at_least(std::int64_t smallest, std::int64_t value, std::string_view name, std::string_view where) {
  if (value >= smallest) return {};
  return refuse(std::string(name) + " is " + std::to_string(value), std::string(where),
                std::to_string(smallest) + " or more");
}

Result<void> check_ranges(const Window& w, std::string_view where) {
  if (auto ok = at_least(1, w.size, "input size", where); !ok) return ok;
  if (auto ok = at_least(1, w.kernel, "kernel", where); !ok) return ok;
  if (auto ok = at_least(1, w.stride, "stride", where); !ok) return ok;
  if (auto ok = at_least(0, w.padding, "padding", where); !ok) return ok;
  return at_least(1, w.dilation, "dilation", where);
}

Wide reach_of(const Window& w, const ShapeRules& rules) {
  const Wide dilation = rules.dilation == DilationUse::ignored ? 1 : w.dilation;
  return in_width(in_width(dilation * (Wide{w.kernel} - 1), rules) + 1, rules);
}

Wide padded_size(const Window& w, const ShapeRules& rules) {
  const Wide sides = rules.padding == PaddingSides::one ? 1 : 2;
  return in_width(w.size + sides * w.padding, rules);
}

Wide floor_divide(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
Wide ceil_divide(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

Wide count_by(Quotient quotient, Wide span, const Window& w) {
  switch (quotient) {
    case Quotient::floor: return floor_divide(span, w.stride) + 1;
    case Quotient::truncate: return span / w.stride + 1;
    case Quotient::ceil: return ceil_divide(span, w.stride) + 1;
    case Quotient::ceil_last_inside: break;
  }
  const Wide count = ceil_divide(span, w.stride) + 1;
  const bool starts_outside = (count - 1) * w.stride >= Wide{w.size} + w.padding;
  return starts_outside ? count - 1 : count;
}

}  // namespace

Result<std::int64_t> window_count(const Window& given, const WindowDialect& dialect, std::string_view where,
                                  const ShapeRules& rules) {
  Window w = given;
  if (rules.stride == StridePlace::swapped_with_padding) std::swap(w.stride, w.padding);
  if (auto ok = check_ranges(w, where); !ok) return tl::unexpected(ok.error());
  if (dialect.limit == PaddingLimit::half_kernel && w.padding > w.kernel / 2)
    return refuse("padding is " + std::to_string(w.padding), std::string(where),
                  "at most half of the kernel " + std::to_string(w.kernel));
  const Wide reach = reach_of(w, rules);
  const Wide padded = padded_size(w, rules);
  const Wide count = count_by(rules.quotient.value_or(dialect.quotient), in_width(padded - reach, rules), w);
  if (count < 1)
    return refuse("kernel reaches over " + text_of(reach) + " cells, the padded input has " + text_of(padded),
                  std::string(where), "a kernel that fits");
  if (count > std::numeric_limits<std::int64_t>::max())
    return refuse("number of windows overflows", std::string(where), "at most 2^63 - 1");
  return static_cast<std::int64_t>(count);
}

Result<SamePadding> same_padding(const Window& w, PaddingMode mode, std::string_view where, const ShapeRules& rules) {
  if (auto ok = check_ranges(w, where); !ok) return tl::unexpected(ok.error());
  if (w.padding != 0)
    return refuse("padding is " + std::to_string(w.padding), std::string(where), "0, since SAME works it out");
  const Wide windows = ceil_divide(w.size, w.stride);
  const Wide missing = in_width((windows - 1) * w.stride + reach_of(w, rules) - w.size, rules);
  const Wide total = missing > 0 ? missing : Wide{0};
  if (total > std::numeric_limits<std::int64_t>::max())
    return refuse("padding overflows", std::string(where), "at most 2^63 - 1");
  const auto less = static_cast<std::int64_t>(total / 2);
  const auto more = static_cast<std::int64_t>(total - total / 2);
  const auto count = static_cast<std::int64_t>(windows);
  if (rules.same_pads == SamePads::symmetric) return SamePadding{count, more, more};
  const bool other = rules.same_pads == SamePads::other_side;
  if ((mode == PaddingMode::same_lower) != other) return SamePadding{count, more, less};
  return SamePadding{count, less, more};
}

std::string SizeRange::text() const {
  std::string sizes = std::to_string(smallest);
  if (smallest == largest) return sizes.append(", the only input size");
  return sizes.append(largest - smallest == 1 ? " or " : " to ").append(std::to_string(largest));
}

std::string InputSizes::text() const {
  std::string sizes = SizeRange{smallest, largest}.text();
  if (!ambiguous()) return sizes;
  const std::int64_t lost = largest - formula;
  sizes.append("; a reader that sees only the output derives ").append(std::to_string(formula));
  sizes.append(" and loses up to ").append(std::to_string(lost)).append(lost == 1 ? " cell" : " cells");
  return sizes + " of the axis";
}

Result<InputSizes> input_sizes(std::int64_t windows, const Window& given, std::string_view where,
                               const ShapeRules& rules) {
  Window w = given;
  w.size = 1;
  if (rules.stride == StridePlace::swapped_with_padding) std::swap(w.stride, w.padding);
  if (auto ok = check_ranges(w, where); !ok) return tl::unexpected(ok.error());
  if (auto ok = at_least(1, windows, "output size", where); !ok) return tl::unexpected(ok.error());
  const Wide sides = rules.padding == PaddingSides::one ? 1 : 2;
  const Wide formula = in_width((Wide{windows} - 1) * w.stride + reach_of(w, rules) - sides * w.padding, rules);
  const Wide largest = formula + w.stride - 1;
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  if (largest < 1)
    return refuse("no input gives " + std::to_string(windows) + " windows", std::string(where),
                  "less padding: even one cell has more");
  if (largest > kMost) return refuse("input size overflows", std::string(where), "at most 2^63 - 1");
  if (formula < -kMost) return refuse("input size underflows", std::string(where), "less padding");
  const auto derived = static_cast<std::int64_t>(formula);
  if (rules.input_size == InputSize::formula) return InputSizes{derived, derived, derived};
  return InputSizes{derived, derived < 1 ? 1 : derived, static_cast<std::int64_t>(largest)};
}

Result<SizeRange> sizes_giving(std::int64_t windows, const Window& given, const WindowDialect& dialect,
                               std::string_view where) {
  Window w = given;
  w.size = 1;
  // What does not depend on the size is refused as for one cell; that one cell has no window is no matter.
  if (auto ok = check_ranges(w, where); !ok) return tl::unexpected(ok.error());
  if (auto ok = at_least(1, windows, "output size", where); !ok) return tl::unexpected(ok.error());
  const bool same = dialect.padding != PaddingMode::given;
  if (same && w.padding != 0)
    return refuse("padding is " + std::to_string(w.padding), std::string(where), "0, since SAME works it out");
  const auto count = [&](std::int64_t size) {
    w.size = size;
    return same ? ceil_divide(size, w.stride) : count_by(dialect.quotient, padded_size(w, {}) - reach_of(w, {}), w);
  };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto first_with = [&](Wide least) {
    std::int64_t low = 1;
    std::int64_t high = kMost;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (count(middle) >= least)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  const std::int64_t smallest = first_with(windows);
  if (count(smallest) != windows)
    return refuse("no input gives " + std::to_string(windows) + " windows", std::string(where),
                  smallest == 1 ? "less padding: even one cell has more" : "an input size of at most 2^63 - 1");
  const std::int64_t next = first_with(Wide{windows} + 1);
  return SizeRange{smallest, count(next) == windows ? next : next - 1};
}

Result<Bin> adaptive_bin(std::int64_t size, std::int64_t bins, std::int64_t index, BinRounding rounding,
                         std::string_view where, const ShapeRules& rules) {
  if (auto ok = at_least(1, size, "input size", where); !ok) return tl::unexpected(ok.error());
  if (auto ok = at_least(1, bins, "output size", where); !ok) return tl::unexpected(ok.error());
  if (index < 0 || index >= bins)
    return refuse("bin " + std::to_string(index), std::string(where), "0 to " + std::to_string(bins - 1));
  if (rules.bin_end == BinEnd::floor) rounding = BinRounding::floor_floor;
  const Wide begin = in_width(Wide{index} * size, rules) / bins;
  const Wide last = in_width((Wide{index} + 1) * size, rules);
  const Wide end = rounding == BinRounding::floor_ceil ? ceil_divide(last, bins) : floor_divide(last, bins);
  return Bin{static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)};
}

}  // namespace packcheck
