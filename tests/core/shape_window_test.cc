// Windows along one axis: every small geometry, counted cell by cell; and the cases of real systems.
#include "core/graph/shape_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "properties/oracles/shape_oracle.h"

namespace packcheck::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr WindowDialect kFloor{};
constexpr WindowDialect kJava{.quotient = Quotient::truncate};
constexpr WindowDialect kCeil{.quotient = Quotient::ceil};
constexpr WindowDialect kPytorchCeil{.quotient = Quotient::ceil_last_inside, .limit = PaddingLimit::half_kernel};

/// Moves a window along the padded row, one stride at a time, as long as it lies in it.
std::int64_t windows_laid(const Window& w) {
  std::int64_t count = 0;
  for (std::int64_t start = -w.padding;; start += w.stride) {
    if (start + w.dilation * (w.kernel - 1) >= w.size + w.padding) return count;
    ++count;
  }
}

/// The grid that the facts name: H 1..64, kernels 1 2 3 4 5 7 11, strides 1..4, padding 0..3.
void for_each_geometry(const std::function<void(const Window&)>& visit) {
  for (std::int64_t size = 1; size <= 64; ++size)
    for (const std::int64_t kernel : {1, 2, 3, 4, 5, 7, 11})
      for (std::int64_t stride = 1; stride <= 4; ++stride)
        for (std::int64_t padding = 0; padding <= 3; ++padding) visit({size, kernel, stride, padding, 1});
}

TEST(WindowCounts, AreThoseOfWindowsLaidOneByOneInEveryGeometryAndByTheOracle) {
  for_each_geometry([](Window w) {
    for (w.dilation = 1; w.dilation <= 3; ++w.dilation) {
      const std::int64_t laid = windows_laid(w);
      const Result<std::int64_t> count = window_count(w, kFloor, "row");
      EXPECT_EQ(count.value_or(0), laid) << w.size << " " << w.kernel << " " << w.stride << " " << w.padding;
      EXPECT_EQ(oracle::windows_along("floor", w.size, w.kernel, w.stride, w.padding, w.dilation).value_or(0), laid);
    }
  });
}

TEST(WindowCounts, OfTheOtherDialectsAgreeWithTheOracleInEveryGeometry) {
  const std::vector<std::pair<const char*, WindowDialect>> dialects{
      {"java", kJava}, {"ceil", kCeil}, {"pytorch_ceil", kPytorchCeil}};
  for_each_geometry([&](const Window& w) {
    for (const auto& [name, dialect] : dialects) {
      const auto right = oracle::windows_along(name, w.size, w.kernel, w.stride, w.padding, w.dilation);
      EXPECT_EQ(window_count(w, dialect, "row").value_or(0), right.value_or(0))
          << name << " " << w.size << " " << w.kernel << " " << w.stride << " " << w.padding;
    }
  });
}

TEST(WindowCounts, AreThoseOfReportedBugsAndControls) {
  EXPECT_EQ(window_count({6, 1, 2, 0, 1}, kPytorchCeil, "pool"), 3) << "PyTorch issue 45357";
  EXPECT_EQ(window_count({6, 1, 2, 0, 1}, kCeil, "pool"), 4) << "the fourth window begins beyond the input";
  EXPECT_EQ(window_count({17, 2, 2, 1, 1}, kPytorchCeil, "pool"), 9) << "TVM PR 18641";
  EXPECT_EQ(window_count({32, 1, 2, 0, 1}, kPytorchCeil, "pool"), 16) << "PyTorch issue 57178";
  EXPECT_EQ(window_count({9, 4, 4, 2, 1}, kPytorchCeil, "pool"), 3) << "PyTorch issue 116420";
  EXPECT_EQ(window_count({56, 3, 2, 0, 1}, kPytorchCeil, "pool"), 28) << "onnx-mlir PR 560";
  EXPECT_EQ(window_count({224, 7, 2, 3, 1}, kFloor, "conv"), 112);
}

TEST(WindowCounts, TruncatingDivisionLetsAKernelThatIsTooLargePassUnlessTheStrideIsOne) {
  EXPECT_EQ(window_count({2, 3, 2, 0, 1}, kJava, "conv"), 1);
  EXPECT_FALSE(window_count({2, 3, 1, 0, 1}, kJava, "conv"));
  EXPECT_FALSE(window_count({2, 3, 2, 0, 1}, kFloor, "conv"));
  EXPECT_EQ(window_count({4, 5, 2, 0, 1}, kJava, "conv"), 1) << "AiDotNet.Tensors PR 891";
}

TEST(WindowCounts, RefusalsSayWhatWhereAndWhatWouldBeRight) {
  const auto refusal = [](const Window& w, const WindowDialect& d) {
    return window_count(w, d, "conv2d height").error();
  };
  EXPECT_EQ(refusal({32, 3, 0, 1, 1}, kFloor).text(), "conv2d height: stride is 0; expected 1 or more");
  EXPECT_EQ(refusal({32, 3, 1, -1, 1}, kFloor).text(), "conv2d height: padding is -1; expected 0 or more");
  EXPECT_EQ(refusal({32, 0, 1, 0, 1}, kFloor).text(), "conv2d height: kernel is 0; expected 1 or more");
  EXPECT_EQ(refusal({32, 3, 1, 0, 0}, kFloor).text(), "conv2d height: dilation is 0; expected 1 or more");
  EXPECT_EQ(refusal({0, 3, 1, 0, 1}, kFloor).text(), "conv2d height: input size is 0; expected 1 or more");
  EXPECT_EQ(refusal({2, 3, 2, 0, 1}, kFloor).text(),
            "conv2d height: kernel reaches over 3 cells, the padded input has 2; expected a kernel that fits");
  EXPECT_THAT(refusal({9, 4, 4, 3, 1}, kPytorchCeil).text(), HasSubstr("at most half of the kernel 4"));
}

TEST(WindowCounts, DoNotOverflow) {
  constexpr std::int64_t kMost = INT64_MAX;
  EXPECT_THAT(window_count({8, 3, 1, 0, 2147483647}, kFloor, "conv").error().what, HasSubstr("4294967295 cells"))
      << "32-bit arithmetic gives 10 windows (MLX issue 3611)";
  EXPECT_EQ(window_count({8, 3, 1, 0, 2147483647}, kFloor, "conv", {.arithmetic = SizeArithmetic::wraps_32}), 10);
  EXPECT_THAT(window_count({8, kMost, 1, 0, kMost}, kFloor, "conv").error().what, HasSubstr("more than 2^63 - 1"));
  EXPECT_THAT(window_count({kMost, 1, 1, 1, 1}, kFloor, "conv").error().what, HasSubstr("overflows"));
  EXPECT_EQ(window_count({kMost, 1, 1, 0, 1}, kFloor, "conv"), kMost);
  EXPECT_EQ(window_count({kMost, kMost, kMost, kMost, 1}, kFloor, "conv"), 3);
}

TEST(InputSizes, OfEveryGeometryAreExactlyTheSizesThatGiveTheOutput) {
  for_each_geometry([](const Window& w) {
    const Result<std::int64_t> windows = window_count(w, kFloor, "row");
    if (!windows) return;
    const InputSizes sizes = input_sizes(*windows, w, "row").value();
    for (std::int64_t size = 1; size <= 80; ++size) {
      Window other = w;
      other.size = size;
      const bool gives_it = window_count(other, kFloor, "row").value_or(0) == *windows;
      EXPECT_EQ(gives_it, size >= sizes.smallest && size <= sizes.largest);
    }
    // The formula gives the true size less the remainder.
    EXPECT_EQ(sizes.formula, w.size - (w.size + 2 * w.padding - w.kernel) % w.stride);
  });
}

TEST(InputSizes, OnTheGridAreWrongIn3322Of6956CasesAndAmbiguousIn5206) {
  int valid = 0;
  int wrong = 0;
  int not_positive = 0;
  int ambiguous = 0;
  for_each_geometry([&](const Window& w) {
    const Result<std::int64_t> windows = window_count(w, kFloor, "row");
    if (!windows) return;
    const InputSizes sizes = input_sizes(*windows, w, "row").value();
    ++valid;
    wrong += sizes.formula != w.size ? 1 : 0;
    not_positive += sizes.formula <= 0 ? 1 : 0;
    ambiguous += sizes.ambiguous() ? 1 : 0;
  });
  EXPECT_EQ(valid, 6956);
  EXPECT_EQ(wrong, 3322);
  EXPECT_EQ(not_positive, 36);
  EXPECT_EQ(ambiguous, 5206);
}

TEST(InputSizes, SayWhatAReaderOfTheOutputLoses) {
  const auto sizes = [](std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    const Window w{size, kernel, stride, padding, 1};
    return input_sizes(window_count(w, kFloor, "row").value(), w, "row").value();
  };
  EXPECT_EQ(sizes(224, 7, 2, 3).formula, 223);
  EXPECT_EQ(sizes(112, 3, 2, 1).formula, 111);
  EXPECT_EQ(sizes(7, 2, 2, 0).formula, 6);
  EXPECT_EQ(sizes(28, 2, 2, 0).formula, 28);
  EXPECT_EQ(sizes(227, 11, 4, 0).formula, 227);
  EXPECT_EQ(sizes(224, 7, 2, 3).text(),
            "223 or 224; a reader that sees only the output derives 223 and loses up to 1 cell of the axis");
  EXPECT_EQ(sizes(28, 3, 1, 1).text(), "28, the only input size");
  EXPECT_THAT(input_sizes(14, {1, 3, 2, 1, 1}, "g16").value().text(), HasSubstr("27 or 28")) << "tinygrad PR 875";
  EXPECT_THAT(input_sizes(1, {1, 1, 1, 3, 1}, "conv").error().text(), HasSubstr("no input gives 1 windows"));
}

TEST(InputSizes, OfEveryDialectAreExactlyTheSizesThatGiveTheOutput) {
  constexpr std::array<WindowDialect, 5> kDialects{{{},
                                                    {.quotient = Quotient::truncate},
                                                    {.quotient = Quotient::ceil},
                                                    {.quotient = Quotient::ceil_last_inside},
                                                    {.padding = PaddingMode::same_upper}}};
  constexpr std::int64_t kSizes = 40;
  for (const WindowDialect& dialect : kDialects) {
    const bool same = dialect.padding != PaddingMode::given;
    for_each_geometry([&](Window w) {
      if (w.size != 1 || (same && w.padding != 0)) return;
      std::vector<std::int64_t> counts(kSizes + 1, 0);  // 0: no window
      for (w.size = 1; w.size <= kSizes; ++w.size)
        counts[static_cast<std::size_t>(w.size)] = same ? same_padding(w, dialect.padding, "row").value().windows
                                                        : window_count(w, dialect, "row").value_or(0);
      for (std::int64_t windows = 1; windows < counts.back(); ++windows) {
        const Result<SizeRange> range = sizes_giving(windows, w, dialect, "row");
        for (std::int64_t size = 1; size <= kSizes; ++size)
          ASSERT_EQ(range && size >= range->smallest && size <= range->largest,
                    counts[static_cast<std::size_t>(size)] == windows)
              << windows << " windows of " << w.kernel << ", stride " << w.stride << ", padding " << w.padding;
      }
    });
  }
}

TEST(InputSizes, OfOtherDialectsAreRefusedWhereThereAreNone) {
  const WindowDialect same{.padding = PaddingMode::same_upper};
  EXPECT_EQ(sizes_giving(14, {1, 3, 2, 0, 1}, same, "conv").value().text(), "27 or 28");
  EXPECT_EQ(sizes_giving(INT64_MAX, {1, 1, 1, 0, 1}, same, "conv").value().smallest, INT64_MAX);
  EXPECT_THAT(sizes_giving(INT64_MAX, {1, 1, 2, 0, 1}, same, "conv").error().text(), HasSubstr("at most 2^63 - 1"));
  EXPECT_THAT(sizes_giving(14, {1, 3, 2, 1, 1}, same, "conv").error().text(), HasSubstr("SAME works it out"));
  EXPECT_THAT(sizes_giving(0, {1, 3, 2, 0, 1}, same, "conv").error().text(), HasSubstr("output size is 0"));
  EXPECT_THAT(sizes_giving(1, {1, 1, 1, 3, 1}, {.quotient = Quotient::ceil}, "pool").error().text(),
              HasSubstr("even one cell has more"));
}

TEST(SamePadding, PutsAnOddCellWhereTheDialectSays) {
  const SamePadding upper = same_padding({2, 3, 2, 0, 1}, PaddingMode::same_upper, "pool").value();
  EXPECT_EQ(upper.windows, 1);
  EXPECT_EQ(upper.begin, 0);
  EXPECT_EQ(upper.end, 1) << "onnxruntime PR 29627 gave 1 and 1";
  const SamePadding lower = same_padding({2, 3, 2, 0, 1}, PaddingMode::same_lower, "pool").value();
  EXPECT_EQ(lower.begin, 1);
  EXPECT_EQ(lower.end, 0);
  EXPECT_THAT(same_padding({2, 3, 2, 1, 1}, PaddingMode::same_upper, "pool").error().text(), HasSubstr("SAME"));
}

TEST(SamePadding, GivesOneWindowPerStrideAndNoCellThatNoWindowReaches) {
  for_each_geometry([](Window w) {
    if (w.padding != 0) return;
    const SamePadding same = same_padding(w, PaddingMode::same_upper, "row").value();
    EXPECT_EQ(same.windows, (w.size + w.stride - 1) / w.stride);
    EXPECT_TRUE(same.end == same.begin || same.end == same.begin + 1);
    const std::int64_t reached = (same.windows - 1) * w.stride + w.kernel;
    EXPECT_TRUE(reached == w.size + same.begin + same.end || (same.end == 0 && reached < w.size));
  });
}

TEST(AdaptiveBins, CoverEveryCellWithFloorAndCeilAndMayBeEmptyWithFloorAlone) {
  for (std::int64_t size = 1; size <= 20; ++size)
    for (std::int64_t bins = 1; bins <= 20; ++bins) {
      std::int64_t covered = 0;
      for (std::int64_t i = 0; i < bins; ++i) {
        const Bin bin = adaptive_bin(size, bins, i, BinRounding::floor_ceil, "pool").value();
        EXPECT_LT(bin.begin, bin.end);
        EXPECT_LE(bin.begin, covered) << "no cell is left out";
        covered = bin.end;
      }
      EXPECT_EQ(covered, size);
    }
  const Bin empty = adaptive_bin(2, 3, 0, BinRounding::floor_floor, "pool").value();
  EXPECT_EQ(empty.begin, empty.end);
  EXPECT_THAT(adaptive_bin(2, 3, 3, BinRounding::floor_ceil, "pool").error().text(),
              AllOf(HasSubstr("bin 3"), HasSubstr("0 to 2")));
}

}  // namespace
}  // namespace packcheck::test
