#include "properties/engines/from_bytes.h"

namespace packcheck {
namespace {

/// Wire bytes as choices, so that one shrinker serves both.
Choices choices_of(std::span<const std::uint8_t> bytes) {
  Choices choices;
  for (const std::uint8_t byte : bytes) choices.push_back({byte, 256});
  return choices;
}

std::vector<std::uint8_t> bytes_of(const Choices& choices) {
  std::vector<std::uint8_t> bytes;
  for (const Choice& choice : choices) bytes.push_back(static_cast<std::uint8_t>(choice.value));
  return bytes;
}

}  // namespace

ByteCase case_from_choice_bytes(const Law& law, std::string_view variant, std::span<const std::uint8_t> bytes) {
  const CaseType* type = law.case_type;
  BytesSource source(bytes);
  const Case c = type->draw(source, variant);
  return {c, {source.recorded(), [type, name = std::string(variant)](const Choices& choices) {
                RecordedSource recorded(choices);
                return type->draw(recorded, name);
              }}};
}

ByteCase case_from_bytes(const Law& law, std::string_view variant, std::span<const std::uint8_t> bytes) {
  const CaseType* type = law.case_type;
  const std::string name(variant);
  if (std::optional<Case> wire = type->from_wire(bytes, variant))
    return {*wire, {choices_of(bytes), [type, name](const Choices& c) { return *type->from_wire(bytes_of(c), name); }}};
  return case_from_choice_bytes(law, variant, bytes);
}

std::optional<ChosenBytes> chosen_by(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kChoosingBytes) return std::nullopt;
  return ChosenBytes{bytes[0], bytes[1] | static_cast<std::size_t>(bytes[2]) << 8, bytes.subspan(kChoosingBytes)};
}

}  // namespace packcheck
