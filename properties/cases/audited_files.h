// properties/cases/audited_files.h: files for an audit: tensors of any type that a file can have, with odd numbers,
// and weights packed in groups with what belongs to them, mostly. No case type: no operation audits a file.
#pragma once

#include <cstdint>
#include <vector>

#include "properties/source.h"

namespace packcheck {

/// A sound safetensors or GGUF file of a few tensors.
[[nodiscard]] std::vector<std::uint8_t> draw_audited_file(Source& source);
/// A graph's text with one operator, whose parameters, shapes and weights are mostly right.
[[nodiscard]] std::vector<std::uint8_t> draw_audited_graph(Source& source);

}  // namespace packcheck
