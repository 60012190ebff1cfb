// Number texts as `packcheck explain` takes them apart. The bytes are the text itself:
// for all texts: the number is rounded once to each format, exact or not, and its words are of the classes that its
// layout's table says.
#include "fuzz/target.h"
#include "properties/cases/cases.h"
#include "properties/checks/checks.h"

using namespace packcheck;
namespace {

std::optional<BrokenText> check(std::string_view text) { return broken_text("explain", number_text_fault(text), text); }

Bytes fresh(Dice& dice) {
  RandomSource source(dice.bits());
  return *text_cases.to_wire(text_cases.draw(source, "json"));
}

}  // namespace

const FuzzTarget& packcheck::fuzz_target() {
  static const auto target = text_target({check, fresh, {"text", {}, mutate_number_text, nullptr}});
  return *target;
}
