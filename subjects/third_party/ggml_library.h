// subjects/third_party/ggml_library.h: the functions of an installed ggml, found at run time.
//
// The package is prebuilt and optional, so nothing is linked: the libraries are opened by path and
// the functions looked up by name. Proved by tests/third_party/ggml_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace packcheck::third_party {

/// One block encoding; the last argument of its functions is a number of elements.
struct GgmlEncoding {
  const char* name;  ///< "q8_0"
  std::size_t block_size;
  std::size_t block_bytes;
  void (*quantize)(const float*, void*, std::int64_t) = nullptr;    ///< null where packcheck knows no simple rule
  void (*dequantize)(const void*, float*, std::int64_t) = nullptr;  ///< in the base library only, and not of q8_1
};

/// Row functions; the last argument is a number of elements.
struct GgmlLibrary {
  std::string version;  ///< "0.23.0 libggml-cpu-x64.so"
  void (*f32_to_f16)(const float*, void*, std::int64_t) = nullptr;
  void (*f16_to_f32)(const void*, float*, std::int64_t) = nullptr;
  void (*f32_to_bf16)(const float*, void*, std::int64_t) = nullptr;
  void (*bf16_to_f32)(const void*, float*, std::int64_t) = nullptr;
  std::vector<GgmlEncoding> encodings;
};

/// Opens what the subject "ggml-base", "ggml-cpu-x64" or "ggml-cpu-best" stands for in `folder`.
/// Empty if it is not there; if a file is there and does not load, says why on the standard error
/// stream. What was opened stays open.
[[nodiscard]] std::optional<GgmlLibrary> open_ggml(std::string_view subject, const std::string& folder);

}  // namespace packcheck::third_party
