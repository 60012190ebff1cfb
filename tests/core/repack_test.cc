// Repacking keeps every value, NaN payloads included, and refuses everything that could lose one.
#include "core/storage/repack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "properties/oracles/format_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using testing::HasSubstr;

/// Every 16-bit code, little-endian.
Bytes all_codes() {
  Bytes bytes;
  for (std::uint32_t code = 0; code < 1U << 16; ++code) {
    bytes.push_back(static_cast<std::uint8_t>(code));
    bytes.push_back(static_cast<std::uint8_t>(code >> 8));
  }
  return bytes;
}

std::uint32_t single_at(const Bytes& bytes, std::size_t i) {
  return static_cast<std::uint32_t>(load_element(spec(Format::f32), bytes, i));
}

TEST(Repack, EverySixteenBitCodeKeepsItsNumberAndItsNanPayload) {
  const Bytes in = all_codes();
  for (const Format from : {Format::f16, Format::bf16}) {
    Bytes out(in.size() * 2, 0xA5);
    ASSERT_TRUE(repack_dense(from, Format::f32, in, out));
    for (std::uint32_t code = 0; code < 1U << 16; ++code) {
      const std::uint64_t expected =
          oracle::is_nan(from, code) ? oracle::same_payload_nan(from, Format::f32, code)
                                     : oracle::convert(from, Format::f32, code, {.rounding = Rounding::toward_zero});
      ASSERT_EQ(single_at(out, code), expected) << hex(code);
      if (from == Format::bf16) {
        ASSERT_EQ(expected, code << 16);
      }
    }
  }
}

TEST(Repack, NarrowingTheResultGivesTheBytesThatWereThere) {
  const Bytes in = all_codes();
  for (const Format from : {Format::f16, Format::bf16}) {
    Bytes wide(in.size() * 2);
    Bytes back(in.size());
    ASSERT_TRUE(repack_dense(from, Format::f32, in, wide));
    ASSERT_TRUE(convert_array(Format::f32, from, wide, back, {.nan = NanRule::same_payload}));
    EXPECT_EQ(back, in) << spec(from).name;
  }
}

TEST(Repack, EveryOtherPairIsRefusedBeforeTheBufferIsReadAndNamesRequantize) {
  std::size_t refused = 0;
  for (const Format from : kFormats) {
    for (const Format to : kFormats) {
      if (to == Format::f32 && (from == Format::f16 || from == Format::bf16)) continue;
      ++refused;
      EXPECT_THAT(check_repack(from, to).error().text(), HasSubstr("requantize_to"));
      Bytes out(8, 0xA5);
      // The sizes are wrong as well; the pair comes first.
      EXPECT_THAT(repack_dense(from, to, Bytes(3), out).error().text(), HasSubstr("requantize_to"));
      EXPECT_THAT(out, testing::Each(0xA5));
    }
  }
  EXPECT_EQ(refused, 14U);
}

TEST(Repack, TornElementsAndUnequalCountsAreRefused) {
  Bytes out(8, 0xA5);
  for (const std::size_t in_size : {3U, 2U, 6U})
    EXPECT_THAT(repack_dense(Format::f16, Format::f32, Bytes(in_size), out).error().text(),
                HasSubstr("whole elements"));
  EXPECT_THAT(out, testing::Each(0xA5));
  Bytes none;
  EXPECT_TRUE(repack_dense(Format::f16, Format::f32, {}, none));
}

TEST(Repack, ThePathThroughBfloatLosesThreeBitsOfAHalf) {
  const Bytes in{0x01, 0x3C};  // 1 + 2^-10
  Bytes out(4);
  ASSERT_TRUE(repack_dense(Format::f16, Format::f32, in, out, RepackPath::through_bf16));
  EXPECT_EQ(single_at(out, 0), 0x3F800000U);
  ASSERT_TRUE(repack_dense(Format::f16, Format::f32, in, out));
  EXPECT_EQ(single_at(out, 0), 0x3F802000U);
}

}  // namespace
}  // namespace packcheck::test
