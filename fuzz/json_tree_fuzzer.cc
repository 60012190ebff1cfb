// JSON texts as trees. The bytes are the text itself:
// for all texts: the tree is a second reader's, and is written again as the same, or the text is refused.
#include "fuzz/target.h"
#include "properties/cases/graphs.h"
#include "properties/checks/checks.h"

using namespace packcheck;
namespace {

std::optional<BrokenText> check(std::string_view text) { return broken_text("json_tree", json_tree_fault(text), text); }

/// A graph's text, sound or not, or a list of what readers differ about.
Bytes fresh(Dice& dice) {
  static constexpr std::string_view kParts[] = {R"({"\u00e9\ud83d\ude00\b\f\n\r\t\/~":"\\\"\u0001"})",
                                                R"({"a":1,"a":2})",
                                                "[[{}],-0,1E400]",
                                                "-9223372036854775808",
                                                "9223372036854775808",
                                                "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
                                                "\"\xED\xA0\x80\"",
                                                "\"\xF4\x90\x80\x80\"",
                                                "true"};
  RandomSource source(dice.bits());
  if (dice.once_in(2)) return *graph_text_cases.to_wire(graph_text_cases.draw(source, "ysgp:lossless"));
  std::string made = "[null";
  for (std::size_t i = dice.below(4); i-- > 0;) made.append(",").append(dice.pick(kParts));
  return string_to_bytes(made.append("]"));
}

}  // namespace

const FuzzTarget& packcheck::fuzz_target() {
  static const auto target = text_target({check, fresh, {"json", {}, mutate_json, cross_json}});
  return *target;
}
