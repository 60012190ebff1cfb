// fuzz/twins.h: faulty twins as a fuzz target: rules that the reference never follows are code of the core, too.
//
// An input's first two bytes say the twin and the third the variant of its law; the case is made of the rest, as in
// every target. Proved by the replay of twins_fuzzer.
#pragma once

#include "fuzz/target.h"

namespace packcheck {

/// What is broken: a twin that breaks its law, but not, or elsewhere, in the case's own text, from which
/// `packcheck repro` works.
[[nodiscard]] std::optional<BrokenText> twin_fault(std::string_view text);
/// A twin, a variant of its law, and a drawn case.
[[nodiscard]] Bytes draw_twin_input(Dice& dice);
/// Another case of the same twin and variant.
[[nodiscard]] std::optional<Bytes> mutate_twin_input(const Bytes& bytes, Dice& dice);

}  // namespace packcheck
