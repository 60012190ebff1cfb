// The processor's own half conversions as a subject.
#include "subjects/hardware/f16c.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "properties/oracles/narrowing_oracle.h"
#include "subjects/calls.h"

namespace packcheck {
namespace {

Bytes bytes_of(std::span<const std::uint32_t> singles) {
  Bytes bytes(singles.size_bytes());
  std::memcpy(bytes.data(), singles.data(), bytes.size());
  return bytes;
}

class F16cSubject : public testing::Test {
 protected:
  void SetUp() override {
    if (subject_ == nullptr) GTEST_SKIP() << "this processor has no F16C instructions";
  }
  std::unique_ptr<Subject> subject_ = make_f16c();
};

TEST_F(F16cSubject, ConvertsToHalvesInAnyNumberAndBack) {
  const std::vector<std::uint32_t> singles(19, 0xC0490FDB);  // -pi
  for (std::size_t count = 0; count <= singles.size(); ++count) {
    const Bytes in = bytes_of(std::span(singles).first(count));
    const Answer<Bytes> halves = call_convert(*subject_, Format::f32, Format::f16, "nearest-even", in);
    ASSERT_TRUE(halves.ok()) << halves.message;
    ASSERT_EQ(halves.value.size(), 2 * count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(load_element(spec(Format::f16), halves.value, i), 0xC248U);
    const Answer<Bytes> back = call_convert(*subject_, Format::f16, Format::f32, "nearest-even", halves.value);
    ASSERT_TRUE(back.ok()) << back.message;
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(load_element(spec(Format::f32), back.value, i), 0xC0490000U);
  }
}

TEST_F(F16cSubject, QuietsANanAndOffersNothingElse) {
  const Bytes signaling = bytes_of(std::array<std::uint32_t, 1>{0x7F800001});
  const Answer<Bytes> half = call_convert(*subject_, Format::f32, Format::f16, "nearest-even", signaling);
  ASSERT_TRUE(half.ok());
  EXPECT_EQ(load_element(spec(Format::f16), half.value, 0), 0x7E00U);
  EXPECT_EQ(call_convert(*subject_, Format::f32, Format::bf16, "nearest-even", signaling).outcome, Outcome::skipped);
  EXPECT_EQ(call_convert(*subject_, Format::f32, Format::f16, "upward", signaling).outcome, Outcome::skipped);
  EXPECT_EQ(call_parse(*subject_, "1").outcome, Outcome::skipped);
  EXPECT_EQ(subject_->call({Operation::convert, {"f32", "f16", "nearest-even", "odd"}}).outcome, Outcome::refused);
}

TEST(F16c, IsThereExactlyWhereTheProcessorHasIt) { EXPECT_EQ(make_f16c() != nullptr, oracle::has_f16c()); }

}  // namespace
}  // namespace packcheck
