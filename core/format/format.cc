#include "core/format/format.h"

namespace packcheck {
std::optional<Format> format_named(std::string_view name) {
  for (const FormatSpec& s : kFormatTable)
    if (s.name == name) return s.format;
  return std::nullopt;
}

std::string_view format_names() { return "f64, f32, f16, bf16"; }

}  // namespace packcheck
