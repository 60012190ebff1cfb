// properties/oracles/audit_oracle.h: what an audit has to say of a file, counted a second time.
//
// Oracle for core/audit and core/graph/audit_graph.h, and for the target audit_fuzzer, which holds them against it.
// Dense numbers are counted by value, one after the other, blocks by what block_oracle.h decodes of them, and scales at
// the places that an encoding's row says. It takes the structs of core/audit as names for its results, and nothing
// else of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/audit/audit.h"
#include "core/graph/audit_graph.h"

namespace packcheck::oracle {

/// Of little-endian elements of a format that has_element_statistics() names.
[[nodiscard]] ElementStatistics element_statistics(Format format, std::span<const std::uint8_t> bytes);

/// Of blocks whose bytes lie together. Its blocks of zeros are all that decode to zeros; an audit may name fewer where
/// a block has scales of its parts (counts_every_zero_block() tells), never others.
[[nodiscard]] BlockStatistics block_statistics(const Encoding& encoding, std::span<const std::uint8_t> bytes);
[[nodiscard]] bool counts_every_zero_block(const Encoding& encoding);

/// What is wrong with an audit of a sound file, by name ("statistics of a dense tensor"); empty for nothing.
[[nodiscard]] std::string audit_fault(const TensorFile& file, std::span<const std::uint8_t> bytes,
                                      const FileAudit& audit);

/// What is wrong with the warnings about a graph's text; empty for nothing.
[[nodiscard]] std::string graph_audit_fault(std::string_view text, const std::vector<GraphWarning>& warnings);

}  // namespace packcheck::oracle
