// The block oracle's rotated vectors: turboquant_polar. The transform is written as it is defined, halves first, which
// adds the same numbers in the same order as butterflies of growing distance do.
#include <array>
#include <vector>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

constexpr std::size_t kGroup = 32;
constexpr std::uint64_t kWord = std::uint64_t{1} << 32;

/// The first `count` answers of Kotlin's Random(0).nextBoolean(), in integers modulo 2^32.
std::vector<bool> kotlin_booleans(std::size_t count) {
  std::array<std::uint64_t, 5> state{0, 0, 0, 0, kWord - 1};
  std::uint64_t addend = 0;
  std::vector<bool> booleans;
  for (std::size_t draw = 0; draw < 64 + count; ++draw) {
    const std::uint64_t mixed = state[0] ^ (state[0] / 4);
    const std::uint64_t last = state[4];
    const std::uint64_t next = (mixed ^ (mixed * 2) ^ last ^ (last * 16)) % kWord;
    state = {state[1], state[2], state[3], last, next};
    addend = (addend + 362437) % kWord;
    if (draw >= 64) booleans.push_back((next + addend) % kWord >= kWord / 2);
  }
  return booleans;
}

void flip_signs(std::span<double> x) {
  static const std::vector<bool> kFlips = kotlin_booleans(128);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (kFlips[i]) x[i] = -x[i];
}

void sums_and_differences(std::span<double> x) {
  if (x.size() == 1) return;
  const std::size_t half = x.size() / 2;
  sums_and_differences(x.first(half));
  sums_and_differences(x.last(half));
  for (std::size_t i = 0; i < half; ++i) {
    const double sum = plus(x[i], x[half + i]);
    x[half + i] = plus(x[i], -x[half + i]);
    x[i] = sum;
  }
}

void transform(std::span<double> x) {
  sums_and_differences(x);
  const double factor = divided(1.0, as_f32(std::sqrt(static_cast<double>(x.size()))));
  for (double& v : x) v = times(v, factor);
}

/// Writes codes of 2, 3, 4 or 8 bits, eight of which fill as many bytes: a number in base 2^bits.
void put_codes(BlockWriter& block, std::size_t offset, unsigned bits, std::span<const unsigned> codes) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) number = (number << bits) + codes[i];
  for (std::size_t i = 0; i < bits; ++i, number /= 256) block.set(offset + i, static_cast<unsigned>(number % 256));
}

template <unsigned kBits>
void quantize_polar(std::span<const float> x, BlockWriter block) {
  constexpr int kLargest = (1 << (kBits - 1)) - 1;
  constexpr int kOffset = kBits == 8 ? 256 : 1 << (kBits - 1);
  std::vector<double> z(x.begin(), x.end());
  flip_signs(z);
  transform(z);
  std::vector<unsigned> codes;
  for (std::size_t first = 0; first < z.size(); first += kGroup) {
    double largest = 0.0;
    bool ordered = true;
    for (std::size_t i = first; i < first + kGroup; ++i) {
      ordered = ordered && !std::isnan(z[i]);
      largest = std::fmax(largest, std::fabs(z[i]));
    }
    if (!ordered) largest = 0.0;
    const double scale = divided(largest, kLargest);
    for (std::size_t i = first; i < first + kGroup; ++i) {
      std::int64_t code = scale > 0.0 ? kotlin_round(times(z[i], reciprocal_or_zero(scale))) : 0;
      if (code > kLargest) code = kLargest;
      if (code < -kLargest) code = -kLargest;
      codes.push_back(static_cast<unsigned>(code + kOffset) % (1U << kBits));
    }
    block.single(z.size() * kBits / 8 + first / 8, scale);
  }
  for (std::size_t i = 0; i < codes.size(); i += 8)
    put_codes(block, i / 8 * kBits, kBits, std::span<const unsigned>(codes).subspan(i, 8));
}

template <unsigned kBits, std::size_t kElements>
void dequantize_polar(Block block, double* values) {
  for (std::size_t i = 0; i < kElements; i += 8) {
    std::uint64_t number = 0;
    for (std::size_t byte = kBits; byte-- > 0;) number = number * 256 + block[i / 8 * kBits + byte];
    for (std::size_t k = 0; k < 8; ++k, number >>= kBits) {
      const auto stored = static_cast<unsigned>(number % (1U << kBits));
      const int code = kBits == 8 ? signed_byte(stored) : static_cast<int>(stored) - (1 << (kBits - 1));
      values[i + k] = times(code, single_at(block, kElements * kBits / 8 + (i + k) / kGroup * 4));
    }
  }
  transform({values, kElements});
  flip_signs({values, kElements});
}

template <unsigned kBits, std::size_t kElements>
constexpr BlockFamily polar(std::string_view id) {
  return {id, kElements, kElements * kBits / 8 + kElements / 8, quantize_polar<kBits>,
          dequantize_polar<kBits, kElements>};
}

constexpr std::array<BlockFamily, 5> kFamilies{
    {polar<2, 32>("turboquant_polar(2,32):skainet"), polar<3, 32>("turboquant_polar(3,32):skainet"),
     polar<4, 32>("turboquant_polar(4,32):skainet"), polar<4, 128>("turboquant_polar(4,128):skainet"),
     polar<8, 32>("turboquant_polar(8,32):skainet")}};

}  // namespace

std::span<const BlockFamily> rotated_families() { return kFamilies; }

}  // namespace packcheck::oracle
