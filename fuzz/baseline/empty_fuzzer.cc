// A target that does nothing: what libFuzzer itself costs, in bench/fuzz_throughput.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }
