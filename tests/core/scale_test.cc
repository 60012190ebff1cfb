// How SKaiNET's Q4_0 quantizer stores a scale: how often, and where, it differs from nearest-even.
#include "core/encoding/scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "properties/oracles/half_value.h"
#include "properties/oracles/narrowing_oracle.h"
#include "tests/core/samples.h"

namespace packcheck::test {
namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

std::uint16_t skainet_private_half(float x) {
  return static_cast<std::uint16_t>(convert(Format::f32, Format::f16, bits_of(x), kSkainetPrivateHalf));
}

struct Differences {
  std::uint64_t all = 0;
  std::uint64_t in_normal_range = 0;  // of half: from 2^-14 on
};

/// Counts over the singles first, first + step, … below `end`.
Differences count_differences(std::uint32_t first, std::uint32_t end, std::uint32_t step) {
  Differences differences;
  std::vector<std::uint32_t> singles(1U << 14);
  std::vector<std::uint16_t> nearest(singles.size());
  std::vector<std::uint8_t> halves(2 * singles.size());
  for (std::uint64_t at = first; at < end;) {
    std::size_t count = 0;
    for (; count < singles.size() && at < end; at += step) singles[count++] = static_cast<std::uint32_t>(at);
    oracle::narrow_f32_to_f16(singles.data(), nearest.data(), count);
    const std::span in(reinterpret_cast<const std::uint8_t*>(singles.data()), 4 * count);
    EXPECT_TRUE(convert_array(Format::f32, Format::f16, in, std::span(halves).first(2 * count), kSkainetPrivateHalf));
    for (std::size_t i = 0; i < count; ++i) {
      if (load_element(spec(Format::f16), halves, i) == nearest[i]) continue;
      ++differences.all;
      if (singles[i] >= bits_of(0x1p-14F)) ++differences.in_normal_range;
    }
  }
  return differences;
}

// Every single from 2^-26 to 2^16. Below, nearest-even gives 0 (at most half the smallest half, and
// the tie is even) and so does cutting off; above, both give infinity. The next test looks there too.
TEST(SkainetScale, DiffersFromNearestEvenOn50346496PositiveSingles) {
  const Differences differences = count_differences(bits_of(0x1p-26F), bits_of(0x1p16F), 1);
  EXPECT_EQ(differences.all, 50346496U);
  EXPECT_EQ(differences.in_normal_range, 15360U);
}

TEST(SkainetScale, EqualsNearestEvenOutsideTheRangeOfHalf) {
  EXPECT_EQ(count_differences(0, bits_of(0x1p-26F), 127).all, 0U);
  EXPECT_EQ(count_differences(bits_of(0x1p16F), 0x7F800001, 127).all, 0U);
}

TEST(SkainetScale, AgreesWithTheCodecByValue) {
  std::vector<std::uint64_t> codes = edge_codes(Format::f32);
  const std::vector<std::uint64_t> random = random_codes(Format::f32, 1000000, 21);
  codes.insert(codes.end(), random.begin(), random.end());
  for (const std::uint64_t code : codes) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(code));
    if (std::isnan(value)) continue;
    ASSERT_EQ(skainet_private_half(value), oracle::skainet_half(static_cast<double>(value))) << hex(code);
  }
}

TEST(SkainetScale, ANanBecomesAnInfinity) {
  EXPECT_EQ(skainet_private_half(std::bit_cast<float>(0x7FC00000U)), 0x7C00U);
  EXPECT_EQ(skainet_private_half(std::bit_cast<float>(0xFF800001U)), 0xFC00U);
}

TEST(SkainetScale, StoredBytesAreLittleEndian) {
  std::uint8_t bytes[2] = {};
  store_scale(ScaleRule::nearest_even, -1.0F, bytes);
  EXPECT_EQ(bytes[0], 0x00);
  EXPECT_EQ(bytes[1], 0xBC);
  EXPECT_EQ(load_scale(bytes), -1.0F);
}

}  // namespace
}  // namespace packcheck::test
