#include "core/format/format.h"

#include <string>

namespace packcheck {
std::optional<Format> format_named(std::string_view name) {
  for (const FormatSpec& s : kFormatTable)
    if (s.name == name) return s.format;
  return std::nullopt;
}

std::string_view format_names() {
  static const std::string names = [] {
    std::string list;
    for (const FormatSpec& s : kFormatTable) list += (list.empty() ? "" : ", ") + std::string(s.name);
    return list;
  }();
  return names;
}

}  // namespace packcheck
