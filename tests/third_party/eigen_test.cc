// Known answers of Eigen's half and bfloat16 through the adapter.
#include <gtest/gtest.h>

#include <array>

#include "core/format/convert.h"
#include "tests/third_party/loaded.h"

namespace packcheck::third_party_test {
namespace {

TEST(Eigen, RoundsF32ToBf16ToNearestEven) {
  PACKCHECK_LOAD_OR_SKIP(eigen, "eigen");
  EXPECT_EQ(convert_one(*eigen.table, "f32", "bf16", 0x3F880001), 0x3F88U);
  EXPECT_EQ(convert_one(*eigen.table, "f32", "bf16", 0x3F888000), 0x3F88U);  // tie, down to even
  EXPECT_EQ(convert_one(*eigen.table, "f32", "bf16", 0x3F898000), 0x3F8AU);  // tie, up to even
}

TEST(Eigen, RoundsF32ToF16ToNearestEven) {
  PACKCHECK_LOAD_OR_SKIP(eigen, "eigen");
  EXPECT_EQ(convert_one(*eigen.table, "f32", "f16", 0x3F800000), 0x3C00U);
  EXPECT_EQ(convert_one(*eigen.table, "f32", "f16", 0x477FEFFF), 0x7BFFU);  // largest that stays finite
  EXPECT_EQ(convert_one(*eigen.table, "f32", "f16", 0x477FF000), 0x7C00U);
  EXPECT_EQ(convert_one(*eigen.table, "f32", "f16", 0x80000000), 0x8000U);
}

TEST(Eigen, GoesFromDoubleThroughFloatAndSoRoundsTwice) {
  PACKCHECK_LOAD_OR_SKIP(eigen, "eigen");
  // 1 + 2^-11 + 2^-30: just above the tie between 1 and 1 + 2^-10, and on it once it is a float.
  constexpr std::uint64_t kAboveTie = 0x3FF0020000400000;
  EXPECT_EQ(convert(Format::f64, Format::f16, kAboveTie), 0x3C01U);
  EXPECT_EQ(convert_one(*eigen.table, "f64", "f16", kAboveTie), 0x3C00U);
}

TEST(Eigen, WidensEveryHalfAndBfloat16Exactly) {
  PACKCHECK_LOAD_OR_SKIP(eigen, "eigen");
  for (const auto& [name, format] : {std::pair{"f16", Format::f16}, std::pair{"bf16", Format::bf16}}) {
    std::vector<std::uint64_t> codes;
    for (std::uint64_t code = 0; code <= 0xFFFF; ++code) codes.push_back(code);
    const std::vector<std::uint8_t> in = to_bytes(codes, 2);
    std::vector<std::uint8_t> out(2 * in.size(), 0xA5);
    packcheck_error error{};
    ASSERT_EQ(eigen.table->repack(name, "f32", in.data(), in.size(), out.data(), out.size(), &error), PACKCHECK_OK);
    const std::vector<std::uint64_t> widened = from_bytes(out, 4);
    for (const std::uint64_t code : codes) {
      if (is_nan(spec(format), code)) {
        EXPECT_TRUE(is_nan(spec(Format::f32), widened[code])) << name << " " << code;
      } else {
        ASSERT_EQ(widened[code], convert(format, Format::f32, code)) << name << " " << code;
      }
    }
  }
}

TEST(Eigen, RefusesArraysThatHoldAnotherCountAndSkipsOtherRoundings) {
  PACKCHECK_LOAD_OR_SKIP(eigen, "eigen");
  const std::array<std::uint8_t, 8> in{};
  std::array<std::uint8_t, 4> out{};
  packcheck_error error{};
  const auto convert_sizes = [&](const char* mode, std::size_t in_size, std::size_t out_size, std::size_t count) {
    return eigen.table->convert("f32", "f16", mode, in.data(), in_size, out.data(), out_size, count, &error);
  };
  EXPECT_EQ(convert_sizes("nearest-even", 8, 4, 2), PACKCHECK_OK);
  EXPECT_EQ(convert_sizes("nearest-even", 8, 4, 1), PACKCHECK_REFUSED);
  EXPECT_EQ(convert_sizes("nearest-even", 7, 4, 1), PACKCHECK_REFUSED);
  EXPECT_EQ(convert_sizes("nearest-even", 8, 2, 2), PACKCHECK_REFUSED);
  EXPECT_STRNE(error.message, "");
  EXPECT_EQ(convert_sizes("toward-zero", 8, 4, 2), PACKCHECK_UNSUPPORTED);
  EXPECT_EQ(eigen.table->repack("f16", "f32", in.data(), 3, out.data(), 4, &error), PACKCHECK_REFUSED);
  EXPECT_EQ(eigen.table->repack("f32", "f16", in.data(), 8, out.data(), 4, &error), PACKCHECK_UNSUPPORTED);
}

}  // namespace
}  // namespace packcheck::third_party_test
