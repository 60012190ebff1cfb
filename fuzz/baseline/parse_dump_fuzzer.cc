// nlohmann_json alone, parsing and dumping: what graph_json_fuzzer is compared with in bench/fuzz_throughput.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nlohmann::json document = nlohmann::json::parse(data, data + size, nullptr, false);
  if (!document.is_discarded()) (void)document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return 0;
}
