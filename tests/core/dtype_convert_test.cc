// A tensor's numbers in another dtype.
#include "core/format/dtype_convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace packcheck::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DenseArray array_of(Format dtype, const std::vector<std::uint64_t>& codes) {
  std::vector<std::uint8_t> bytes(codes.size() * spec(dtype).bytes());
  for (std::size_t i = 0; i < codes.size(); ++i) store_element(spec(dtype), bytes, i, codes[i]);
  return {dtype, std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes))};
}

DenseArray singles(const std::vector<float>& numbers) {
  std::vector<std::uint64_t> codes;
  for (const float number : numbers) codes.push_back(std::bit_cast<std::uint32_t>(number));
  return array_of(Format::f32, codes);
}

std::vector<std::uint64_t> codes_of(const Result<DenseArray>& array) {
  EXPECT_TRUE(array) << array.error().text();
  std::vector<std::uint64_t> codes;
  for (std::size_t i = 0; i < array->bytes->size() / spec(array->dtype).bytes(); ++i)
    codes.push_back(load_element(spec(array->dtype), *array->bytes, i));
  return codes;
}

TEST(DtypeConvert, TheSameDtypeGivesTheSameBuffer) {
  for (const Format dtype : {Format::f32, Format::f16, Format::bf16, Format::i32, Format::i8}) {
    const DenseArray array = array_of(dtype, {1, 2, 3});
    const Result<DenseArray> same = dtype_convert(array, dtype);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->dtype, dtype);
    EXPECT_EQ(same->bytes.get(), array.bytes.get()) << spec(dtype).name;
  }
}

TEST(DtypeConvert, NarrowsThroughTheCodecsOfSkainet) {
  const DenseArray array = singles({70000.0F, 0x1p-30F, 1.00390625F, -1.9F, std::bit_cast<float>(0x7F800001U)});
  EXPECT_THAT(codes_of(dtype_convert(array, Format::f16)), ElementsAre(0x7C00, 0, 0x3C04, 0xBF9A, 0x7E00));
  EXPECT_THAT(codes_of(dtype_convert(array, Format::bf16)), ElementsAre(0x4788, 0x3080, 0x3F80, 0xBFF3, 0x7F80));
  EXPECT_THAT(codes_of(dtype_convert(array, Format::i32)), ElementsAre(70000, 0, 1, 0xFFFFFFFF, 0));
  EXPECT_EQ(array.dtype, Format::f32) << "the source stays as it is";
}

TEST(DtypeConvert, BytesSaturateOrWrapAsTheRulesSay) {
  const DenseArray array = singles({300.0F, -129.0F, 1e10F, 1.9F, -2.1F, NAN});
  EXPECT_THAT(codes_of(dtype_convert(array, Format::i8)), ElementsAre(127, 0x80, 127, 1, 0xFE, 0));
  EXPECT_THAT(codes_of(dtype_convert(array, Format::i8, {IntegerRule::wrap})), ElementsAre(44, 127, 0xFF, 1, 0xFE, 0));
  EXPECT_THAT(dtype_convert(array, Format::i8, {IntegerRule::refuse}).error().text(), HasSubstr("element 0"));
}

TEST(DtypeConvert, WidensAndRoundsIntegersToTheNearest) {
  EXPECT_THAT(codes_of(dtype_convert(array_of(Format::i32, {0x01000001, 0xFFFFFFFE}), Format::f32)),
              ElementsAre(0x4B800000, 0xC0000000));
  EXPECT_THAT(codes_of(dtype_convert(array_of(Format::i8, {0x80, 5}), Format::f32)),
              ElementsAre(0xC3000000, 0x40A00000));
  EXPECT_THAT(codes_of(dtype_convert(array_of(Format::f16, {0x7C01, 0x0001}), Format::f32)),
              ElementsAre(0x7FC02000, 0x33800000));
  EXPECT_THAT(codes_of(dtype_convert(array_of(Format::bf16, {0x7F81}), Format::f32)), ElementsAre(0x7F810000));
}

TEST(DtypeConvert, NarrowingTwiceChangesNothing) {
  const DenseArray array = singles({1.0009765F, 3.14159265F, -70000.0F, 1e-6F});
  for (const Format dtype : {Format::f16, Format::bf16}) {
    const DenseArray once = dtype_convert(array, dtype).value();
    const DenseArray again = dtype_convert(dtype_convert(once, Format::f32).value(), dtype).value();
    EXPECT_EQ(*once.bytes, *again.bytes) << spec(dtype).name;
  }
}

TEST(DtypeConvert, OtherPairsMissingBuffersAndTornElementsAreRefused) {
  EXPECT_THAT(dtype_convert(array_of(Format::f16, {1}), Format::bf16).error().text(),
              HasSubstr("no conversion f16->bf16"));
  EXPECT_THAT(dtype_convert(array_of(Format::f64, {1}), Format::f32).error().text(), HasSubstr("f64->f32"));
  EXPECT_THAT(dtype_convert({Format::f32, nullptr}, Format::f16).error().text(), HasSubstr("no buffer"));
  const DenseArray torn{Format::f32, std::make_shared<const std::vector<std::uint8_t>>(7)};
  EXPECT_THAT(dtype_convert(torn, Format::f16).error().text(), HasSubstr("multiple of 4"));
}

}  // namespace
}  // namespace packcheck::test
