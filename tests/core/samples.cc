#include "tests/core/samples.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

namespace packcheck::test {

std::uint64_t Random::bits() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::string hex(std::uint64_t bits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%08llX", static_cast<unsigned long long>(bits));
  return text.data();
}

namespace {

std::vector<std::uint64_t> edge_fractions(int width) {
  const std::uint64_t all = (std::uint64_t{1} << width) - 1;
  std::set<std::uint64_t> fractions{0, all};
  for (int i = 0; i < width; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    for (const std::uint64_t f : {bit, all ^ bit, bit - 1, all ^ (bit - 1), bit + 1, bit | (bit >> 1)})
      fractions.insert(f & all);
  }
  // Ties and their neighbours where another format ends, with an even and an odd last bit before.
  for (const int kept : {7, 10, 23}) {
    if (kept >= width) continue;
    const std::uint64_t half = std::uint64_t{1} << (width - kept - 1);
    for (const std::uint64_t last : {std::uint64_t{0}, 2 * half, all ^ (2 * half - 1)})
      for (const std::uint64_t f : {last + half, last + half - 1, last + half + 1}) fractions.insert(f & all);
  }
  return {fractions.begin(), fractions.end()};
}

std::vector<std::uint64_t> edge_exponents(const FormatSpec& s) {
  std::set<std::uint64_t> fields;
  const auto add = [&](int exponent) {
    const int field = exponent + s.bias();
    if (field >= 0 && field <= s.exponent_mask()) fields.insert(static_cast<std::uint64_t>(field));
  };
  // Overflow, smallest normal and smallest subnormal of half, bfloat, single and double; and one.
  for (const int at : {16, -14, -24, 128, -126, -133, -149, 1024, -1022, 0})
    for (int near = -3; near <= 3; ++near) add(at + near);
  const int step = s.exponent_bits > 8 ? 61 : (s.exponent_bits > 5 ? 7 : 1);
  for (int field = 0; field <= s.exponent_mask(); field += step) fields.insert(static_cast<std::uint64_t>(field));
  return {fields.begin(), fields.end()};
}

}  // namespace

std::vector<std::uint64_t> edge_codes(Format format) {
  const FormatSpec& s = spec(format);
  std::vector<std::uint64_t> codes;
  const std::vector<std::uint64_t> fractions = edge_fractions(s.significand_bits);
  for (const std::uint64_t field : edge_exponents(s)) {
    for (const std::uint64_t fraction : fractions) {
      codes.push_back(field << s.significand_bits | fraction);
      codes.push_back(codes.back() | s.sign_bit());
    }
  }
  return codes;
}

std::vector<std::uint64_t> random_codes(Format format, std::size_t count, std::uint64_t seed) {
  const FormatSpec& s = spec(format);
  Random random(seed);
  std::vector<std::uint64_t> codes;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t code = random.bits() & s.all_bits();
    if (i % 2 == 1) {
      const std::uint64_t field = static_cast<std::uint64_t>(s.bias() - 28) + random.below(48);
      if (field < static_cast<std::uint64_t>(s.exponent_mask()))
        code = (code & ~s.infinity()) | field << s.significand_bits;
    }
    codes.push_back(code);
  }
  return codes;
}

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Uniform in -largest..largest.
float uniform(Random& random, float largest) {
  const auto steps = static_cast<double>(static_cast<std::int64_t>(random.below(1U << 25)) - (1 << 24));
  return static_cast<float>(steps * 0x1p-24 * static_cast<double>(largest));
}

std::vector<float> weights(Random& random, std::size_t size, float largest) {
  std::vector<float> block(size);
  for (float& x : block) x = uniform(random, largest);
  return block;
}

void put(Random& random, std::vector<float>& block, float value) { block[random.below(block.size())] = value; }

/// Elements at and beside half integers of d = extreme / divisor.
std::vector<float> ties(Random& random, std::size_t size, float d, int divisor) {
  std::vector<float> block(size);
  for (float& x : block) {
    const int twice = static_cast<int>(random.below(static_cast<std::uint64_t>(4 * divisor + 1))) - 2 * divisor;
    x = static_cast<float>(0.5 * twice * static_cast<double>(d));
    if (random.below(3) == 0) x = std::nextafter(x, random.coin() ? kInfinity : -kInfinity);
  }
  put(random, block, (random.coin() ? 1.0F : -1.0F) * static_cast<float>(divisor) * d);
  return block;
}

float power(Random& random, int lowest, int highest) {
  const int exponent = lowest + static_cast<int>(random.below(static_cast<std::uint64_t>(highest - lowest + 1)));
  return std::ldexp(1.0F + static_cast<float>(random.below(1U << 20)) * 0x1p-20F, exponent);
}

std::vector<float> any_bits(Random& random, std::size_t size) {
  std::vector<float> block(size);
  for (float& x : block) x = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
  return block;
}

}  // namespace

std::vector<std::vector<float>> sample_blocks(std::size_t rounds, std::uint64_t seed, std::size_t size) {
  Random random(seed);
  std::vector<std::vector<float>> blocks{std::vector<float>(size, 0.0F), std::vector<float>(size, -0.0F),
                                         std::vector<float>(size, 1.0F), std::vector<float>(size, -1.0F),
                                         std::vector<float>(size, kNan), std::vector<float>(size, kInfinity)};
  for (std::size_t round = 0; round < rounds; ++round) {
    blocks.push_back(weights(random, size, power(random, -30, 30)));
    blocks.push_back(weights(random, size, 0x1p-140F));                  // f32 subnormals
    blocks.push_back(weights(random, size, power(random, -128, -119)));  // 1/d at its overflow
    blocks.push_back(weights(random, size, power(random, -25, -6)));     // half scale at its underflow
    blocks.push_back(weights(random, size, power(random, 17, 24)));      // half scale at its overflow
    blocks.push_back(weights(random, size, power(random, 120, 127)));
    blocks.push_back(any_bits(random, size));
    blocks.push_back(ties(random, size, power(random, -40, 20), 8));
    blocks.push_back(ties(random, size, power(random, -40, 20), 127));
    blocks.push_back(ties(random, size, 0x1p-128F, 8));  // 1/d is exactly 2^128
    for (const float special : {kNan, kInfinity, -kInfinity}) {
      blocks.push_back(weights(random, size, 1.0F));
      put(random, blocks.back(), special);
      blocks.push_back(blocks.back());
      put(random, blocks.back(), special);
      put(random, blocks.back(), 0.0F);
      put(random, blocks.back(), kNan);
    }
    blocks.push_back(std::vector<float>(size));
    for (float& x : blocks.back()) x = random.coin() ? 0.0F : -0.0F;
    put(random, blocks.back(), uniform(random, 0x1p-145F));
    blocks.push_back(weights(random, size, 1.0F));
    put(random, blocks.back(), 2.0F);
    put(random, blocks.back(), -2.0F);
  }
  return blocks;
}

}  // namespace packcheck::test
