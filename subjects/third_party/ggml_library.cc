#include "subjects/third_party/ggml_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "subjects/third_party/ggml_cpu_choice.h"

namespace packcheck::third_party {
namespace {

/// Opens `folder`/`file`, or gives null: silently where there is no such file.
void* open_file(const std::string& folder, std::string_view file) {
  const std::string path = folder + "/" + std::string(file);
  if (access(path.c_str(), F_OK) != 0) return nullptr;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    std::fprintf(stderr, "ggml does not load: %s. Fetch the package again with: ci/install --third-party\n", dlerror());
  return handle;
}

/// Looks functions up, and remembers whether all were there.
class Lookup {
 public:
  explicit Lookup(void* handle) : handle_(handle) {}

  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function != nullptr) return;
    complete_ = false;
    std::fprintf(stderr, "ggml has no function %s: this is not the version that packcheck knows\n", name);
  }
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  void* handle_;
  bool complete_ = true;
};

/// ggml's encodings that packcheck knows. q8_1 has no decoder.
struct EncodingRow {
  const char* name;
  std::size_t block_size;
  std::size_t block_bytes;
  bool dequantizes = true;
};
constexpr std::array<EncodingRow, 20> kEncodings{{
    {"q8_0", 32, 34},        {"q4_0", 32, 18},   {"q4_1", 32, 20},     {"q5_0", 32, 22},   {"q5_1", 32, 24},
    {"q8_1", 32, 36, false}, {"q8_K", 256, 292}, {"q2_K", 256, 84},    {"q3_K", 256, 110}, {"q4_K", 256, 144},
    {"q5_K", 256, 176},      {"q6_K", 256, 210}, {"tq1_0", 256, 54},   {"tq2_0", 256, 66}, {"q1_0", 128, 18},
    {"q2_0", 64, 18},        {"iq4_nl", 32, 18}, {"iq4_xs", 256, 136}, {"mxfp4", 32, 17},  {"nvfp4", 64, 36},
}};

bool fill_from_base(GgmlLibrary& ggml, void* base) {
  Lookup lookup(base);
  lookup.find(ggml.f32_to_f16, "ggml_fp32_to_fp16_row");
  lookup.find(ggml.f16_to_f32, "ggml_fp16_to_fp32_row");
  lookup.find(ggml.f32_to_bf16, "ggml_fp32_to_bf16_row_ref");
  lookup.find(ggml.bf16_to_f32, "ggml_bf16_to_fp32_row");
  for (const EncodingRow& row : kEncodings) {
    GgmlEncoding& e = ggml.encodings.emplace_back(GgmlEncoding{row.name, row.block_size, row.block_bytes});
    const std::string name = row.name;
    lookup.find(e.quantize, ("quantize_row_" + name + "_ref").c_str());
    if (row.dequantizes) lookup.find(e.dequantize, ("dequantize_row_" + name).c_str());
  }
  return lookup.complete();
}

bool fill_from_cpu(GgmlLibrary& ggml, void* cpu) {
  Lookup lookup(cpu);
  void (*initialise)() = nullptr;
  lookup.find(initialise, "ggml_cpu_init");
  lookup.find(ggml.f32_to_f16, "ggml_cpu_fp32_to_fp16");
  lookup.find(ggml.f16_to_f32, "ggml_cpu_fp16_to_fp32");
  lookup.find(ggml.f32_to_bf16, "ggml_cpu_fp32_to_bf16");
  lookup.find(ggml.bf16_to_f32, "ggml_cpu_bf16_to_fp32");
  for (const EncodingRow& row : kEncodings) {
    GgmlEncoding& e = ggml.encodings.emplace_back(GgmlEncoding{row.name, row.block_size, row.block_bytes});
    lookup.find(e.quantize, ("quantize_row_" + std::string(row.name)).c_str());
  }
  // Libraries without F16C read halves from a table that is empty until this has run.
  if (lookup.complete()) initialise();
  return lookup.complete();
}

/// Whether the library itself says that it can run here; ggml's own loader asks the same question.
bool accepts_this_processor(void* cpu) {
  auto* score = reinterpret_cast<int (*)()>(dlsym(cpu, "ggml_backend_score"));
  return score == nullptr || score() > 0;
}

}  // namespace

std::optional<GgmlLibrary> open_ggml(std::string_view subject, const std::string& folder) {
  constexpr std::string_view kBaseFile = "libggml-base.so";
  void* base = open_file(folder, kBaseFile);
  if (base == nullptr) return std::nullopt;
  GgmlLibrary ggml;
  const char* (*version)() = nullptr;
  Lookup lookup(base);
  lookup.find(version, "ggml_version");
  if (!lookup.complete()) return std::nullopt;
  ggml.version = std::string(version()) + " ";
  if (subject == "ggml-base") {
    ggml.version += kBaseFile;
    return fill_from_base(ggml, base) ? std::optional(ggml) : std::nullopt;
  }
  const std::uint32_t features = subject == "ggml-cpu-best" ? cpu_features() : 0;
  for (const GgmlCpuLibrary& library : kGgmlCpuLibraries) {
    if (!can_run(library, features)) continue;
    void* cpu = open_file(folder, library.file);
    if (cpu == nullptr || !accepts_this_processor(cpu)) continue;
    ggml.version += library.file;
    return fill_from_cpu(ggml, cpu) ? std::optional(ggml) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace packcheck::third_party
