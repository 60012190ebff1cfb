// What people write in twenty lines: libFuzzer over nlohmann_json and nothing else, beside packcheck's targets in
// bench/time_to_find. PLAIN_BUG says which of three bugs the code under test has.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

using nlohmann::json;

/// A reader that casts a packed scalar's value, where the fields are in its bits.
static void cast_scalar(const json& node) {
  if (!node.contains("scalar") || !node["scalar"].is_number_float()) return;
  const auto value = node["scalar"].get<double>();
  if (std::bit_cast<std::uint64_t>(value) >> 52 == 0 &&
      static_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(value))
    std::abort();
}
/// An exporter without a guard: 8 bytes of a scalar become text that a reader refuses.
static void export_scalar(const std::uint8_t* data, std::size_t size) {
  if (size < 8) return;
  double value = 0;
  std::memcpy(&value, data, 8);
  const std::string text = "{\"scalar\":" + std::string(std::isfinite(value) ? "1.0" : "Infinity") + "}";
  if (json::parse(text, nullptr, false).is_discarded()) std::abort();
}
/// A reader that takes a convolution's input size from its output size, though the division had a remainder.
static void derive_size(const json& node) {
  for (const char* key : {"input", "kernel", "stride", "output"})
    if (!node.contains(key) || !node[key].is_number_unsigned()) return;
  const std::uint64_t in = node["input"], kernel = node["kernel"], stride = node["stride"], out = node["output"];
  if (in < 1 || in > 4096 || kernel < 1 || kernel > in || stride < 1 || (in - kernel) / stride + 1 != out) return;
  if ((out - 1) * stride + kernel != in) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int bug = std::atoi(std::getenv("PLAIN_BUG") != nullptr ? std::getenv("PLAIN_BUG") : "0");
  if (bug == 1) return export_scalar(data, size), 0;
  const char* const text = reinterpret_cast<const char*>(data);
  const json document = json::parse(text, text + size, nullptr, false);
  if (!document.is_object()) return 0;
  bug == 0 ? cast_scalar(document) : derive_size(document);
  return 0;
}
