#include "properties/near_name.h"

#include <algorithm>

namespace packcheck {
namespace {

constexpr std::size_t kShortestPart = 4;

/// Letters to insert, delete, change or swap with their neighbour (optimal string alignment).
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string near_name(std::string_view wrong, const std::vector<std::string>& known) {
  if (wrong.size() >= kShortestPart)
    for (const std::string& name : known)
      if (name.find(wrong) != std::string::npos) return name;
  std::string nearest;
  std::size_t fewest = std::string::npos;
  for (const std::string& name : known) {
    const std::size_t count = slips(wrong, name);
    if (count > std::max<std::size_t>(name.size() / 3, 1) || count >= fewest || count >= name.size()) continue;
    fewest = count;
    nearest = name;
  }
  return nearest;
}

std::string one_of(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string meant = near_name(wrong, known);
  std::string text;
  if (!meant.empty()) text.append("'").append(meant).append("'? One of ");
  if (meant.empty()) text.append("one of ");
  for (std::size_t i = 0; i < known.size(); ++i) text.append(i == 0 ? "" : ", ").append(known[i]);
  return text;
}

}  // namespace packcheck
