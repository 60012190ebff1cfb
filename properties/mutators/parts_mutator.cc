// Parts behind their lengths: one changed, lost, said twice or moved; now and then a length that is wrong.
#include <algorithm>

#include "properties/mutators/fields.h"
#include "properties/mutators/numbers.h"

namespace packcheck {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::optional<std::vector<Bytes>> read_parts(const Bytes& bytes) {
  FieldReader reader(bytes);
  std::vector<Bytes> parts;
  while (!reader.failed() && reader.left() > 0) {
    const std::uint64_t length = reader.number(kLengthBytes);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(reader.at());
    if (reader.skip(length)) parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  if (reader.failed() || parts.empty()) return std::nullopt;
  return parts;
}

void change_part(Bytes& part, Dice& dice) {
  std::string text(part.begin(), part.end());
  const bool number = !text.empty() && text.find_first_not_of("-+.0123456789eEx") == std::string::npos;
  if (number && !dice.once_in(3)) {
    text = changed_number(text, dice);
    part.assign(text.begin(), text.end());
  } else {
    change_byte(part, dice);
  }
}

}  // namespace

std::optional<Bytes> mutate_parts(const Bytes& bytes, Dice& dice) {
  std::optional<std::vector<Bytes>> parts = read_parts(bytes);
  if (!parts) return std::nullopt;
  const std::size_t at = dice.below(parts->size());
  const auto place = parts->begin() + static_cast<std::ptrdiff_t>(at);
  switch (dice.below(6)) {
    case 0: parts->insert(place, (*parts)[dice.below(parts->size())]); break;
    case 1: parts->erase(place); break;
    case 2: std::swap((*parts)[at], (*parts)[dice.below(parts->size())]); break;
    default: change_part(*place, dice); break;
  }
  const std::size_t lying = dice.once_in(8) ? dice.below(parts->size()) : parts->size();
  Bytes out;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const Bytes& part = (*parts)[i];
    append_number(out, i == lying ? interesting_field(part.size(), kLengthBytes, dice) : part.size(), kLengthBytes);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

}  // namespace packcheck
