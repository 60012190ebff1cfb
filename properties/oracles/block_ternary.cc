// The block oracle's encodings of bits and trits: tq1_0, tq2_0, q1_0, q2_0.
#include <array>
#include <vector>

#include "properties/oracles/block_families.h"

namespace packcheck::oracle {
namespace {

/// d = max|x| and a digit 0..2 per element, empty where lroundf's answer is undefined.
struct Trits {
  double d = 0.0;
  std::vector<std::optional<unsigned>> digits;
};

/// Nothing where the block holds a NaN: which element is then the maximum is up to C's MAX macro.
std::optional<Trits> trits_of(std::span<const float> x) {
  Trits trits;
  for (const float v : x) {
    if (std::isnan(v)) return std::nullopt;
    trits.d = std::fmax(trits.d, std::fabs(static_cast<double>(v)));
  }
  const double inverse = reciprocal_or_zero(trits.d);
  for (const float v : x) {
    const double scaled = times(static_cast<double>(v), inverse);
    std::optional<unsigned>& digit = trits.digits.emplace_back();
    if (std::fabs(scaled) < 1.5) digit = std::fabs(scaled) < 0.5 ? 1U : (scaled < 0.0 ? 0U : 2U);
  }
  return trits;
}

/// Kotlin's scale and codes (digit - 1), which may be any 32-bit integers where 1/d overflows.
struct KotlinTrits {
  double d = 0.0;
  std::vector<std::int64_t> codes;
};

KotlinTrits kotlin_trits_of(std::span<const float> x) {
  KotlinTrits trits;
  for (const float v : x) {
    const double magnitude = std::fabs(static_cast<double>(v));
    if (std::isnan(magnitude) || magnitude > trits.d) trits.d = magnitude;
    if (std::isnan(trits.d)) break;
  }
  const double inverse = reciprocal_or_zero(trits.d);
  for (const float v : x) trits.codes.push_back(kotlin_round(times(static_cast<double>(v), inverse)));
  return trits;
}

/// A scale as SKaiNET's FP16 codec writes it; of a NaN only that it is a quiet one is defined.
void put_kotlin_half(BlockWriter& block, std::size_t offset, double d) {
  if (std::isnan(d))
    block.set(offset + 1, 0x7E, 0x7E);
  else
    block.half(offset, nearest_half(d));
}

/// What 32-bit arithmetic leaves of a number.
std::int64_t wrapped(std::int64_t number) {
  constexpr std::int64_t kRange = std::int64_t{1} << 32;
  const std::int64_t rest = (number % kRange + kRange) % kRange;
  return rest >= kRange / 2 ? rest - kRange : rest;
}

/// Which elements share byte `b` of tq1_0, the most significant first.
std::vector<std::size_t> elements_of_tq1_byte(std::size_t b) {
  std::vector<std::size_t> elements;
  if (b < 32)
    for (std::size_t e = b; e < 160; e += 32) elements.push_back(e);
  else if (b < 48)
    for (std::size_t e = 128 + b; e < 240; e += 16) elements.push_back(e);
  else
    for (std::size_t e = 192 + b; e < 256; e += 4) elements.push_back(e);
  return elements;
}

void quantize_tq1_0(std::span<const float> x, BlockWriter block) {
  const std::optional<Trits> trits = trits_of(x);
  if (!trits) return;
  for (std::size_t b = 0; b < 52; ++b) {
    // 0.abcde in base 3, as a fraction of 256 rounded up.
    double fraction = 0.0;
    double weight = 81.0;
    bool defined = true;
    for (const std::size_t e : elements_of_tq1_byte(b)) {
      defined = defined && trits->digits[e];
      fraction += weight * trits->digits[e].value_or(0);
      weight /= 3.0;
    }
    if (defined) block.set(b, static_cast<unsigned>(std::ceil(fraction * 256.0 / 243.0)));
  }
  block.half(52, nearest_half(trits->d));
}

void quantize_tq1_0_skainet(std::span<const float> x, BlockWriter block) {
  const KotlinTrits trits = kotlin_trits_of(x);
  for (std::size_t b = 0; b < 52; ++b) {
    std::int64_t number = 0;
    for (const std::size_t e : elements_of_tq1_byte(b)) number = wrapped(number * 3 + wrapped(trits.codes[e] + 1));
    if (b >= 48) number = wrapped(number * 3);
    block.set(b, static_cast<unsigned>(wrapped(number * 256 + 242) / 243) % 256U);
  }
  put_kotlin_half(block, 52, trits.d);
}

void dequantize_tq1_0(Block block, double* values) {
  const double d = half_at(block, 52);
  for (std::size_t b = 0; b < 52; ++b) {
    int rest = block[b];  // a fraction of 256: each digit is what times 3 carries over
    for (const std::size_t e : elements_of_tq1_byte(b)) {
      values[e] = (rest * 3 / 256 - 1) * d;
      rest = rest * 3 % 256;
    }
  }
}

/// The two bits of element `e`: byte and weight.
struct TwoBits {
  std::size_t byte;
  unsigned weight;
};
constexpr std::array<unsigned, 4> kWeights{1, 4, 16, 64};
TwoBits place_in_tq2(std::size_t e) { return {e / 128 * 32 + e % 32, kWeights[e / 32 % 4]}; }
TwoBits place_in_q2(std::size_t e) { return {2 + e / 4, kWeights[e % 4]}; }

void quantize_tq2_0(std::span<const float> x, BlockWriter block) {
  const std::optional<Trits> trits = trits_of(x);
  if (!trits) return;
  for (std::size_t e = 0; e < 256; ++e) {
    const auto [byte, weight] = place_in_tq2(e);
    if (trits->digits[e]) block.set(byte, weight * *trits->digits[e], weight * 3);  // masked, so no spilling
  }
  block.half(64, nearest_half(trits->d));
}

void quantize_tq2_0_skainet(std::span<const float> x, BlockWriter block) {
  const KotlinTrits trits = kotlin_trits_of(x);
  for (std::size_t e = 0; e < 256; ++e) {
    const auto [byte, weight] = place_in_tq2(e);
    block.set(byte, weight * static_cast<unsigned>((trits.codes[e] + (std::int64_t{1} << 32) + 1) % 4), weight * 3);
  }
  put_kotlin_half(block, 64, trits.d);
}

void dequantize_tq2_0(Block block, double* values) {
  const double d = half_at(block, 64);
  for (std::size_t e = 0; e < 256; ++e) {
    const auto [byte, weight] = place_in_tq2(e);
    values[e] = (static_cast<int>(block[byte] / weight % 4) - 1) * d;
  }
}

void quantize_q2_0(std::span<const float> x, BlockWriter block) {
  const std::optional<Trits> trits = trits_of(x);
  if (!trits) return;
  block.half(0, nearest_half(trits->d));
  for (std::size_t first = 0; first < 64; first += 4) {
    unsigned byte = 0;
    bool defined = true;  // an undefined code may spill over the whole byte
    for (std::size_t e = first; e < first + 4; ++e) {
      defined = defined && trits->digits[e];
      byte += place_in_q2(e).weight * trits->digits[e].value_or(0);
    }
    if (defined) block.set(2 + first / 4, byte);
  }
}

void dequantize_q2_0(Block block, double* values) {
  const double d = half_at(block, 0);
  for (std::size_t e = 0; e < 64; ++e) {
    const auto [byte, weight] = place_in_q2(e);
    values[e] = (static_cast<int>(block[byte] / weight % 4) - 1) * d;
  }
}

void quantize_q1_0(std::span<const float> x, BlockWriter block) {
  double sum = 0.0;
  for (std::size_t e = 0; e < 128; ++e) {
    sum = plus(sum, std::fabs(static_cast<double>(x[e])));
    const unsigned bit = 1U << (e % 8);
    block.set(2 + e / 8, !std::isnan(x[e]) && x[e] >= 0.0F ? bit : 0U, bit);
  }
  const double d = divided(sum, 128.0);
  if (!std::isnan(d)) block.half(0, nearest_half(d));
}

void dequantize_q1_0(Block block, double* values) {
  const double d = half_at(block, 0);
  for (std::size_t e = 0; e < 128; ++e) values[e] = (block[2 + e / 8] >> (e % 8)) % 2 == 1 ? d : -d;
}

constexpr std::array<BlockFamily, 6> kFamilies{{{"tq1_0:ggml", 256, 54, quantize_tq1_0, dequantize_tq1_0},
                                                {"tq2_0:ggml", 256, 66, quantize_tq2_0, dequantize_tq2_0},
                                                {"tq1_0:skainet", 256, 54, quantize_tq1_0_skainet, dequantize_tq1_0},
                                                {"tq2_0:skainet", 256, 66, quantize_tq2_0_skainet, dequantize_tq2_0},
                                                {"q1_0:ggml", 128, 18, quantize_q1_0, dequantize_q1_0},
                                                {"q2_0:ggml", 64, 18, quantize_q2_0, dequantize_q2_0}}};

}  // namespace

std::int64_t kotlin_round(double x) {
  if (std::isnan(x)) return 0;
  constexpr double kMost = 2147483647.0;
  if (std::fabs(x) > kMost) return x < 0.0 ? -2147483648LL : 2147483647LL;
  double whole = std::floor(x);
  const double rest = x - whole;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0.0)) whole += 1.0;
  return static_cast<std::int64_t>(whole);
}

std::span<const BlockFamily> ternary_families() { return kFamilies; }

}  // namespace packcheck::oracle
