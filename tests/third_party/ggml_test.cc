// Known answers of ggml's libraries through their adapters, and what happens where they are absent.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/format/convert.h"
#include "tests/third_party/loaded.h"

namespace packcheck::third_party_test {
namespace {

namespace files = std::filesystem;

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() {
    std::string pattern = (files::temp_directory_path() / "packcheck-ggml-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) files::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const files::path& path() const { return path_; }

 private:
  files::path path_;
};

/// Points PACKCHECK_GGML_DIR somewhere else for a while.
class GgmlFolder {
 public:
  explicit GgmlFolder(const files::path& path) {
    if (const char* before = std::getenv("PACKCHECK_GGML_DIR")) before_ = before;
    setenv("PACKCHECK_GGML_DIR", path.c_str(), 1);
  }
  ~GgmlFolder() {
    if (before_.empty()) {
      unsetenv("PACKCHECK_GGML_DIR");
    } else {
      setenv("PACKCHECK_GGML_DIR", before_.c_str(), 1);
    }
  }
  GgmlFolder(const GgmlFolder&) = delete;
  GgmlFolder& operator=(const GgmlFolder&) = delete;

 private:
  std::string before_;
};

class Ggml : public testing::TestWithParam<const char*> {};

/// A fresh copy of the subject, so that it looks for its package anew.
Loaded load_copy(const char* name, const files::path& folder) {
  const files::path copy = folder / (std::string(name) + ".so");
  files::copy_file(subject_path(name), copy);
  return load_library(copy.string());
}

TEST_P(Ggml, EncodesThirtyTwoOnesAsTheGoldenBlocks) {
  PACKCHECK_LOAD_OR_SKIP(ggml, GetParam());
  const std::vector<float> ones(32, 1.0F);
  packcheck_error error{};
  std::vector<std::uint8_t> q8(34, 0xA5);
  ASSERT_EQ(ggml.table->quantize("q8_0:ggml", ones.data(), 32, q8.data(), q8.size(), &error), PACKCHECK_OK);
  std::vector<std::uint8_t> golden_q8(34, 0x7F);  // scale 1/127 as a half, then 32 codes of 127
  golden_q8[0] = 0x08;
  golden_q8[1] = 0x20;
  EXPECT_EQ(q8, golden_q8);

  std::vector<std::uint8_t> q4(18, 0xA5);
  ASSERT_EQ(ggml.table->quantize("q4_0:ggml", ones.data(), 32, q4.data(), q4.size(), &error), PACKCHECK_OK);
  std::vector<std::uint8_t> golden_q4(18, 0x00);  // scale 1/-8 as a half, then 32 codes of 0, which mean -8
  golden_q4[1] = 0xB0;
  EXPECT_EQ(q4, golden_q4);
}

TEST_P(Ggml, ConvertsBetweenFloatsAndSixteenBits) {
  PACKCHECK_LOAD_OR_SKIP(ggml, GetParam());
  EXPECT_EQ(convert_one(*ggml.table, "f32", "f16", 0x3F801000), 0x3C00U);  // tie, down to even
  EXPECT_EQ(convert_one(*ggml.table, "f32", "f16", 0x3F803000), 0x3C02U);  // tie, up to even
  EXPECT_EQ(convert_one(*ggml.table, "f32", "bf16", 0x3F880001), 0x3F88U);
  EXPECT_EQ(convert_one(*ggml.table, "f32", "bf16", 0x3F898000), 0x3F8AU);
}

TEST_P(Ggml, WidensEveryHalfExactly) {  // catches tables that were never filled
  PACKCHECK_LOAD_OR_SKIP(ggml, GetParam());
  std::vector<std::uint64_t> codes;
  for (std::uint64_t code = 0; code <= 0xFFFF; ++code) codes.push_back(code);
  const std::vector<std::uint8_t> in = to_bytes(codes, 2);
  std::vector<std::uint8_t> out(2 * in.size(), 0xA5);
  packcheck_error error{};
  ASSERT_EQ(ggml.table->repack("f16", "f32", in.data(), in.size(), out.data(), out.size(), &error), PACKCHECK_OK);
  const std::vector<std::uint64_t> widened = from_bytes(out, 4);
  for (const std::uint64_t code : codes) {
    if (is_nan(spec(Format::f16), code)) continue;
    ASSERT_EQ(widened[code], convert(Format::f16, Format::f32, code)) << code;
  }
}

TEST_P(Ggml, RefusesPartialBlocksAndSkipsOtherDialects) {
  PACKCHECK_LOAD_OR_SKIP(ggml, GetParam());
  const std::vector<float> values(33, 1.0F);
  std::vector<std::uint8_t> blocks(68);
  packcheck_error error{};
  const auto quantize = [&](const char* encoding, std::size_t count, std::size_t size) {
    return ggml.table->quantize(encoding, values.data(), count, blocks.data(), size, &error);
  };
  EXPECT_EQ(quantize("q8_0:ggml", 33, 34), PACKCHECK_REFUSED);
  EXPECT_EQ(quantize("q8_0:ggml", 32, 68), PACKCHECK_REFUSED);
  EXPECT_EQ(quantize("q4_0:ggml", 32, 34), PACKCHECK_REFUSED);
  EXPECT_STRNE(error.message, "");
  EXPECT_EQ(quantize("q4_0:skainet", 32, 18), PACKCHECK_UNSUPPORTED);
}

TEST_P(Ggml, HasNoTableWhereThePackageIsAbsent) {
  if (built_subjects().count(GetParam()) == 0) GTEST_SKIP() << GetParam() << " is not part of this build";
  const Folder empty;
  const GgmlFolder here(empty.path());
  const Loaded loaded = load_copy(GetParam(), empty.path());
  EXPECT_EQ(loaded.failure, "");
  EXPECT_EQ(loaded.table, nullptr);
}

TEST_P(Ggml, HasNoTableAndSaysWhyWhereTheLibraryIsDamaged) {
  if (built_subjects().count(GetParam()) == 0) GTEST_SKIP() << GetParam() << " is not part of this build";
  const Folder damaged;
  std::ofstream(damaged.path() / "libggml-base.so") << "half a download";
  const GgmlFolder here(damaged.path());
  testing::internal::CaptureStderr();
  const Loaded loaded = load_copy(GetParam(), damaged.path());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("ci/install --third-party"));
  EXPECT_EQ(loaded.failure, "");
  EXPECT_EQ(loaded.table, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Subjects, Ggml, testing::Values("ggml-base", "ggml-cpu-x64", "ggml-cpu-best"),
                         [](const testing::TestParamInfo<const char*>& parameter) {
                           std::string name = std::string(parameter.param).substr(5);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(GgmlBase, DecodesTheGoldenBlocks) {
  PACKCHECK_LOAD_OR_SKIP(ggml, "ggml-base");
  std::vector<std::uint8_t> q4(18, 0x00);
  q4[1] = 0xB0;
  std::vector<float> values(32, -7.0F);
  packcheck_error error{};
  ASSERT_EQ(ggml.table->dequantize("q4_0:ggml", q4.data(), q4.size(), values.data(), 32, &error), PACKCHECK_OK);
  EXPECT_EQ(values, std::vector<float>(32, 1.0F));
  std::vector<std::uint8_t> q8(34, 0x80);  // codes of -128, which no quantizer writes
  q8[0] = 0x00;
  q8[1] = 0x3C;
  ASSERT_EQ(ggml.table->dequantize("q8_0:ggml", q8.data(), q8.size(), values.data(), 32, &error), PACKCHECK_OK);
  EXPECT_EQ(values, std::vector<float>(32, -128.0F));
}

TEST(GgmlVersion, NamesTheFileThatAnswers) {
  PACKCHECK_LOAD_OR_SKIP(base, "ggml-base");
  PACKCHECK_LOAD_OR_SKIP(x64, "ggml-cpu-x64");
  PACKCHECK_LOAD_OR_SKIP(best, "ggml-cpu-best");
  EXPECT_THAT(base.table->version, testing::EndsWith(" libggml-base.so"));
  EXPECT_THAT(x64.table->version, testing::EndsWith(" libggml-cpu-x64.so"));
  EXPECT_THAT(best.table->version, testing::MatchesRegex(".* libggml-cpu-[a-z0-9]+\\.so"));
}

}  // namespace
}  // namespace packcheck::third_party_test
