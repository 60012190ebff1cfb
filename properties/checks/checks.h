// properties/checks: parts of the core that no operation asks for by itself, against what they claim.
//
// A subject answers operations, so laws do not reach what only the command or one path of the core uses: trees of JSON
// texts, number texts in other formats, every level of instructions, products' bounds and traces, mapped files. Each
// check takes bytes or choices that a fuzzer makes, holds the part against an oracle or against its own other way to
// the answer, and names what is wrong. Add one: a function here, its file, and its place in a target of fuzz/.
// Proved by the replays of explain_fuzzer, json_tree_fuzzer and core_parts_fuzzer.
#pragma once

#include <string>
#include <string_view>

#include "properties/source.h"

namespace packcheck {

/// What is wrong, by name; empty for nothing.
using Fault = std::string;

/// A JSON text as a tree: the oracle's, which is written again as the same, and refused where it is none.
[[nodiscard]] Fault json_tree_fault(std::string_view text);

/// A number text: as a double and in narrower formats, whether it is exact, and what a packed word may be.
[[nodiscard]] Fault number_text_fault(std::string_view text);

// The others draw their input.

/// Blocks and numbers at every level of instructions: bit for bit those of the rule, and within the encoding's bound.
[[nodiscard]] Fault levels_fault(Source& source);
/// Arrays under any rules of conversion: the oracle's, and the rules' text is read as those rules.
[[nodiscard]] Fault conversion_fault(Source& source);
/// A tensor's numbers in another dtype: element by element those of the dialect.
[[nodiscard]] Fault dtype_fault(Source& source);
/// A product with packed weights: within the bound of its order of sums, and what is not finite has its cause where
/// the trace says.
[[nodiscard]] Fault product_fault(Source& source);
/// Input sizes that are derived from a number of windows: all that give it, by trying each.
[[nodiscard]] Fault window_fault(Source& source);
/// A file of this machine, in memory: its bytes, and regions of it or a refusal.
[[nodiscard]] Fault mapped_file_fault(Source& source);
/// A file that is written: sound and read back, or refused where one thing is wrong with what is to be in it.
[[nodiscard]] Fault written_file_fault(Source& source);
/// Group-quantized weights of which one size or parameter is wrong.
[[nodiscard]] Fault affine_fault(Source& source);
/// Aliases of regions and reads of them, inside and out.
[[nodiscard]] Fault buffer_fault(Source& source);
/// Descriptions of tensors that contradict themselves or their buffer.
[[nodiscard]] Fault storage_fault(Source& source);
/// Networks that are built, some with a step that cannot be taken; and their texts with words changed.
[[nodiscard]] Fault network_fault(Source& source);
[[nodiscard]] Fault network_text_fault(Source& source);
/// Tables of packed parameters with one field wrong.
[[nodiscard]] Fault layout_table_fault(Source& source);

}  // namespace packcheck
