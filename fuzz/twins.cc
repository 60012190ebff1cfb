#include "fuzz/twins.h"

#include <algorithm>

#include "properties/cases/cases.h"
#include "properties/law.h"
#include "subjects/reference/twins.h"

namespace packcheck {
namespace {

constexpr std::size_t kChoosing = 3;
constexpr std::size_t kLongest = 4096;

struct Row {
  std::unique_ptr<Subject> twin;
  const Law* law = nullptr;
  std::vector<std::string> variants;
};

/// Made when it is first asked for: a twin's declarations are long.
const Row& row_of(const Bytes& bytes) {
  static std::vector<Row> rows(all_twins().size());
  const std::size_t index = (bytes[0] | static_cast<std::size_t>(bytes[1]) << 8) % rows.size();
  Row& row = rows[index];
  if (row.law != nullptr) return row;
  row.twin = make_twin(all_twins()[index].name);
  row.law = *law_named(all_twins()[index].law);
  row.variants = row.law->variants(row.twin->info());
  return row;
}
const std::string& variant_of(const Row& row, const Bytes& bytes) {
  return row.variants[bytes[2] % row.variants.size()];
}
InputMutator mutator_of(const Bytes& bytes) {
  const Row& row = row_of(bytes);
  return {*row.law->case_type, {variant_of(row, bytes)}};
}
Bytes behind(const Bytes& choosing, const Bytes& rest) {
  Bytes whole(kChoosing + rest.size());
  std::copy_n(choosing.begin(), kChoosing, whole.begin());
  std::copy(rest.begin(), rest.end(), whole.begin() + kChoosing);
  return whole;
}

}  // namespace

std::optional<BrokenText> twin_fault(std::string_view text) {
  const Bytes bytes = string_to_bytes(text);
  if (bytes.size() < kChoosing) return std::nullopt;
  const Row& row = row_of(bytes);
  if (row.law->id.substr(0, 8) == "subject.") return std::nullopt;  // its twin keeps memory
  const CaseType& type = *row.law->case_type;
  const std::span<const std::uint8_t> rest = std::span(bytes).subspan(kChoosing);
  const std::optional<Case> wire = type.from_wire(rest, variant_of(row, bytes));
  BytesSource source(rest);
  const Case c = wire ? *wire : type.draw(source, variant_of(row, bytes));
  const Verdict verdict = row.law->check(*row.twin, c);
  if (verdict.ruling != Ruling::broken) return std::nullopt;
  const Result<Case> read = type.from_json(type.to_json(c));
  const Verdict again = read ? row.law->check(*row.twin, *read) : Verdict{};
  if (again.ruling == Ruling::broken && again.breaches[0].place == verdict.breaches[0].place) return std::nullopt;
  return BrokenText{std::string("twins: ").append(row.twin->info().name), type.to_json(c)};
}

Bytes draw_twin_input(Dice& dice) {
  Bytes choosing(kChoosing);
  for (std::uint8_t& byte : choosing) byte = static_cast<std::uint8_t>(dice.bits());
  return behind(choosing, mutator_of(choosing).fresh(dice));
}

std::optional<Bytes> mutate_twin_input(const Bytes& bytes, Dice& dice) {
  if (bytes.size() < kChoosing) return std::nullopt;
  return behind(bytes, mutator_of(bytes).mutate({bytes.begin() + kChoosing, bytes.end()}, kLongest, dice));
}

}  // namespace packcheck
