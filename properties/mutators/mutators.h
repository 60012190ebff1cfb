// properties/mutators/mutators.h: changes to fuzz inputs that know what the bytes mean.
//
// A mutator changes one thing in a document and leaves the rest sound, so that a fuzzer gets past the first
// check: it works on JSON values, on fields of YSGP, GGUF and safetensors, on digits of numbers, or on the
// choices that a case is drawn from. Engine-free: the fuzz engine calls it, libFuzzer (fuzz/entry.cc) and AFL++
// (fuzz/afl_mutator.cc). Add one: a function here and a row in mutators.cc. Proved by
// tests/properties/mutators_test.cc, and by the twins that the fuzz engine has to find from an empty corpus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case.h"
#include "properties/mutators/dice.h"

namespace packcheck {

using Bytes = std::vector<std::uint8_t>;

/// What is known of a wire format. Both functions give nothing where the bytes are not of the format, as far
/// as that one needs it.
struct WireMutator {
  std::string_view family;
  std::string_view variant;  ///< empty: all of the family
  std::optional<Bytes> (*mutate)(const Bytes& bytes, Dice& dice);
  /// A part of `other` in the place of a like part of `bytes`.
  std::optional<Bytes> (*cross)(const Bytes& bytes, const Bytes& other, Dice& dice);
};
/// Null where the family has none: bytes are changed as bytes, or as choices.
[[nodiscard]] const WireMutator* wire_mutator(std::string_view family, std::string_view variant);

/// The inputs of one case type: what fuzzers call.
class InputMutator {
 public:
  /// `variants`: those that inputs are drawn and, where they are choices, read in.
  InputMutator(const CaseType& type, std::vector<std::string> variants);

  /// A drawn case as an input: its wire form, or the choices as bytes.
  [[nodiscard]] Bytes fresh(Dice& dice) const;
  /// One change, mostly one that keeps the structure; never returns more than `longest` bytes.
  [[nodiscard]] Bytes mutate(const Bytes& bytes, std::size_t longest, Dice& dice) const;
  [[nodiscard]] Bytes cross(const Bytes& bytes, const Bytes& other, std::size_t longest, Dice& dice) const;

 private:
  [[nodiscard]] std::optional<Bytes> mutate_structure(const Bytes& bytes, Dice& dice) const;
  const CaseType& type_;
  std::vector<std::string> variants_;
};

/// A byte flipped, set, lost, inserted or cut.
void change_byte(Bytes& bytes, Dice& dice);

// The mutators themselves.
[[nodiscard]] std::optional<Bytes> mutate_graph_json(const Bytes& bytes, Dice& dice);
/// Any JSON text: member names come from the text itself.
[[nodiscard]] std::optional<Bytes> mutate_json(const Bytes& bytes, Dice& dice);
/// Parts behind their lengths, 4 bytes each, as frames of subjects hold them.
[[nodiscard]] std::optional<Bytes> mutate_parts(const Bytes& bytes, Dice& dice);
[[nodiscard]] std::optional<Bytes> mutate_ysgp(const Bytes& bytes, Dice& dice);
[[nodiscard]] std::optional<Bytes> mutate_gguf(const Bytes& bytes, Dice& dice);
[[nodiscard]] std::optional<Bytes> mutate_safetensors(const Bytes& bytes, Dice& dice);
/// What an audit takes: a tensor file of either kind, or a graph's JSON text.
[[nodiscard]] std::optional<Bytes> mutate_audited(const Bytes& bytes, Dice& dice);
[[nodiscard]] std::optional<Bytes> mutate_number_text(const Bytes& bytes, Dice& dice);
[[nodiscard]] std::optional<Bytes> cross_json(const Bytes& bytes, const Bytes& other, Dice& dice);
[[nodiscard]] std::optional<Bytes> cross_ysgp(const Bytes& bytes, const Bytes& other, Dice& dice);

}  // namespace packcheck
