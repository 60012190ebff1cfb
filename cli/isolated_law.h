// cli/isolated_law.h: a law whose every check runs in a process of its own, for inputs of which a fuzzer said that they
// crash something: what dies or hangs is then a breach, with a place to name it by, and can be shrunk like any other.
#pragma once

#include "properties/law.h"

namespace packcheck {

/// The law with check() in a forked child. A child that dies breaks the law at "<variant> crashed", one that takes
/// longer than `seconds` at "<variant> hung", one that asks for too much memory at "<variant> ran out of memory".
/// The subject must be one that needs no process of its own (the reference, a twin).
[[nodiscard]] Law isolated(const Law& law, unsigned seconds);

}  // namespace packcheck
