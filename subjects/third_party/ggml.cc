// subjects/third_party/ggml.cc: ggml's row functions, as three subjects.
//
// CMakeLists.txt compiles this source once per subject: `ggml-base` are the portable functions of
// libggml-base.so, `ggml-cpu-x64` those of the CPU library for any x86-64 processor, and
// `ggml-cpu-best` those of the best CPU library that this processor can run; `version` names the
// file, because answers depend on it. The package is looked for in the folder that the environment
// variable PACKCHECK_GGML_DIR names, else where ci/install --third-party puts it. Where it is
// absent, packcheck_subject_v1() returns NULL.
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "subjects/third_party/ggml_library.h"
#include "subjects/third_party/support.h"

namespace packcheck::third_party {
namespace {

constexpr std::string_view kSubject = PACKCHECK_GGML_SUBJECT;
constexpr bool kIsBase = kSubject == "ggml-base";

std::optional<GgmlLibrary>& ggml() {
  static std::optional<GgmlLibrary> library;
  return library;
}

const float* as_floats(const std::uint8_t* bytes) { return static_cast<const float*>(static_cast<const void*>(bytes)); }
float* as_floats(std::uint8_t* bytes) { return static_cast<float*>(static_cast<void*>(bytes)); }
std::int64_t as_length(std::size_t count) { return static_cast<std::int64_t>(count); }

void f32_to_f16(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  ggml()->f32_to_f16(as_floats(in), out, as_length(count));
}
void f16_to_f32(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  ggml()->f16_to_f32(in, as_floats(out), as_length(count));
}
void f32_to_bf16(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  ggml()->f32_to_bf16(as_floats(in), out, as_length(count));
}
void bf16_to_f32(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  ggml()->bf16_to_f32(in, as_floats(out), as_length(count));
}

constexpr std::array<Conversion, 4> kConversions{{
    {"f32", "f16", 4, 2, f32_to_f16},
    {"f16", "f32", 2, 4, f16_to_f32},
    {"f32", "bf16", 4, 2, f32_to_bf16},
    {"bf16", "f32", 2, 4, bf16_to_f32},
}};

int convert(const char* from, const char* to, const char* mode, const std::uint8_t* in, std::size_t in_size,
            std::uint8_t* out, std::size_t out_size, std::size_t count, packcheck_error* error) {
  return convert_with(kConversions, from, to, mode, {in, in_size}, {out, out_size}, count, error);
}

int repack(const char* from, const char* to, const std::uint8_t* in, std::size_t in_size, std::uint8_t* out,
           std::size_t out_size, packcheck_error* error) {
  return repack_with(kConversions, from, to, {in, in_size}, {out, out_size}, error);
}

/// The encoding called "NAME:ggml", or null.
const GgmlEncoding* encoding_named(std::string_view id) {
  for (const GgmlEncoding& e : ggml()->encodings)
    if (id == std::string(e.name) + ":ggml") return &e;
  return nullptr;
}

/// ggml asserts that rows are whole blocks, and its release builds do not even do that.
bool sizes_agree(const GgmlEncoding& e, std::size_t count, std::size_t size) {
  return count % e.block_size == 0 && size % e.block_bytes == 0 && count / e.block_size == size / e.block_bytes;
}

int quantize(const char* encoding, const float* values, std::size_t count, std::uint8_t* blocks, std::size_t size,
             packcheck_error* error) {
  const GgmlEncoding* e = encoding_named(encoding);
  if (e == nullptr || e->quantize == nullptr) return PACKCHECK_UNSUPPORTED;
  if (!sizes_agree(*e, count, size)) return refuse(error, "values and bytes are not the same number of whole blocks");
  e->quantize(values, blocks, as_length(count));
  return PACKCHECK_OK;
}

int dequantize(const char* encoding, const std::uint8_t* blocks, std::size_t size, float* values, std::size_t count,
               packcheck_error* error) {
  const GgmlEncoding* e = encoding_named(encoding);
  if (e == nullptr || e->dequantize == nullptr) return PACKCHECK_UNSUPPORTED;
  if (!sizes_agree(*e, count, size)) return refuse(error, "values and bytes are not the same number of whole blocks");
  e->dequantize(blocks, values, as_length(count));
  return PACKCHECK_OK;
}

/// What the loaded library offers. The CPU libraries decode with the base library's functions, so that only
/// `ggml-base` declares decoding.
const std::vector<std::string>& declarations() {
  static const std::vector<std::string> lines = [] {
    std::vector<std::string> all{"convert f32->f16 nan=any",  "convert f16->f32 nan=any", "convert f32->bf16 nan=any",
                                 "convert bf16->f32 nan=any", "repack f16->f32 nan=any",  "repack bf16->f32 nan=any"};
    for (const GgmlEncoding& e : ggml()->encodings) {
      if (e.quantize != nullptr) all.push_back("quantize " + std::string(e.name) + ":ggml");
      if (e.dequantize != nullptr) all.push_back("dequantize " + std::string(e.name) + ":ggml");
    }
    return all;
  }();
  return lines;
}

/// The same, as the contract wants them: null-terminated.
const char* const* declaration_table() {
  static const std::vector<const char*> table = [] {
    std::vector<const char*> all;
    for (const std::string& line : declarations()) all.push_back(line.c_str());
    all.push_back(nullptr);
    return all;
  }();
  return table.data();
}

packcheck_subject table() {
  packcheck_subject subject{};
  subject.struct_size = sizeof subject;
  subject.name = kSubject.data();
  subject.version = ggml()->version.c_str();
  subject.declarations = declaration_table();
  subject.convert = convert;
  subject.repack = repack;
  subject.quantize = quantize;
  subject.dequantize = kIsBase ? dequantize : nullptr;
  return subject;
}

}  // namespace
}  // namespace packcheck::third_party

PACKCHECK_SUBJECT_ENTRY const packcheck_subject* packcheck_subject_v1() {
  using namespace packcheck::third_party;
  if (!ggml()) {
    const char* folder = std::getenv("PACKCHECK_GGML_DIR");
    ggml() = open_ggml(kSubject, folder != nullptr && *folder != '\0' ? folder : PACKCHECK_GGML_DEFAULT_DIR);
  }
  if (!ggml()) return nullptr;
  static const packcheck_subject subject = table();
  return &subject;
}
