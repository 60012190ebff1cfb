#include "properties/mutators/mutators.h"

#include <algorithm>
#include <array>

namespace packcheck {
namespace {

constexpr auto kWireMutators = std::to_array<WireMutator>({
    {"graph_text", {}, mutate_graph_json, cross_json},
    {"graph_bytes", {}, mutate_ysgp, cross_ysgp},
    {"file", "gguf", mutate_gguf, nullptr},
    {"file", "safetensors", mutate_safetensors, nullptr},
    {"text", {}, mutate_number_text, nullptr},
});

std::uint64_t last_of(const Choice& choice) { return choice.bound - 1; }  // bound 0 is 2^64

/// One choice changed, or some lost or said twice: another case of the same type.
void change_choices(Choices& choices, Dice& dice) {
  const std::size_t at = dice.below(choices.size());
  Choice& choice = choices[at];
  const auto place = choices.begin() + static_cast<std::ptrdiff_t>(at);
  switch (dice.below(8)) {
    case 0: choice.value = 0; break;
    case 1: choice.value = last_of(choice); break;
    case 2: choice.value += choice.value == last_of(choice) ? 0 : 1; break;
    case 3: choice.value -= choice.value == 0 ? 0 : 1; break;
    case 4: choice.value ^= std::uint64_t{1} << dice.below(64); break;
    case 5: choices.erase(place); break;
    case 6: choices.insert(place, choices[dice.below(choices.size())]); break;
    default: choice.value = dice.bits(); break;
  }
}

/// Bytes after which a BytesSource makes these choices.
Bytes bytes_of(const Choices& choices) {
  Bytes bytes;
  for (const Choice& choice : choices) {
    if (choice.bound == 1) continue;
    const std::uint64_t value = choice.bound == 0 ? choice.value : choice.value % choice.bound;
    for (std::uint64_t last = last_of(choice), shift = 0; last != 0; last >>= 8, shift += 8)
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  return bytes;
}

Bytes cut(Bytes bytes, std::size_t longest) {
  if (bytes.size() > longest) bytes.resize(longest);
  return bytes;
}

}  // namespace

std::optional<Bytes> mutate_audited(const Bytes& bytes, Dice& dice) {
  if (bytes.empty()) return std::nullopt;
  return bytes[0] == '{'   ? mutate_graph_json(bytes, dice)
         : bytes[0] == 'G' ? mutate_gguf(bytes, dice)
                           : mutate_safetensors(bytes, dice);
}

const WireMutator* wire_mutator(std::string_view family, std::string_view variant) {
  for (const WireMutator& row : kWireMutators)
    if (row.family == family && (row.variant.empty() || row.variant == variant)) return &row;
  return nullptr;
}

void change_byte(Bytes& bytes, Dice& dice) {
  static constexpr std::uint8_t kEdges[] = {0x00, 0x01, 0x7C, 0x7F, 0x80, 0xFF, 0x88, '0', '9', '-', '.', 'e'};
  const std::size_t at = dice.below(bytes.size());
  const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at, bytes.size()));
  const std::uint8_t edge = dice.pick(kEdges);
  switch (bytes.empty() ? 3 : dice.below(6)) {
    case 0: *place ^= static_cast<std::uint8_t>(1U << dice.below(8)); break;
    case 1: *place = edge; break;
    case 2: bytes.erase(place); break;
    case 3: bytes.insert(place, edge); break;
    case 4: bytes.resize(at); break;
    default: *place = static_cast<std::uint8_t>(dice.bits()); break;
  }
}

InputMutator::InputMutator(const CaseType& type, std::vector<std::string> variants)
    : type_(type), variants_(std::move(variants)) {}

Bytes InputMutator::fresh(Dice& dice) const {
  RandomSource source(dice.bits());
  const Case drawn = type_.draw(source, dice.pick(variants_));
  if (std::optional<Bytes> wire = type_.to_wire(drawn)) return std::move(*wire);
  return bytes_of(source.recorded());
}

std::optional<Bytes> InputMutator::mutate_structure(const Bytes& bytes, Dice& dice) const {
  const std::string& variant = dice.pick(variants_);
  if (const WireMutator* row = wire_mutator(type_.name(), variant)) return row->mutate(bytes, dice);
  if (type_.from_wire({}, variant)) return std::nullopt;
  BytesSource source(bytes);
  (void)type_.draw(source, variant);
  Choices choices = source.recorded();
  if (choices.empty()) return std::nullopt;
  change_choices(choices, dice);
  return bytes_of(choices);
}

Bytes InputMutator::mutate(const Bytes& bytes, std::size_t longest, Dice& dice) const {
  // An empty corpus begins here, and so does every so often a new line of descent.
  if (bytes.size() < 2 || dice.once_in(32)) return cut(fresh(dice), longest);
  if (!dice.once_in(8))
    if (std::optional<Bytes> changed = mutate_structure(bytes, dice)) return cut(std::move(*changed), longest);
  Bytes changed = bytes;
  change_byte(changed, dice);
  return cut(std::move(changed), longest);
}

Bytes InputMutator::cross(const Bytes& bytes, const Bytes& other, std::size_t longest, Dice& dice) const {
  const WireMutator* row = wire_mutator(type_.name(), dice.pick(variants_));
  if (row != nullptr && row->cross != nullptr)
    if (std::optional<Bytes> crossed = row->cross(bytes, other, dice)) return cut(std::move(*crossed), longest);
  // The front of one and the end of the other.
  Bytes crossed(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(dice.below(bytes.size() + 1)));
  crossed.insert(crossed.end(), other.begin() + static_cast<std::ptrdiff_t>(dice.below(other.size() + 1)), other.end());
  return cut(std::move(crossed), longest);
}

}  // namespace packcheck
