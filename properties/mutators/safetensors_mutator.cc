// safetensors bytes: the header as JSON, its length with it; the data behind it as it was.
#include <algorithm>

#include "properties/mutators/fields.h"
#include "properties/mutators/json_values.h"
#include "properties/mutators/numbers.h"

namespace packcheck {
namespace {

constexpr std::string_view kMembers[] = {R"("dtype":"F32")",
                                         R"("shape":[1])",
                                         R"("shape":[4294967296])",
                                         R"("data_offsets":[0,4])",
                                         R"("data_offsets":[4,0])",
                                         R"("__metadata__":{})",
                                         R"("t0":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})"};
constexpr std::size_t kLengthBytes = 8;

/// Text without its last blanks, and blanks again so that the header ends at a multiple of 8.
std::string padded(std::string text) {
  text.resize(text.find_last_not_of(' ') + 1);
  while (text.size() % 8 != 0) text.push_back(' ');
  return text;
}

}  // namespace

std::optional<Bytes> mutate_safetensors(const Bytes& bytes, Dice& dice) {
  FieldReader reader(bytes);
  const std::uint64_t length = reader.number(kLengthBytes);
  if (reader.failed() || !reader.skip(length)) return std::nullopt;
  const auto header_end = bytes.begin() + static_cast<std::ptrdiff_t>(reader.at());
  std::string text(bytes.begin() + kLengthBytes, header_end);
  Bytes data(header_end, bytes.end());
  const std::size_t kind = dice.below(10);
  std::uint64_t said = length;
  if (kind == 0) {
    said = interesting_field(length, kLengthBytes, dice);
  } else if (kind == 1) {
    data.resize(dice.once_in(2) ? dice.below(data.size() + 1) : data.size() + 1 + dice.below(16));
  } else {
    std::optional<std::string> changed = mutated_json(text, kMembers, dice);
    if (!changed) return std::nullopt;
    text = dice.once_in(8) ? std::move(*changed) : padded(std::move(*changed));
    said = text.size();
  }
  Bytes out;
  append_number(out, said, kLengthBytes);
  out.insert(out.end(), text.begin(), text.end());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

}  // namespace packcheck
