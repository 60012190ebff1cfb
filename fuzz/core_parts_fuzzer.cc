// Parts of the core that no operation asks for by itself (properties/checks/checks.h). The first byte says which one;
// the rest is what its input is drawn from:
// for all inputs: the part gives what its oracle, or its own plain rule, gives.
#include "fuzz/target.h"
#include "properties/cases/cases.h"
#include "properties/checks/checks.h"

using namespace packcheck;
namespace {

using Check = Fault(Source&);
constexpr Check* kChecks[] = {levels_fault,       conversion_fault,   dtype_fault,       product_fault, window_fault,
                              mapped_file_fault,  written_file_fault, affine_fault,      buffer_fault,  network_fault,
                              network_text_fault, storage_fault,      layout_table_fault};

std::optional<BrokenText> check(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const Bytes bytes = string_to_bytes(text);
  BytesSource source(std::span<const std::uint8_t>(bytes).subspan(1));
  return broken_text("core_parts", kChecks[bytes[0] % std::size(kChecks)](source), text);
}

Bytes fresh(Dice& dice) {
  Bytes bytes(2 + dice.below(2000));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice.bits());
  bytes[0] = static_cast<std::uint8_t>(dice.below(std::size(kChecks)));
  return bytes;
}

std::optional<Bytes> mutate(const Bytes&, Dice&) { return std::nullopt; }

}  // namespace

const FuzzTarget& packcheck::fuzz_target() {
  static const auto target = text_target({check, fresh, {"choices", {}, mutate, nullptr}});
  return *target;
}
