// core/large_pages.h: large pages for memory that is written and read from end to end, where the kernel has them.
//
// The nodes and the text of a graph of 100,000 nodes are some 40 MB: in pages of 4 KiB that is more than a processor's
// list of translations holds, and the same work takes 15 % longer a node than for 10,000 nodes. A hint only: no number
// depends on it. Measured by bench/graph_bench.cc.
#pragma once

#include <cstddef>

namespace packcheck {

/// Asks the kernel for large pages (2 MiB on x86-64) within `bytes` from `memory`. Does nothing for less than two of
/// them, and where there is no such call.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace packcheck
