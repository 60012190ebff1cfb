// fuzz/target.h: what a fuzz target is: how it judges bytes, and how it makes bytes worth judging.
//
// A target is a file of a few lines that defines fuzz_target(); entry.cc gives it libFuzzer's functions, and
// standalone_main.cc a program that replays files. Add one: such a file, its row in CMakeLists.txt, and a dictionary
// and options where they help. Proved by the replays of the targets, and by tests/fuzz/targets_test.py.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/mutators/mutators.h"

namespace packcheck {

/// How much one input is put to: a fuzzer, which has many inputs, gets on faster with one law each.
enum class LawsPerInput : std::uint8_t { all, one };

class FuzzTarget {
 public:
  virtual ~FuzzTarget() = default;
  /// Any bytes; stops the process when something is broken. The laws follow from the bytes and `count`.
  virtual void judge(std::span<const std::uint8_t> bytes, LawsPerInput count) const = 0;
  /// Other bytes: from none, a whole input.
  [[nodiscard]] virtual Bytes mutate(const Bytes& bytes, std::size_t longest, Dice& dice) const = 0;
  [[nodiscard]] virtual Bytes cross(const Bytes& bytes, const Bytes& other, std::size_t longest, Dice& dice) const = 0;
};

/// What says in which variant a document is judged, where its family has more than a few.
enum class VariantBy : std::uint8_t {
  hash,       ///< of the whole
  last_bytes  ///< the last two, which are no part of the document then: for blocks, of which they fill none
};

/// The bytes are a document in the family's wire format, put to the laws of the family: every one, or the one that the
/// bytes' hash says unless they are short. Without a variant: in every variant that is declared if they are few, else
/// in one.
[[nodiscard]] std::unique_ptr<FuzzTarget> documents_target(std::string_view family, std::string_view variant = {},
                                                           VariantBy by = VariantBy::hash);

/// The first bytes choose a law of those that a pattern ("params.*") matches, and one of its variants (see
/// ChosenBytes); the rest is what the case is made of.
[[nodiscard]] std::unique_ptr<FuzzTarget> laws_target(const std::vector<std::string_view>& patterns);

struct BrokenText {
  std::string signature;
  std::string input;
};
/// A fault that a check names ("explain: …"); nothing where it names none.
[[nodiscard]] std::optional<BrokenText> broken_text(std::string_view checked, const std::string& fault,
                                                    std::string_view input);
/// A target without laws: the bytes are JSON text, or parts behind their lengths.
struct TextFunctions {
  std::optional<BrokenText> (*check)(std::string_view text);  ///< what is broken, or nothing
  Bytes (*fresh)(Dice& dice);                                 ///< makes an input
  WireMutator mutator;                                        ///< of a name that nobody asks for
};
[[nodiscard]] std::unique_ptr<FuzzTarget> text_target(const TextFunctions& functions);

/// Defined by each target.
const FuzzTarget& fuzz_target();

}  // namespace packcheck
