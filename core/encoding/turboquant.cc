#include "core/encoding/turboquant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/encoding/bound_terms.h"
#include "core/encoding/code_rounding.h"
#include "core/encoding/scale.h"

namespace packcheck {
namespace {

constexpr std::size_t kLargestBlock = 128;

/// Kotlin's Random(seed): xorwow, its first 64 numbers thrown away.
class KotlinRandom {
 public:
  explicit KotlinRandom(std::uint32_t seed) : x_(seed), y_(seed >> 31 != 0 ? ~0U : 0U), v_(~seed) {
    addend_ = seed << 10 ^ y_ >> 4;
    for (int i = 0; i < 64; ++i) (void)next();
  }
  bool next_boolean() { return next() >> 31 != 0; }

 private:
  std::uint32_t next() {
    const std::uint32_t t = x_ ^ x_ >> 2;
    x_ = y_;
    y_ = z_;
    z_ = w_;
    w_ = v_;
    v_ = t ^ t << 1 ^ v_ ^ v_ << 4;
    addend_ += 362437;
    return v_ + addend_;
  }

  std::uint32_t x_;
  std::uint32_t y_;
  std::uint32_t z_ = 0;
  std::uint32_t w_ = 0;
  std::uint32_t v_;
  std::uint32_t addend_ = 0;
};

void flip_signs(std::span<float> vector) {
  static const std::array<bool, kLargestBlock> kFlipped = [] {
    KotlinRandom random(0);
    std::array<bool, kLargestBlock> flipped{};
    for (bool& flip : flipped) flip = random.next_boolean();
    return flipped;
  }();
  for (std::size_t i = 0; i < vector.size(); ++i)
    if (kFlipped[i]) vector[i] = -vector[i];
}

[[gnu::noinline]] void transform(std::span<float> vector) {
  for (std::size_t h = 1; h < vector.size(); h *= 2) {
    for (std::size_t i = 0; i < vector.size(); ++i) {
      if ((i & h) != 0) continue;
      const float a = vector[i];
      const float b = vector[i + h];
      vector[i] = a + b;
      vector[i + h] = a - b;
    }
  }
  const float factor = 1.0F / std::sqrt(static_cast<float>(vector.size()));
  for (float& value : vector) value *= factor;
}

std::vector<float> rotated(std::span<const float> values) {
  std::vector<float> vector(values.begin(), values.end());
  flip_signs(vector);
  transform(vector);
  return vector;
}

int largest_code(unsigned bits) { return (1 << (bits - 1)) - 1; }

/// What is added to a code before it is stored.
int offset_of(unsigned bits) { return bits == 8 ? 0 : 1 << (bits - 1); }

/// max|z|/M, 0 where a NaN is among them.
[[gnu::noinline]] float group_scale(std::span<const float> group, unsigned bits) {
  float largest = 0.0F;
  for (const float z : group) {
    if (std::isnan(z)) return 0.0F;
    largest = std::max(largest, std::fabs(z));
  }
  return largest / static_cast<float>(largest_code(bits));
}

void put_code(std::span<std::uint8_t> stream, std::size_t index, unsigned bits, unsigned code) {
  for (unsigned b = 0; b < bits; ++b) {
    const std::size_t at = index * bits + b;
    stream[at / 8] = static_cast<std::uint8_t>(stream[at / 8] | (code >> b & 1U) << at % 8);
  }
}

int code_at(const std::uint8_t* stream, std::size_t index, unsigned bits) {
  unsigned code = 0;
  for (unsigned b = 0; b < bits; ++b) {
    const std::size_t at = index * bits + b;
    code |= (stream[at / 8] >> at % 8 & 1U) << b;
  }
  return bits == 8 ? static_cast<std::int8_t>(code) : static_cast<int>(code) - offset_of(bits);
}

/// What is known of the decoded z before they are rotated back: sums over groups, from above.
struct Coded {
  double errors = 0.0;   ///< of |e|
  double total = 0.0;    ///< of |w|
  double squares = 0.0;  ///< of w

  void add(std::span<const float> group, unsigned bits) {
    const auto scale = static_cast<double>(group_scale(group, bits));
    const double largest_code_value = largest_code(bits);
    const double farthest = static_cast<double>(static_cast<float>(largest_code_value * scale));
    float largest = 0.0F;
    for (const float value : group) largest = std::max(largest, std::fabs(value));
    for (const float value : group) {
      const auto magnitude = static_cast<double>(std::fabs(value));
      const bool is_largest = std::fabs(value) == largest && scale > 0.0;
      const double error =
          is_largest ? std::fabs(magnitude - farthest) : single_step_error(magnitude, scale, largest_code_value);
      errors += error;
      total += magnitude + error;
      squares += (magnitude + error) * (magnitude + error);
    }
  }
};

}  // namespace

[[gnu::noinline]] void encode_polar(const BlockRules& rules, unsigned bits, std::span<const float> values,
                                    std::uint8_t* block) {
  const std::vector<float> z = rotated(values);
  const int largest = largest_code(bits);
  std::vector<std::uint8_t> stream(values.size() * bits / 8);
  for (std::size_t first = 0; first < z.size(); first += kTurboquantGroup) {
    const float scale = group_scale(std::span(z).subspan(first, kTurboquantGroup), bits);
    store_single(scale, block + stream.size() + first / kTurboquantGroup * 4);
    const float inverse = scale > 0.0F ? 1.0F / scale : 0.0F;
    for (std::size_t i = first; i < first + kTurboquantGroup; ++i) {
      // Where the scale is 0, z·0 is 0, or NaN, which becomes 0.
      const std::int32_t code = saturated_int(rounded_code(rules.code, z[i] * inverse));
      put_code(stream, i, bits, static_cast<unsigned>(std::clamp(code, -largest, largest) + offset_of(bits)));
    }
  }
  const std::size_t written = stream.size() - (rules.write == WriteRule::every_byte ? 0 : 1);
  std::copy_n(stream.begin(), written, block);
}

[[gnu::noinline]] void decode_polar(const BlockRules&, unsigned bits, const std::uint8_t* block,
                                    std::span<float> values) {
  const std::uint8_t* scales = block + values.size() * bits / 8;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(code_at(block, i, bits)) * load_single(scales + i / kTurboquantGroup * 4);
  transform(values);
  flip_signs(values);
}

[[gnu::noinline]] void bound_polar(unsigned bits, std::span<const float> values, double* bounds) {
  std::fill_n(bounds, values.size(), kNothingPromised);
  const std::vector<float> z = rotated(values);
  if (!all_finite(values) || !all_finite(z)) return;
  Coded coded;
  for (std::size_t first = 0; first < z.size(); first += kTurboquantGroup)
    coded.add(std::span(z).subspan(first, kTurboquantGroup), bits);
  if (!(coded.total < 0x1p127)) return;
  double squares = 0.0;
  for (const float x : values) squares += static_cast<double>(x) * static_cast<double>(x);
  const double size = static_cast<double>(values.size());
  const double relative = (std::log2(size) + 3.0) * 0x1p-24 * (1.0 + 0x1p-10);
  const double smallest = squares == 0.0 ? 0.0 : 2.0 * std::sqrt(size) * 0x1p-150;
  const double rotations = relative * (std::sqrt(squares) + std::sqrt(coded.squares)) + smallest;
  std::fill_n(bounds, values.size(), (rotations + coded.errors / std::sqrt(size)) * (1.0 + 0x1p-40));
}

}  // namespace packcheck
