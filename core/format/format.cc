#include "core/format/format.h"

#include <string>

namespace packcheck {
std::optional<Format> format_named(std::string_view name) {
  for (const FormatSpec& s : kFormatTable)
    if (s.name == name) return s.format;
  if (name == "ue8m0") return Format::e8m0;  // the names of PTX and of the frameworks
  if (name == "ue5m3") return Format::e5m3;
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
