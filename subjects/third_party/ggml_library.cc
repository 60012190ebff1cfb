#include "subjects/third_party/ggml_library.h"

#include <dlfcn.h>
#include <unistd.h>

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

bool fill_from_base(GgmlLibrary& ggml, void* base) {
  Lookup lookup(base);
  lookup.find(ggml.f32_to_f16, "ggml_fp32_to_fp16_row");
  lookup.find(ggml.f16_to_f32, "ggml_fp16_to_fp32_row");
  lookup.find(ggml.f32_to_bf16, "ggml_fp32_to_bf16_row");
  lookup.find(ggml.bf16_to_f32, "ggml_bf16_to_fp32_row");
  lookup.find(ggml.quantize_q8_0, "quantize_row_q8_0_ref");
  lookup.find(ggml.quantize_q4_0, "quantize_row_q4_0_ref");
  lookup.find(ggml.dequantize_q8_0, "dequantize_row_q8_0");
  lookup.find(ggml.dequantize_q4_0, "dequantize_row_q4_0");
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
  lookup.find(ggml.quantize_q8_0, "quantize_row_q8_0");
  lookup.find(ggml.quantize_q4_0, "quantize_row_q4_0");
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
