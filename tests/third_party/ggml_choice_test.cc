// Only a CPU library that the processor can run is ever opened, and the best of those is chosen.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "subjects/third_party/ggml_cpu_choice.h"
#include "subjects/third_party/ggml_library.h"

namespace packcheck::third_party {
namespace {

std::string_view best_file(std::uint32_t features) {
  const auto* best = std::find_if(kGgmlCpuLibraries.begin(), kGgmlCpuLibraries.end(),
                                  [&](const GgmlCpuLibrary& library) { return can_run(library, features); });
  return best == kGgmlCpuLibraries.end() ? std::string_view{} : best->file;
}

TEST(GgmlChoice, TakesTheBestLibraryThatTheProcessorCanRun) {
  EXPECT_EQ(best_file(0), "libggml-cpu-x64.so");
  EXPECT_EQ(best_file(kSse42), "libggml-cpu-sse42.so");
  EXPECT_EQ(best_file(kSse42 | kAvx | kF16c), "libggml-cpu-ivybridge.so");
  EXPECT_EQ(best_file(kHaswell), "libggml-cpu-haswell.so");
  EXPECT_EQ(best_file(kHaswell | kAvxVnni), "libggml-cpu-alderlake.so");
  EXPECT_EQ(best_file(kSkylakeX | kAvxVnni), "libggml-cpu-skylakex.so");
  EXPECT_EQ(best_file(kSkylakeX | kAvx512Vbmi | kAvx512Vnni | kAvx512Bf16), "libggml-cpu-zen4.so");
  EXPECT_EQ(best_file(~0U), "libggml-cpu-sapphirerapids.so");
}

TEST(GgmlChoice, NeedsEveryFeatureOfALibrary) {
  for (const GgmlCpuLibrary& library : kGgmlCpuLibraries)
    for (std::uint32_t bit = 1; bit <= kAmx; bit <<= 1U)
      EXPECT_EQ(can_run(library, ~bit), (library.needs & bit) == 0) << library.file << " " << bit;
}

TEST(GgmlChoice, ListsABetterLibraryBeforeEveryLibraryThatNeedsLess) {
  for (std::size_t i = 0; i < kGgmlCpuLibraries.size(); ++i)
    for (std::size_t j = i + 1; j < kGgmlCpuLibraries.size(); ++j)
      EXPECT_NE(kGgmlCpuLibraries[i].needs & kGgmlCpuLibraries[j].needs, kGgmlCpuLibraries[i].needs)
          << kGgmlCpuLibraries[i].file << " would never give way to " << kGgmlCpuLibraries[j].file;
}

std::string package_folder() {
  const char* folder = std::getenv("PACKCHECK_GGML_DIR");
  return folder != nullptr && *folder != '\0' ? folder : PACKCHECK_GGML_DEFAULT_DIR;
}

TEST(GgmlChoice, AgreesWithWhatTheLibrariesSayOfThemselves) {
  const std::string folder = package_folder();
  if (!open_ggml("ggml-base", folder)) GTEST_SKIP() << "ggml is absent: fetch it with ci/install --third-party";
  int last_score = 1 << 30;
  for (const GgmlCpuLibrary& library : kGgmlCpuLibraries) {
    if (!can_run(library, cpu_features())) continue;
    void* handle = dlopen((folder + "/" + std::string(library.file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    auto* score = reinterpret_cast<int (*)()>(dlsym(handle, "ggml_backend_score"));
    ASSERT_NE(score, nullptr) << library.file;
    EXPECT_GT(score(), 0) << library.file << " cannot run here";
    EXPECT_LT(score(), last_score) << library.file << " is listed after a worse one";
    last_score = score();
  }
  EXPECT_EQ(last_score, 1) << "the list ends with the library for any processor";
}

TEST(GgmlChoice, FallsBackToTheNextLibraryWhereTheBestIsNotShipped) {
  const std::string folder = package_folder();
  if (!open_ggml("ggml-base", folder)) GTEST_SKIP() << "ggml is absent: fetch it with ci/install --third-party";
  std::string pattern = (std::filesystem::temp_directory_path() / "packcheck-ggml-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  for (const char* file : {"libggml-base.so", "libggml-cpu-x64.so"})
    std::filesystem::create_symlink(std::filesystem::absolute(folder) / file, std::filesystem::path(pattern) / file);
  const std::optional<GgmlLibrary> fallback = open_ggml("ggml-cpu-best", pattern);
  std::filesystem::remove_all(pattern);
  ASSERT_TRUE(fallback);
  EXPECT_NE(fallback->version.find("libggml-cpu-x64.so"), std::string::npos) << fallback->version;
}

}  // namespace
}  // namespace packcheck::third_party
